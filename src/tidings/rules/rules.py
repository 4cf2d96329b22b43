"""Adds, changes, orders and deletes rules with actions, and shows what a rule would do to stored entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct, to_builtins

from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import Message, msg
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Direction, Entry, EntryFilter, EntryStatus, Order, PageRequest
from tidings.engine.database import Database, Read, Write
from tidings.query import Tree
from tidings.query.model import DatedQuery, Everything, Id, IdField, Is, State, Text, TextField, all_of, any_of, negated
from tidings.rules import store
from tidings.rules.model import (
    MAX_RULES,
    Action,
    ActionType,
    Rule,
    RuleFields,
    Scope,
    order_after,
    problem_of,
)
from tidings.services.clock import Clock
from tidings.services.entries.kept_queries import KeptQueries
from tidings.services.entries.listing import EntryListReader
from tidings.services.listeners import KeptQuery, Listeners
from tidings.storage.entries import labels, snoozed
from tidings.storage.feeds import categories, feeds

MAX_PREVIEWED: Final = 500

_IS_LABELLED: Final = Text("", TextField.LABEL, is_prefix=True)


class RulePreview(Struct, frozen=True):
    """What a rule would do to stored entries."""

    matched: int
    """How many match."""
    changed: int
    """How many of these its actions would change."""
    entries: Sequence[Entry]
    """The newest that match, at most MAX_PREVIEWED."""
    actions: Sequence[tuple[Action, ...]]
    """For each of these, the actions that would change it."""


class Rules:
    def __init__(self, database: Database, clock: Clock, lists: EntryListReader, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._lists = lists
        self._listeners = listeners

    def create(self, user_id: int, fields: RuleFields, *, may_match_everything: bool = False) -> Rule:
        """Add a rule behind the others and return it. It decides about entries that arrive from now on.

        may_match_everything: the user knows that every entry matches. Raises InvalidField, for a query QueryError.
        """
        fields = fields.checked()
        with self._database.writing() as db:
            self._ask_about_everything(db, user_id, fields, may_match_everything=may_match_everything)
            return owned_rule(db, user_id, add(db, user_id, fields, self._listeners))

    def update(self, user_id: int, rule_id: int, fields: RuleFields, *, may_match_everything: bool = False) -> Rule:
        """Replace what the user decides about a rule. Raises NotFound, and InvalidField as `create`."""
        fields = fields.checked()
        with self._database.writing() as db:
            owned_rule(db, user_id, rule_id)
            self._ask_about_everything(db, user_id, fields, may_match_everything=may_match_everything)
            _check_names(db, user_id, fields, self._listeners)
            store.change(db, user_id, rule_id, fields)
            return owned_rule(db, user_id, rule_id)

    def set_enabled(self, user_id: int, rule_id: int, *, enabled: bool) -> None:
        """Switch a rule on or off. Raises NotFound."""
        with self._database.writing() as db:
            if not store.set_enabled(db, user_id, rule_id, enabled=enabled):
                raise unknown_rule(rule_id)

    def delete(self, user_id: int, rule_id: int) -> None:
        """Delete a rule. What it did to entries stays. Raises NotFound."""
        with self._database.writing() as db:
            if not store.remove(db, user_id, rule_id):
                raise unknown_rule(rule_id)

    def order(self, user_id: int, rule_ids: Sequence[int]) -> None:
        """Set the order in which rules are tried. Raises InvalidField unless each rule is named once."""
        with self._database.writing() as db:
            store.set_positions(db, user_id, order_after(store.lock_all(db, user_id), rule_ids))

    def move(self, user_id: int, rule_id: int, by: int) -> None:
        """Move a rule up (-1) or down (1) by one place. Raises NotFound."""
        with self._database.writing() as db:
            store.lock_all(db, user_id)
            ids = [rule.id for rule in store.list_all(db, user_id)]
            if rule_id not in ids:
                raise unknown_rule(rule_id)
            place = ids.index(rule_id)
            ids.insert(max(place + by, 0), ids.pop(place))
            store.set_positions(db, user_id, order_after(ids, ids))

    def preview(self, user: User, fields: RuleFields, *, limit: int = MAX_PREVIEWED) -> RulePreview:
        """Return what a rule would do to stored entries. Raises InvalidField, for a query QueryError.

        limit: how many entries are listed.
        """
        fields = fields.checked()
        with self._database.reading() as db:
            _check_names(db, user.id, fields, self._listeners)
            tree = KeptQueries(db, user.id, self._listeners).tree(fields.query)
        now = self._clock()
        matched = matching(fields, tree, now=now, zone=user.timezone)
        changed = matching(fields, tree, now=now, zone=user.timezone, changed_only=True)
        page = PageRequest(order=Order.ID, direction=Direction.DESC, limit=limit)
        with self._lists.of(user.id, matched) as lists:
            newest = lists.rows(matched, page)
            ids = [entry.id for entry in newest]
            given = labels.of_entries(lists.db, user.id, ids)
            snoozes = snoozed.until(lists.db, user.id, ids)
            return RulePreview(
                matched=lists.count(matched),
                changed=lists.count(changed),
                entries=newest,
                actions=[
                    effective(
                        fields.actions,
                        entry,
                        {label.id for label in given.get(entry.id, ())},
                        is_snoozed=entry.id in snoozes,
                    )
                    for entry in newest
                ],
            )

    def problems_of(self, db: Read, user_id: int, rules: Sequence[Rule]) -> dict[int, Message]:
        """Return why rules do nothing though they may be switched on, by id; those that work are left out."""
        label_ids = {label.id for label in labels.list_all(db, user_id)} if rules else set()
        queries = KeptQueries(db, user_id, self._listeners)
        found = {rule.id: problem_of(rule, label_ids) or _problem_of_query(rule, queries) for rule in rules}
        return {rule_id: problem for rule_id, problem in found.items() if problem is not None}

    def _ask_about_everything(self, db: Read, user_id: int, fields: RuleFields, *, may_match_everything: bool) -> None:
        tree = KeptQueries(db, user_id, self._listeners).tree(fields.query)
        if fields.scope is Scope.ALL and isinstance(tree, Everything) and not may_match_everything:
            problem = msg(
                "every entry of your account matches: narrow the query or the scope, or say that you want this rule."
            )
            raise InvalidField("query", problem)


def add(db: Write, user_id: int, fields: RuleFields, listeners: Listeners) -> int:
    """Add a rule behind the others and return its id.

    fields: checked. Raises InvalidField for too many rules, and for names that are not the user's.
    """
    if len(store.lock_all(db, user_id)) >= MAX_RULES:
        raise InvalidField("name", msg("you have {max} rules, the most that are possible.", max=MAX_RULES))
    _check_names(db, user_id, fields, listeners)
    return store.add(db, user_id, fields)


def matching(fields: RuleFields, tree: Tree, *, now: Instant, zone: str, changed_only: bool = False) -> EntryFilter:
    """Return the filter of the stored entries that a rule matches.

    tree: of its query, without views. now, zone: what relative times and dates of the query mean. changed_only: only
    those that its actions would change.
    """
    if changed_only:
        tree = all_of([tree, _would_change(fields.actions)])
    query = None if isinstance(tree, Everything) else DatedQuery(tree, now, zone)
    return EntryFilter(query=query, feed_id=fields.feed_id, category_id=fields.category_id)


def _would_change(actions: Sequence[Action]) -> Tree:
    """Return which entries actions change, as `effective` says for a single one."""
    trees: list[Tree] = []
    for action in actions:
        match action.type:
            case ActionType.MARK_READ:
                trees.append(Is(State.UNREAD))
            case ActionType.STAR:
                trees.append(negated(Is(State.STARRED)))
            case ActionType.LABEL:
                trees.append(negated(Id(IdField.LABEL, action.label_id)))
            case ActionType.HIDE:
                trees.append(negated(Is(State.HIDDEN)))
            case ActionType.DROP:
                kept = any_of([Is(State.STARRED), Is(State.SHARED), _IS_LABELLED])
                trees.append(negated(kept))
    # Nothing is sent because of stored entries.
    return any_of(trees) if trees else negated(Everything())


def effective(
    actions: Sequence[Action], entry: Entry, label_ids: set[int], *, is_snoozed: bool = False
) -> tuple[Action, ...]:
    """Return the actions that change a stored entry. label_ids: of the labels that it has.

    Entries that are starred, shared, labelled or snoozed are not dropped.
    """
    if any(action.type is ActionType.DROP for action in actions):
        is_kept = bool(entry.starred or entry.share_code or label_ids or is_snoozed)
        if not is_kept:
            return (Action(ActionType.DROP),)
    return tuple(action for action in actions if _changes(action, entry, label_ids))


def _changes(action: Action, entry: Entry, label_ids: set[int]) -> bool:
    match action.type:
        case ActionType.MARK_READ:
            return entry.status == EntryStatus.UNREAD
        case ActionType.STAR:
            return not entry.starred
        case ActionType.LABEL:
            return action.label_id not in label_ids
        case ActionType.HIDE:
            return not entry.hidden
    return False


def owned_rule(db: Read, user_id: int, rule_id: int) -> Rule:
    """Return a rule of the user. Raises NotFound."""
    rule = store.get(db, user_id, rule_id)
    if rule is None:
        raise unknown_rule(rule_id)
    return rule


def unknown_rule(rule_id: int) -> NotFound:
    return NotFound(msg("There is no rule {id}.", id=rule_id))


def kept_queries(db: Read, user_id: int) -> list[KeptQuery]:
    """Return the queries of the user's rules, with the labels that these give and where they apply."""
    return [
        KeptQuery(
            msg("the rule {name}", name=rule.name),
            rule.query,
            RuleFields.of(rule).label_ids,
            feed_id=rule.feed_id,
            category_id=rule.category_id,
        )
        for rule in store.list_all(db, user_id)
    ]


