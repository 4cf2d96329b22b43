"""What an archive contains of a user's webhooks, which another slice keeps.

The address of the main one is among the integrations of an archive; here is what it is told of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from tidings.archives.import_runs import AccountImportReport
from tidings.archives.integration_settings import ENABLED
from tidings.archives.parts import ArchivePart, LeftOff, PlannedChange, shown
from tidings.archives.records import ArchivedWebhook
from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.text import normalize_for_search
from tidings.engine.database import Read, Write

# Characters of a name in a report.
_MAX_NAME_CHARS = 200
# Name of a webhook among the changes of a review, and in a report.
WEBHOOKS = "webhooks"
# Members that are the same in an archive.
_SAME = ("name", "is_main", ENABLED, "url", "query")
# Members that are not part of what a webhook is told of.
_OTHERS = frozenset({"id", "is_main", ENABLED, "url"})


class WebhookArchiver(Protocol):
    """What archives need of webhooks."""

    def list_all(self, db: Read, user_id: int) -> Sequence[dict[str, Any]]:
        """Return the webhooks of a user as the API has them, without secrets."""

    def add(self, db: Write, user_id: int, values: Mapping[str, Any]) -> None:
        """Add a webhook, which gets a new secret. Raises InvalidInput."""

    def change(self, db: Write, user_id: int, webhook_id: int, values: Mapping[str, Any]) -> None:
        """Change members of a webhook. Raises InvalidInput."""


def archived_webhooks(
    archiver: WebhookArchiver, db: Read, user_id: int, category_titles: Mapping[int, str]
) -> Iterator[ArchivedWebhook]:
    """Yield the webhooks as an archive has them. category_titles: by id."""
    for hook in archiver.list_all(db, user_id):
        values = {name: hook[name] for name in _SAME} | ({"url": ""} if hook["is_main"] else {})
        # Without the deleted ones, a webhook of nothing else would be one of everything.
        titles = [category_titles.get(one, "") for one in hook["category_ids"]]
        yield ArchivedWebhook(**values, events=hook["events"], feeds=hook["feed_ids"], categories=titles)


def has_main(archiver: WebhookArchiver, db: Read, user_id: int) -> bool:
    return any(hook["is_main"] for hook in archiver.list_all(db, user_id))


def store_webhooks(
    archiver: WebhookArchiver,
    db: Write,
    user_id: int,
    hooks: Iterable[ArchivedWebhook],
    parts: Collection[ArchivePart],
    report: AccountImportReport,
    *,
    feed_ids: Mapping[int, int],
    category_ids: Mapping[str, int],
    keeps_main: bool,
) -> None:
    """Add the webhooks that the user does not have, switched off unless integrations were asked for.

    Call it after the integrations were stored. feed_ids: by their number in the archive. category_ids: by case-folded
    title in the archive. keeps_main: what the main webhook is told of was chosen by the user, not by the archive.
    """
    is_asked = ArchivePart.INTEGRATIONS in parts
    known = {_key(one): one for one in archiver.list_all(db, user_id)}
    main = next((one for one in known.values() if one["is_main"]), None)
    for hook in hooks:
        if hook.is_main and (main is None or (keeps_main and not is_asked)):
            continue
        try:
            wanted = _values(hook, feed_ids=feed_ids, category_ids=category_ids)
            found = main if hook.is_main else known.get(_key(wanted))
            if hook.is_main and main is not None:
                change = {name: value for name, value in wanted.items() if name not in _OTHERS}
                archiver.change(db, user_id, main["id"], change)
            elif found is None:
                archiver.add(db, user_id, wanted | {ENABLED: hook.enabled and is_asked})
                known[_key(wanted)] = wanted
            elif is_asked and hook.enabled and not found[ENABLED]:
                archiver.change(db, user_id, found["id"], {ENABLED: True})
        except InvalidInput as error:
            report.problems.append(f"webhook {hook.name[:_MAX_NAME_CHARS]}: {error.message}")
            continue
        is_left = hook.enabled and not hook.is_main and not is_asked and not (found and found[ENABLED])
        if is_left and LeftOff(ArchivePart.INTEGRATIONS, WEBHOOKS) not in report.left_off:
            report.left_off.append(LeftOff(ArchivePart.INTEGRATIONS, WEBHOOKS))


def planned_webhooks(
    archiver: WebhookArchiver,
    db: Read,
    user_id: int,
    hooks: Iterable[ArchivedWebhook],
    *,
    feed_ids: Mapping[int, int],
    category_ids: Mapping[str, int],
) -> list[PlannedChange]:
    """Return the webhooks that are switched on if integrations are asked for.

    feed_ids, category_ids: as for `store_webhooks`, of those that the user has.
    """
    on = {_key(one) for one in archiver.list_all(db, user_id) if one[ENABLED]}
    return [
        PlannedChange(ArchivePart.INTEGRATIONS, WEBHOOKS, after=shown(f"{hook.name}: {hook.url}"))
        for hook in hooks
        if hook.enabled
        and not hook.is_main
        and _key(_resolved(hook, feed_ids=feed_ids, category_ids=category_ids)) not in on
    ]


def _values(hook: ArchivedWebhook, *, feed_ids: Mapping[int, int], category_ids: Mapping[str, int]) -> dict[str, Any]:
    """Return the members to store. Raises InvalidInput if nothing is left of the feeds and categories that it names."""
    values = _resolved(hook, feed_ids=feed_ids, category_ids=category_ids)
    if (hook.feeds or hook.categories) and not (values["feed_ids"] or values["category_ids"]):
        raise InvalidInput(msg("none of its feeds and categories is in the archive."))
    return values


def _resolved(hook: ArchivedWebhook, *, feed_ids: Mapping[int, int], category_ids: Mapping[str, int]) -> dict[str, Any]:
    named = (category_ids.get(normalize_for_search(title)) for title in hook.categories)
    return {name: getattr(hook, name) for name in _SAME} | {
        "events": tuple(hook.events),
        "feed_ids": tuple(dict.fromkeys(feed_ids[one] for one in hook.feeds if one in feed_ids)),
        "category_ids": tuple(dict.fromkeys(one for one in named if one is not None)),
    }


def _key(hook: Mapping[str, Any]) -> bytes:
    """Return what makes a webhook the same as another one: everything but whether it is switched on."""
    same = {name: value for name, value in hook.items() if name not in ("id", ENABLED)}
    places = {name: sorted(hook[name]) for name in ("events", "feed_ids", "category_ids")}
    return msgspec.json.encode(same | places, order="sorted")
