"""The rules of users, and how often they matched."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import and_, bindparam, case, delete, func, insert, or_, select, update

from tidings.base.times import Instant
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list, upsert
from tidings.rules.model import Rule, RuleFields, encode_actions
from tidings.rules.tables import rule_changed_entries, rules
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.ownership import of_same_user
from tidings.storage.schema import entries, feeds

_in_order = (rules.c.position, rules.c.id)
_select_by_user = select(*columns(rules, Rule)).where(rules.c.user_id == bindparam("user")).order_by(*_in_order)
_is_owned = (rules.c.user_id == bindparam("user"), rules.c.id == bindparam("rule"))
_select_by_id = select(*columns(rules, Rule)).where(*_is_owned)
_select_enabled = (
    select(*columns(rules, Rule))
    .where(in_list(rules.c.user_id, "users"), rules.c.enabled.is_(True))
    .order_by(rules.c.user_id, *_in_order)
)
_lock_of_user = select(rules.c.id).where(rules.c.user_id == bindparam("user")).order_by(rules.c.id).with_for_update()
_select_last = select(func.coalesce(func.max(rules.c.position), 0)).where(rules.c.user_id == bindparam("user"))
_update = update(rules).where(*_is_owned)
_set_enabled = _update.values(enabled=bindparam("on"))
_delete = delete(rules).where(*_is_owned)
_set_position = _update.values(position=bindparam("place"))
_lock_matched = (
    select(rules.c.id)
    .where(in_list(rules.c.user_id, "users"), in_list(rules.c.id, "ids"))
    .order_by(rules.c.id)
    .with_for_update()
)
_count_matches = _update.values(
    matched_total=rules.c.matched_total + bindparam("count"),
    matched_today=case(
        (rules.c.matched_day == bindparam("day"), rules.c.matched_today + bindparam("count")), else_=bindparam("count")
    ),
    matched_day=bindparam("day"),
    matched_at=bindparam("now"),
)


def list_all(db: Read, user_id: int) -> list[Rule]:
    """Return the rules of the user in their order."""
    return db.all(Rule, _select_by_user, user=user_id)


def get(db: Read, user_id: int, rule_id: int) -> Rule | None:
    return db.one(Rule, _select_by_id, user=user_id, rule=rule_id)


def enabled_of(db: Read, user_ids: Collection[int]) -> dict[int, list[Rule]]:
    """Return the rules that are switched on, in their order, by the ids of these users; users without any are left out.

    For users without rules this is one look-up in an index.
    """
    found: dict[int, list[Rule]] = {}
    for rule in db.all(Rule, _select_enabled, users=sorted(user_ids)):
        found.setdefault(rule.user_id, []).append(rule)
    return found


def lock_all(db: Write, user_id: int) -> list[int]:
    """Lock the rules of the user until the transaction ends. Returns their ids."""
    return db.scalars(_lock_of_user, user=user_id)


def add(db: Write, user_id: int, fields: RuleFields) -> int:
    """Add a rule behind the others and return its id. The caller has locked the others."""
    place = db.scalar(_select_last, user=user_id) + 1
    rule_id = db.insert(insert(rules).values(user_id=user_id, position=place, **_columns(fields)))
    change_log.note(db, user_id, Kind.RULE, [rule_id])
    return rule_id


def change(db: Write, user_id: int, rule_id: int, fields: RuleFields) -> None:
    db.run(_update.values(**_columns(fields)), user=user_id, rule=rule_id)
    change_log.note(db, user_id, Kind.RULE, [rule_id])


def set_enabled(db: Write, user_id: int, rule_id: int, *, enabled: bool) -> bool:
    """Switch a rule on or off. Returns False if the user has no such rule."""
    change_log.note(db, user_id, Kind.RULE, [rule_id])
    return db.run(_set_enabled, user=user_id, rule=rule_id, on=enabled) > 0


def remove(db: Write, user_id: int, rule_id: int) -> bool:
    """Delete a rule. Returns False if the user has no such rule."""
    change_log.note(db, user_id, Kind.RULE, [rule_id])
    return db.run(_delete, user=user_id, rule=rule_id) > 0


def set_positions(db: Write, user_id: int, positions: Mapping[int, int]) -> None:
    """Write the positions of rules, by id. The caller has locked them."""
    db.run_many(_set_position, [{"user": user_id, "rule": id_, "place": place} for id_, place in positions.items()])
    change_log.note(db, user_id, Kind.RULE, positions)


def count_matches(db: Write, matches: Iterable[tuple[int, int, int, int]], *, now: Instant) -> None:
    """Add to the statistics of rules. matches: the user's id, the rule's, how many entries, and the user's day.

    The rules are locked in the order of their ids: two transactions of the same user may count the same ones.
    """
    rows = [
        {"user": user_id, "rule": rule_id, "count": count, "day": day, "now": now}
        for user_id, rule_id, count, day in sorted(matches, key=lambda match: match[1])
    ]
    if len(rows) > 1:
        db.scalars(_lock_matched, users=sorted({row["user"] for row in rows}), ids=[row["rule"] for row in rows])
    db.run_many(_count_matches, rows)


def _columns(fields: RuleFields) -> dict[str, Any]:
    values = {name: getattr(fields, name) for name in RuleFields.__struct_fields__}
    return values | {"scope": fields.scope.value, "actions": encode_actions(fields.actions)}


# Feeds, for the pages

_has_filters = or_(
    *(
        feeds.c[name] != ""
        for name in ("block_filter_entry_rules", "keep_filter_entry_rules", "blocklist_rules", "keeplist_rules")
    )
)
_select_feeds = (
    select(feeds.c.id, feeds.c.title)
    .where(feeds.c.user_id == bindparam("user"))
    .order_by(feeds.c.title_key, feeds.c.id)
)
_select_filtered = _select_feeds.where(_has_filters)
_select_some = _select_feeds.limit(bindparam("limit"))


def feeds_with_filters(db: Read, user_id: int) -> list[tuple[int, str]]:
    """Return ids and titles of the feeds that have rules that block or keep entries."""
    return [(id_, title) for id_, title in db.tuples(_select_filtered, user=user_id)]


def feeds_to_choose(db: Read, user_id: int, *, limit: int) -> list[tuple[int, str]]:
    """Return ids and titles of the first feeds by title."""
    return [(id_, title) for id_, title in db.tuples(_select_some, user=user_id, limit=limit)]


# Entries that publishers change

_select_untouched = (
    select(entries.c.id)
    .select_from(
        entries.outerjoin(
            rule_changed_entries,
            and_(rule_changed_entries.c.entry_id == entries.c.id, of_same_user(rule_changed_entries, entries)),
        )
    )
    .where(
        entries.c.user_id == bindparam("user"),
        in_list(entries.c.id, "ids"),
        entries.c.edited == 0,
        entries.c.share_code == "",
        entries.c.changed_at == func.coalesce(rule_changed_entries.c.changed_at, entries.c.created_at),
    )
)
_note_changed = upsert(rule_changed_entries, ["entry_id"], update=["changed_at"])


def untouched(db: Read, user_id: int, entry_ids: Collection[int]) -> set[int]:
    """Return which entries are as they arrived or as the publisher changed them: nobody marked, starred or edited them.

    What the publisher changed before the user had a rule for changed entries counts as touched.
    """
    return set(db.scalars(_select_untouched, user=user_id, ids=sorted(entry_ids)))


def note_changed(db: Write, user_id: int, entry_ids: Collection[int], *, now: Instant) -> None:
    """Record that the publisher, or a rule after that, changed entries at this time."""
    rows = [{"entry_id": id_, "user_id": user_id, "changed_at": now} for id_ in sorted(entry_ids)]
    db.run_many(_note_changed, rows)