def _problem_of_query(rule: Rule, queries: KeptQueries) -> Message | None:
    try:
        queries.tree(rule.query)
    except InvalidInput as error:
        return msg("Its query cannot be used any more: {reason}", reason=error.text)
    return None


def _check_names(db: Read | Write, user_id: int, fields: RuleFields, listeners: Listeners) -> None:
    """Raise InvalidField for a feed, a category, a label or a view that is not the user's."""
    KeptQueries(db, user_id, listeners).tree(fields.query)
    if fields.scope is Scope.FEED and feeds.get(db, user_id, fields.feed_id or 0) is None:
        raise InvalidField("feed_id", msg("you have no feed {id}.", id=fields.feed_id or 0))
    if fields.scope is Scope.CATEGORY and categories.get(db, user_id, fields.category_id or 0) is None:
        raise InvalidField("category_id", msg("you have no category {id}.", id=fields.category_id or 0))
    known = {label.id for label in labels.list_all(db, user_id)} if fields.label_ids else set()
    for label_id in fields.label_ids:
        if label_id not in known:
            raise InvalidField("actions", msg("you have no label {id}.", id=label_id))


def synced(db: Read, user_id: int) -> list[dict[str, Any]]:
    """Return the rules of a user for clients that sync, in the order in which they are tried; without statistics."""
    return [{"id": rule.id, **to_builtins(RuleFields.of(rule))} for rule in store.list_all(db, user_id)]
