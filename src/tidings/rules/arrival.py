"""Tries rules on entries that arrive, before they are stored, counted and announced.

enabled rules of the users ─► RuleSet for each feed ─► decision for each entry ─┬─ drop │ read, starred
                                                                               └─ once it is stored: labels
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

import structlog
from msgspec import Struct
from msgspec.structs import replace

from tidings.base.errors import InvalidInput
from tidings.base.times import Instant, zone_info
from tidings.content.cleaning import text_of
from tidings.content.rules.evaluation import RuleBudget
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus, ReadyEntry
from tidings.domain.entries.state_changes import StateChange
from tidings.domain.feeds.categories import CategoryTree
from tidings.engine.database import Read, Write
from tidings.query import Candidate, Matcher
from tidings.query.model import Times, Tree, leaves, needs_text
from tidings.rules import store
from tidings.rules.model import Action, ActionType, Rule, day_of, problem_of
from tidings.services.entries.entries import MAX_SAVED
from tidings.services.entries.kept_queries import KeptQueries
from tidings.services.listeners import ArrivingEntries, Channel, Completion, Listeners, RuleName, StoredEntries
from tidings.storage.entries import entries, labels
from tidings.storage.feeds import categories, further_categories

log = structlog.get_logger()

# Seconds of processor time for the rules of a user in one transaction; 100 rules take less than 1 ms an entry.
MAX_RULES_S: Final = 2.0

# Asking for the time takes a tenth of a usual rule.
RULES_BETWEEN_LOOKS: Final = 16


class Decision(Struct, frozen=True):
    """What rules want done to an entry."""

    rules: tuple[Rule, ...] = ()
    """Those that match, in their order."""
    actions: tuple[Action, ...] = ()
    """Their actions, each once."""

    @property
    def rule_ids(self) -> list[int]:
        return [rule.id for rule in self.rules]

    @property
    def is_save(self) -> bool:
        return self._has(ActionType.SAVE)

    @property
    def is_drop(self) -> bool:
        return self._has(ActionType.DROP)

    @property
    def is_hide(self) -> bool:
        return self._has(ActionType.HIDE) and not self.is_drop

    @property
    def label_ids(self) -> tuple[int, ...]:
        return tuple(one.label_id for one in self.actions if one.type is ActionType.LABEL)

    def state_of(self, status: EntryStatus, *, starred: bool) -> tuple[EntryStatus, bool]:
        """Return status and star of an entry after the actions."""
        is_read = status is EntryStatus.UNREAD and self._has(ActionType.MARK_READ)
        return EntryStatus.READ if is_read else status, starred or self._has(ActionType.STAR)

    def _has(self, type_: ActionType) -> bool:
        return any(one.type is type_ for one in self.actions)


NOTHING: Final = Decision()


class _Query(Struct, frozen=True):
    """A query that is ready to be tried."""

    matcher: Matcher
    needs_text: bool


def _query_of(tree: Tree, now: Instant, zone: ZoneInfo) -> _Query:
    """Return a query that is ready to be tried; those that do not depend on the time are kept."""
    return _ready(tree, now, zone) if any(isinstance(leaf, Times) for leaf in leaves(tree)) else _kept(tree)


def _ready(tree: Tree, now: Instant, zone: ZoneInfo) -> _Query:
    return _Query(Matcher(tree, now=now, zone=zone), needs_text(tree))


@lru_cache(maxsize=4096)
def _kept(tree: Tree) -> _Query:
    return _ready(tree, Instant(0), zone_info("UTC"))


class _PreparedRule(Struct, frozen=True):
    rule: Rule
    actions: tuple[Action, ...]
    query: _Query


class _RulesByTerm:
    """Tells which rules an entry in a group of languages may match, from the terms that it has.

    Most rules ask for words that an entry does not have. These words are looked up together, and the rules not tried.
    """

    def __init__(self, rules: Sequence[_PreparedRule], group: str) -> None:
        self._others: list[int] = []
        by_term: defaultdict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(rules):
            needed = one.query.matcher.needed_terms(group)
            if needed is None:
                self._others.append(number)
            for term in needed or ():
                by_term[term].append(number)
        self._by_term = dict(by_term)
        self._terms = frozenset(by_term)

    def numbers(self, candidate: Candidate) -> list[int]:
        """Return the places of the rules that the entry may match, in their order."""
        if not self._terms:
            return self._others
        found = (self._terms & candidate.title_terms.known) | (self._terms & candidate.text_terms.known)
        return sorted({number for term in found for number in self._by_term[term]}.union(self._others))


class RuleSet:
    """The rules of a user, ready to be tried on many entries.

    A rule that fails, or that is left when the time is used up, does nothing: an entry is stored in any case.
    """

    def __init__(
        self,
        user: User,
        rules: Iterable[Rule],
        label_ids: Collection[int],
        now: Instant,
        tree_of: Callable[[str], Tree],
    ) -> None:
        """tree_of: reads a query, without saved views in it. Raises InvalidInput."""
        self._user_id = user.id
        self._budget = RuleBudget(MAX_RULES_S)
        self._is_told = False
        self._prepared: list[_PreparedRule] = []
        zone = zone_info(user.timezone)
        for rule in rules:
            if problem_of(rule, label_ids) is not None:
                continue
            try:
                tree = tree_of(rule.query)
            except InvalidInput as error:
                # The query language, or a view that it names, has changed since the rule was stored.
                log.warning("rule unreadable", user=user.id, rule=rule.id, reason=error.message)
                continue
            self._prepared.append(_PreparedRule(rule, rule.action_list, _query_of(tree, now, zone)))
        self._by_group: dict[str, _RulesByTerm] = {}
        self.needs_text = any(one.query.needs_text for one in self._prepared)
        self.covers_changed = any(one.rule.for_changed for one in self._prepared)

    def covers(self, feed_id: int, category_ids: Collection[int]) -> bool:
        """Return whether any rule is tried on the entries of a feed.

        category_ids: the categories that it is in, and those above them.
        """
        return any(one.rule.covers(feed_id=feed_id, category_ids=category_ids) for one in self._prepared)

    def decide(self, candidate: Candidate, *, is_changed: bool = False) -> Decision:
        """Return what the rules want done to an entry. is_changed: it is stored and the publisher changed it."""
        matching: list[_PreparedRule] = []
        with self._budget:
            if self._is_late():
                return NOTHING
            for tried, number in enumerate(self._numbers(candidate), 1):
                one = self._prepared[number]
                if is_changed and not one.rule.for_changed:
                    continue
                if not one.rule.covers(feed_id=candidate.feed_id, category_ids=candidate.category_ids):
                    continue
                if not tried % RULES_BETWEEN_LOOKS and self._is_late():
                    break
                if self._matches(one, candidate):
                    matching.append(one)
                    if one.rule.stop:
                        break
        if not matching:
            return NOTHING
        actions = dict.fromkeys(action for one in matching for action in one.actions)
        return Decision(tuple(one.rule for one in matching), tuple(actions))

    def _numbers(self, candidate: Candidate) -> list[int]:
        group = candidate.language_group
        if group not in self._by_group:
            self._by_group[group] = _RulesByTerm(self._prepared, group)
        return self._by_group[group].numbers(candidate)

    def _matches(self, one: _PreparedRule, candidate: Candidate) -> bool:
        try:
            return one.query.matcher.matches(candidate)
        except Exception:
            log.exception("rule failed", user=self._user_id, rule=one.rule.id)
            return False

    def _is_late(self) -> bool:
        """Return whether the time is used up, which is told once."""
        if not self._budget.is_used_up:
            return False
        if not self._is_told:
            self._is_told = True
            log.warning("rules took too long", user=self._user_id, rules=len(self._prepared))
        return True


def decide_arrivals(listeners: Listeners, db: Write, arriving: Sequence[ArrivingEntries]) -> Completion | None:
    """Let the rules of their users decide about entries before they are stored.

    For users without rules this is one look-up in an index. listeners: save and send what rules want saved and sent.
    """
    users = {one.user.id: one.user for one in arriving}
    enabled = store.enabled_of(db, users)
    if not enabled:
        return None
    arrivals = [
        Arrival(db, users[user_id], rules, [one for one in arriving if one.user.id == user_id], listeners)
        for user_id, rules in enabled.items()
    ]
    for one in arrivals:
        one.decide(db)
    store.count_matches(
        db, (match for one in arrivals for match in one.matches()), now=max(one.now for one in arriving)
    )
    return lambda db: _complete(db, arrivals, listeners)


def _complete(db: Write, arrivals: Sequence[Arrival], listeners: Listeners) -> None:
    for one in arrivals:
        one.complete(db)
    for one in arrivals:
        one.send(db, listeners)


class Arrival:
    """The entries of one user that arrive in a transaction, and what the user's rules want done to them."""

    def __init__(
        self,
        db: Read,
        user: User,
        rules: Sequence[Rule],
        arriving: Sequence[ArrivingEntries],
        listeners: Listeners,
    ) -> None:
        self._user = user
        self._arriving = arriving
        self._now = max(one.now for one in arriving)
        self._label_ids = {label.id for label in labels.list_all(db, user.id)}
        self._rules = RuleSet(user, rules, self._label_ids, self._now, KeptQueries(db, user.id, listeners).tree)
        self._categories = CategoryTree(categories.list_all(db, user.id))
        self._further = further_categories.of_feeds(db, user.id, {one.feed.id for one in arriving})
        self._matched: Counter[int] = Counter()
        self._new: list[tuple[ArrivingEntries, bytes, Decision]] = []
        self._changed: dict[int, Decision] = {}
        self._untouched: set[int] = set()

    def decide(self, db: Read) -> None:
        """Decide about all entries; new ones get their status and star, or are dropped, now."""
        for one in self._arriving:
            if not self._rules.covers(one.feed.id, self._categories.with_above(self._category_ids(one))):
                continue
            for hash_, entry in list(one.new.items()):
                decision = self._rules.decide(self._candidate(one, entry))
                self._matched.update(decision.rule_ids)
                if decision.is_drop:
                    one.drop(hash_)
                elif decision.actions:
                    status, starred = decision.state_of(entry.status, starred=entry.starred)
                    one.new[hash_] = replace(entry, status=status, starred=starred, hidden=decision.is_hide)
                    self._new.append((one, hash_, decision))
        if self._rules.covers_changed:
            self._decide_changed(db)

    def _decide_changed(self, db: Read) -> None:
        """Decide about entries that the publisher changed, except those that the user has dealt with."""
        changed = {id_: (one, entry) for one in self._arriving for id_, entry in one.changed.items()}
        if not changed:
            return
        self._untouched = store.untouched(db, self._user.id, changed)
        stored = {entry.id: entry for entry in entries.get_many(db, self._user.id, sorted(self._untouched))}
        given = labels.of_entries(db, self._user.id, stored)
        for id_, known in stored.items():
            one, entry = changed[id_]
            candidate = self._candidate(one, entry)
            candidate = replace(
                candidate,
                added_at=known.created_at,
                is_read=known.status != EntryStatus.UNREAD,
                is_starred=bool(known.starred),
                is_hidden=bool(known.hidden),
                labels=tuple(label.name for label in given.get(id_, ())),
                label_ids=tuple(label.id for label in given.get(id_, ())),
            )
            decision = self._rules.decide(candidate, is_changed=True)
            if decision.is_drop and (known.starred or id_ in given):
                # The user keeps it, or a rule did when it arrived.
                continue
            self._matched.update(decision.rule_ids)
            if decision.actions:
                self._changed[id_] = decision

    def matches(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield the user's id, a rule's, how many entries it matched, and the user's day."""
        day = day_of(self._now, self._user.timezone)
        for rule_id, count in self._matched.items():
            yield self._user.id, rule_id, count, day

    def complete(self, db: Write) -> None:
        """Do what needs the ids of the entries, or the rows of changed ones."""
        by_label: dict[int, list[int]] = {}
        for one, hash_, decision in self._new:
            for label_id in decision.label_ids:
                by_label.setdefault(label_id, []).append(one.ids[hash_])
        for entry_id, decision in self._changed.items():
            for label_id in decision.label_ids:
                by_label.setdefault(label_id, []).append(entry_id)
        store.note_changed(db, self._user.id, self._untouched, now=self._now)
        self._change_states(db)
        if hidden := [entry_id for entry_id, decision in self._changed.items() if decision.is_hide]:
            entries.set_hidden(db, self._user.id, hidden, hidden=True)
        # Locked after the counters, as everywhere; one that was deleted since is not given.
        for label_id in labels.lock(db, self._user.id, by_label) if by_label else ():
            labels.attach(db, self._user.id, [label_id], by_label[label_id])

    def send(self, db: Write, listeners: Listeners) -> None:
        """Save and send new entries as they are now. The first entries of a feed are no news, and are not sent."""
        new = [(one, one.ids[hash_], decision) for one, hash_, decision in self._new if one.is_news]
        saved = [entry_id for _, entry_id, decision in new if decision.is_save][:MAX_SAVED]
        if saved and listeners.can_save(db, self._user.id):
            for entry in entries.get_many(db, self._user.id, saved):
                listeners.save(db, self._user, entry, self._now)
        for channel in Channel:
            by_rule: dict[tuple[int, int], list[int]] = {}
            known: dict[tuple[int, int], tuple[ArrivingEntries, Rule]] = {}
            for one, entry_id, decision in new:
                for rule in decision.rules:
                    if any(action.type.value == channel.value for action in rule.action_list):
                        by_rule.setdefault((one.feed.id, rule.id), []).append(entry_id)
                        known[one.feed.id, rule.id] = one, rule
                        # A notification names no rule: one is enough.
                        if channel is Channel.NOTIFICATION:
                            break
            for key, entry_ids in by_rule.items():
                one, rule = known[key]
                told = set(one.stored.unread_ids)
                unread = [entry_id for entry_id in entry_ids if entry_id in told]
                stored = StoredEntries(self._user, one.feed, entry_ids, self._now, unread)
                listeners.announce(db, RuleName(rule.id, rule.name), stored, channel)

    def _change_states(self, db: Write) -> None:
        changes = []
        for entry_id, decision in self._changed.items():
            if decision.is_drop:
                changes.append(StateChange(self._user.id, [entry_id], EntryStatus.REMOVED, is_repeatable=True))
                continue
            status, starred = decision.state_of(EntryStatus.UNREAD, starred=False)
            if status is EntryStatus.READ or starred:
                to_read = EntryStatus.READ if status is EntryStatus.READ else None
                changes.append(StateChange(self._user.id, [entry_id], to_read, starred or None, is_repeatable=True))
        if changes:
            entries.change_states(db, changes, now=self._now)

    def _candidate(self, one: ArrivingEntries, entry: ReadyEntry) -> Candidate:
        return Candidate(
            title=entry.title,
            text=text_of(entry.content) if self._rules.needs_text else "",
            url=entry.url,
            author=entry.author,
            language=entry.language,
            published_at=entry.published_at,
            changed_at=one.now,
            added_at=one.now,
            is_read=entry.status is not EntryStatus.UNREAD,
            is_starred=entry.starred,
            minutes=entry.reading_time,
            tags=entry.tags,
            attachment_types=tuple(enclosure.mime_type for enclosure in entry.enclosures),
            feed_id=one.feed.id,
            feed_title=one.feed.title,
            feed_urls=(one.feed.site_url, one.feed.feed_url),
            category_ids=tuple(self._categories.with_above(self._category_ids(one))),
            category_titles=tuple(map(self._categories.path, self._category_ids(one))),
        )

    def _category_ids(self, one: ArrivingEntries) -> tuple[int, ...]:
        """Return the categories that the feed is in."""
        return (one.category_id, *self._further.get(one.feed.id, ()))
