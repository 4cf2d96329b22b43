"""Stores the integrations of an archive, switched off unless they were asked for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tidings.archives.import_runs import AccountImportReport
from tidings.archives.integration_settings import ADDRESS, ENABLED, IntegrationArchiver, IntegrationKind
from tidings.archives.parts import ArchivePart, LeftOff, PlannedChange, shown
from tidings.base.errors import InvalidInput


def store_integrations(
    integrations: IntegrationArchiver,
    user_id: int,
    archived: dict[str, dict[str, Any]],
    parts: Collection[ArchivePart],
    report: AccountImportReport,
) -> None:
    """Set up the integrations one by one: one that cannot be set up does not prevent the others.

    Unless they were asked for, new ones are switched off, and existing integrations of the user stay unchanged:
    another address would receive what the user saves.
    """
    stored = integrations.for_archive(user_id, with_secrets=True)
    for name, members in archived.items():
        if ArchivePart.INTEGRATIONS in parts:
            _set_up(integrations, user_id, name, members, report)
            continue
        if name not in stored:
            _set_up(integrations, user_id, name, members | {ENABLED: False}, report)
        if _is_changed(members, stored.get(name)):
            report.left_off.append(LeftOff(ArchivePart.INTEGRATIONS, name))


def _set_up(
    integrations: IntegrationArchiver, user_id: int, name: str, members: dict[str, Any], report: AccountImportReport
) -> None:
    """Store an integration without unusable members. It is switched off if it cannot work without them."""
    while True:
        try:
            integrations.update(user_id, {name: members})
        except InvalidInput as error:
            # Switched off, it may be refused for the same reason again.
            if (problem := f"{name}: {error.message}") not in report.problems:
                report.problems.append(problem)
            member = error.field.partition(".")[2]
            if member in members and member != ENABLED:
                members = {key: value for key, value in members.items() if key != member}
            elif members.get(ENABLED):
                members = members | {ENABLED: False}
            else:
                return
        else:
            return


def planned_integrations(
    integrations: IntegrationArchiver, user_id: int, archived: dict[str, dict[str, Any]]
) -> list[PlannedChange]:
    stored, kinds = integrations.for_archive(user_id, with_secrets=True), integrations.kinds
    return [
        PlannedChange(
            ArchivePart.INTEGRATIONS,
            name,
            _address(kinds[name], stored.get(name)),
            shown(_address(kinds[name], members)),
        )
        for name, members in archived.items()
        if _is_changed(members, stored.get(name))
    ]


def _is_changed(members: dict[str, Any], stored: dict[str, Any] | None) -> bool:
    """Return whether applying an integration of an archive would change more than storing it switched off."""
    if stored is None:
        return members.get(ENABLED) is True
    return any(value is not None and stored.get(name) != value for name, value in members.items() if name in stored)


def _address(kind: IntegrationKind, members: dict[str, Any] | None) -> str:
    """Return where an integration sends, "" for a service with one address and for an address that is a secret."""
    fields = (field.name for field in kind.fields if field.kind == ADDRESS and not field.is_secret)
    value = (members or {}).get(next(fields, ""), "")
    return value if isinstance(value, str) else ""
