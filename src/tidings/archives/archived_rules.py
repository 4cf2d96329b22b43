"""What an archive contains of a user's rules with actions, which another slice keeps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from tidings.archives.parts import ArchivePart, PlannedChange, shown
from tidings.archives.records import ArchivedAction, ArchivedRule
from tidings.base.errors import InvalidInput
from tidings.base.text import normalize_for_search
from tidings.engine.database import Read, Write
from tidings.storage.entries import labels

# Characters of a name in a report.
_MAX_NAME_CHARS = 200
# Name of a rule among the changes of a review.
RULE = "rule"
# Members that are the same in an archive.
_SAME = ("name", "enabled", "scope", "query", "stop", "for_changed")


class RuleArchiver(Protocol):
    """What archives need of rules."""

    def list_all(self, db: Read, user_id: int) -> Sequence[dict[str, Any]]:
        """Return the rules of a user in their order, as the API has them."""

    def add(self, db: Write, user_id: int, values: Mapping[str, Any]) -> None:
        """Add a rule as the last one. Raises InvalidInput."""

    def sends(self, action: str) -> bool:
        """Return whether an action sends entries to other services."""


def archived_rules(
    archiver: RuleArchiver, db: Read, user_id: int, category_titles: Mapping[int, str]
) -> Iterator[ArchivedRule]:
    """Yield the rules as an archive has them, in their order. category_titles: by id."""
    names = {label.id: label.name for label in labels.list_all(db, user_id)}
    for rule in archiver.list_all(db, user_id):
        yield ArchivedRule(
            category=category_titles.get(rule["category_id"] or 0, ""),
            feed=rule["feed_id"] or 0,
            actions=[ArchivedAction(one["type"], names.get(one.get("label_id"), "")) for one in rule["actions"]],
            **{name: rule[name] for name in _SAME},
        )


def store_rules(
    archiver: RuleArchiver,
    db: Write,
    user_id: int,
    rules: Iterable[ArchivedRule],
    parts: Collection[ArchivePart],
    *,
    feed_ids: Mapping[int, int],
    category_ids: Mapping[str, int],
) -> list[str]:
    """Add the rules that the user does not have. Returns what cannot be used or was switched off, in words.

    A rule is switched off unless rules were asked for, and integrations as well if it sends entries to services.
    feed_ids: by their number in the archive. category_ids: by case-folded title in the archive.
    """
    label_ids = {normalize_for_search(label.name): label.id for label in labels.list_all(db, user_id)}
    known = {_key(rule) for rule in archiver.list_all(db, user_id)}
    notes: list[str] = []
    for rule in rules:
        wanted = _values(rule, label_ids, feed_ids=feed_ids, category_ids=category_ids)
        wanted["enabled"] = rule.enabled and _parts_of(archiver, rule) <= set(parts)
        if (key := _key(wanted)) in known:
            continue
        title = rule.name[:_MAX_NAME_CHARS] or "for every entry"
        try:
            archiver.add(db, user_id, wanted)
        except InvalidInput as error:
            notes.append(f"rule {title}: {error.message}")
            continue
        known.add(key)
        if rule.enabled and not wanted["enabled"]:
            notes.append(f"rule {title}: added, but switched off")
    return notes


def planned_rules(
    archiver: RuleArchiver,
    db: Read,
    user_id: int,
    rules: Iterable[ArchivedRule],
    *,
    feed_ids: Mapping[int, int],
    category_ids: Mapping[str, int],
) -> list[PlannedChange]:
    """Return the rules that the user does not have and that are switched on if their parts are asked for.

    feed_ids, category_ids: as for `store_rules`, of those that the user has.
    """
    label_ids = {normalize_for_search(label.name): label.id for label in labels.list_all(db, user_id)}
    known = {_key(rule) for rule in archiver.list_all(db, user_id)}
    return [
        PlannedChange(part, RULE, after=shown(_sentence(rule)))
        for rule in rules
        if rule.enabled and _key(_values(rule, label_ids, feed_ids=feed_ids, category_ids=category_ids)) not in known
        for part in sorted(_parts_of(archiver, rule))
    ]


def _sentence(rule: ArchivedRule) -> str:
    """Return what a rule does: its query and its actions, after its name if this is another one."""
    query = rule.query if rule.name in ("", rule.query) else f"{rule.name}: {rule.query}"
    actions = ", ".join(f"{one.type} {one.label}".strip() for one in rule.actions)
    return f"{query.strip(': ') or '*'} → {actions}"


def _parts_of(archiver: RuleArchiver, rule: ArchivedRule) -> set[ArchivePart]:
    """Return the parts that have to be asked for so that a rule is switched on."""
    is_sending = any(archiver.sends(action.type) for action in rule.actions)
    return {ArchivePart.RULES, ArchivePart.INTEGRATIONS} if is_sending else {ArchivePart.RULES}


def _values(
    rule: ArchivedRule,
    label_ids: Mapping[str, int],
    *,
    feed_ids: Mapping[int, int],
    category_ids: Mapping[str, int],
) -> dict[str, Any]:
    return {name: getattr(rule, name) for name in _SAME} | {
        "category_id": category_ids.get(normalize_for_search(rule.category)),
        "feed_id": feed_ids.get(rule.feed),
        "actions": [_action(one, label_ids) for one in rule.actions],
    }


def _action(action: ArchivedAction, label_ids: Mapping[str, int]) -> dict[str, Any]:
    label_id = label_ids.get(normalize_for_search(action.label)) if action.label else None
    return {"type": action.type} | ({"label_id": label_id} if label_id else {})


def _key(rule: Mapping[str, Any]) -> bytes:
    """Return what makes a rule the same as another one: everything but whether it is switched on."""
    return msgspec.json.encode({**rule, "enabled": True}, order="sorted")
