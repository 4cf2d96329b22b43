"""Validates the values that are set on an account, before anything is stored."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.text import reject_nul
from tidings.content.rules.pipeline import validate_user_rules
from tidings.domain.accounts.shortcuts import validate_shortcuts
from tidings.domain.accounts.users import USER_SETTINGS, validate_password, validate_username
from tidings.domain.setting_declarations import Risk

CHOICES = {one.name: one.setting.choices for one in USER_SETTINGS if one.setting.choices}
# For each field, the column that records that the user has chosen a value.
CHOSEN = {"theme": "has_chosen_theme", "entry_sorting_direction": "has_chosen_direction"}
RANGES = {one.name: one.setting.range for one in USER_SETTINGS if one.setting.range}
RULES = ("block_filter_entry_rules", "keep_filter_entry_rules")
# The user's ids at other services; each belongs to one account.
FOREIGN_IDS = tuple(one.name for one in USER_SETTINGS if one.setting.risk is Risk.NAMES_USER)

MAX_TEXT = 100_000
# Characters. The ids are indexed, and PostgreSQL limits an index entry to 2,704 bytes.
MAX_FOREIGN_ID = 500

# The other names of the IANA database are abbreviations, old aliases and fixed offsets.
_REGIONS = frozenset({
    "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific",
})  # fmt: skip
# Entries of the database that are not places: what a machine uses, and what it uses when nothing is set.
_NOT_ZONES = frozenset({"Factory", "localtime", "posixrules"})
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DOMAIN = re.compile(rf"(?:{_LABEL}\.)+{_LABEL}")


def validate(fields: Mapping[str, Any], *, zones: Collection[str]) -> dict[str, Any]:
    """Return the values to store, with the password not yet hashed.

    fields: fields of the API, without those that were not sent. zones: the names in this machine's IANA database.
    Raises InvalidInput, which names the field.
    """
    values = dict(fields)
    for name, value in values.items():
        _check_text(name, value)
        _check_choice(name, value)
        _check_range(name, value)
    if "username" in values:
        values["username"] = validate_username(values["username"])
    if "password" in values:
        validate_password(values["password"])
    if "timezone" in values:
        _check_zone(values["timezone"], zones)
    if "external_font_hosts" in values:
        values["external_font_hosts"] = validate_hosts(values["external_font_hosts"], field="external_font_hosts")
    if "shortcuts" in values:
        values["shortcuts"] = validate_shortcuts(values["shortcuts"])
    validate_user_rules(**{name: values[name] for name in RULES if name in values})
    return values


def validate_hosts(hosts: str, *, field: str) -> str:
    """Return the hosts separated by single blanks, as a header needs them. Raises InvalidInput for an invalid one."""
    names = hosts.split()
    for name in names:
        if len(name) > 253 or not _DOMAIN.fullmatch(name):
            raise InvalidField(
                field, msg("{name} is not a domain; write for example fonts.example.org.", name=repr(name[:60]))
            )
    return " ".join(names)


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        return
    reject_nul(value, field=name)
    max_length = MAX_FOREIGN_ID if name in FOREIGN_IDS else MAX_TEXT
    if len(value) > max_length:
        raise InvalidField(name, msg("too long, {max:,} characters at most.", max=max_length))


def _check_choice(name: str, value: Any) -> None:
    if name in CHOICES and value not in CHOICES[name]:
        raise InvalidField(
            name, msg("{value} is not one of {choices}.", value=repr(value[:40]), choices=", ".join(CHOICES[name]))
        )


def _check_range(name: str, value: Any) -> None:
    if name not in RANGES:
        return
    minimum, maximum = RANGES[name]
    if not minimum <= value <= maximum:
        raise InvalidField(name, msg("give a number from {min:,} to {max:,}.", min=minimum, max=maximum))


def selectable_zones(zones: Collection[str]) -> list[str]:
    """Return the names of time zones that a form offers: UTC first, then regions with their places by name."""
    return ["UTC", *sorted(name for name in zones if name.partition("/")[0] in _REGIONS and "/" in name)]


def is_zone(name: str, zones: Collection[str]) -> bool:
    """Return whether an account may have the zone. Old names (`US/Eastern`, `GB`) come with imported accounts."""
    return name in ("UTC", "GMT") or (name in zones and name not in _NOT_ZONES)


def _check_zone(name: str, zones: Collection[str]) -> None:
    if is_zone(name, zones):
        return
    raise InvalidField(
        "timezone",
        msg("{name} is not known; give UTC or a name such as Europe/Paris, in this spelling.", name=repr(name[:40])),
    )
