"""Rules with actions: what is done to entries that match a query, when they arrive or when a user applies a rule."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from enum import StrEnum
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tidings.base.errors import InvalidField
from tidings.base.messages import Message, msg
from tidings.base.text import reject_nul
from tidings.base.times import Instant, to_local, zone_info
from tidings.query import parse
from tidings.query.model import Everything

# Of a user. Each is tried on every entry that arrives.
MAX_RULES: Final = 200
MAX_NAME_CHARS: Final = 200
MAX_ACTIONS: Final = 20


class Scope(StrEnum):
    """The entries that a rule is tried on."""

    ALL = "all"
    CATEGORY = "category"
    FEED = "feed"


class ActionType(StrEnum):
    """What a rule does to an entry."""

    MARK_READ = "mark_read"
    STAR = "star"
    LABEL = "label"
    HIDE = "hide"
    """Leave it out of the global lists: it stays in those of its feed and category."""
    DROP = "drop"
    SAVE = "save"
    """Send it to the services to which the user saves entries."""
    NOTIFY = "notify"
    WEBHOOK = "webhook"


# Actions that send entries to other services.
SENDING: Final = frozenset({ActionType.SAVE, ActionType.NOTIFY, ActionType.WEBHOOK})


class Action(Struct, frozen=True, omit_defaults=True):
    """One action of a rule, as it is stored."""

    type: ActionType
    label_id: int = 0
    """Only with LABEL."""


class Rule(Struct, frozen=True):
    """One row of `rules`."""

    id: int
    user_id: int
    position: int
    name: str
    enabled: bool
    scope: str
    category_id: int | None
    feed_id: int | None
    query: str
    actions: str
    """JSON."""
    stop: bool
    for_changed: bool
    matched_total: int
    matched_today: int
    matched_day: int
    matched_at: Instant | None

    @property
    def action_list(self) -> tuple[Action, ...]:
        return decode_actions(self.actions)

    def matched_on(self, day: int) -> int:
        """Return how many entries it matched on a day, as `day_of` counts them."""
        return self.matched_today if self.matched_day == day else 0

    def covers(self, *, feed_id: int, category_ids: Collection[int]) -> bool:
        """Return whether the entries of a feed are in its scope. category_ids: its category and those above it."""
        if self.scope == Scope.FEED:
            return self.feed_id == feed_id
        return self.scope != Scope.CATEGORY or self.category_id in category_ids


class RuleFields(Struct, frozen=True, kw_only=True):
    """What a user decides about a rule."""

    name: str = ""
    enabled: bool = True
    scope: Scope = Scope.ALL
    category_id: int | None = None
    feed_id: int | None = None
    query: str = ""
    actions: tuple[Action, ...] = ()
    stop: bool = False
    for_changed: bool = False

    @classmethod
    def of(cls, rule: Rule) -> RuleFields:
        values = {name: getattr(rule, name) for name in cls.__struct_fields__}
        return cls(**values | {"scope": Scope(rule.scope), "actions": rule.action_list})

    def checked(self) -> RuleFields:
        """Return the fields in the form in which they are stored.

        Raises InvalidField, for a query QueryError. Whether the feed, the category, the labels and the views are the
        user's is checked by the caller.
        """
        name = " ".join(reject_nul(self.name, field="name").split()) or _default_name(self.query)
        if len(name) > MAX_NAME_CHARS:
            raise InvalidField("name", msg("use at most {max} characters.", max=MAX_NAME_CHARS))
        parse(reject_nul(self.query, field="query"))
        if not self.actions:
            raise InvalidField("actions", msg("choose at least one."))
        actions = tuple(dict.fromkeys(self.actions))
        if len(actions) > MAX_ACTIONS:
            raise InvalidField("actions", msg("choose at most {max}.", max=MAX_ACTIONS))
        if any(one.type is ActionType.LABEL and not one.label_id for one in actions):
            raise InvalidField("actions", msg("choose the label to give."))
        is_of_feed, is_of_category = self.scope is Scope.FEED, self.scope is Scope.CATEGORY
        if is_of_feed and not self.feed_id:
            raise InvalidField("feed_id", msg("choose the feed whose entries the rule is for."))
        if is_of_category and not self.category_id:
            raise InvalidField("category_id", msg("choose the category whose entries the rule is for."))
        return replace(
            self,
            name=name,
            query=self.query.strip(),
            actions=actions,
            feed_id=self.feed_id if is_of_feed else None,
            category_id=self.category_id if is_of_category else None,
        )

    @property
    def matches_everything(self) -> bool:
        """Whether every entry of the account matches, whatever the queries of saved views are."""
        return self.scope is Scope.ALL and isinstance(parse(self.query), Everything)

    @property
    def label_ids(self) -> tuple[int, ...]:
        return tuple(one.label_id for one in self.actions if one.type is ActionType.LABEL)


@lru_cache(maxsize=4096)
def decode_actions(text: str) -> tuple[Action, ...]:
    return msgspec.json.decode(text, type=tuple[Action, ...])


def encode_actions(actions: Sequence[Action]) -> str:
    return msgspec.json.encode(actions).decode()


def problem_of(rule: Rule | RuleFields, label_ids: Collection[int]) -> Message | None:
    """Return why a rule does nothing though it is switched on, None if it works. label_ids: the user's labels."""
    if rule.scope == Scope.FEED and rule.feed_id is None:
        return msg("Its feed was deleted: choose another one, or delete the rule.")
    if rule.scope == Scope.CATEGORY and rule.category_id is None:
        return msg("Its category was deleted: choose another one, or delete the rule.")
    actions = rule.action_list if isinstance(rule, Rule) else rule.actions
    if any(one.type is ActionType.LABEL and one.label_id not in label_ids for one in actions):
        return msg("A label that it gives was deleted: choose another one, or delete the rule.")
    return None


def day_of(now: Instant, zone: str) -> int:
    """Return the number of the day that it is in a time zone."""
    return date.toordinal(to_local(now, zone_info(zone)).date())


def order_after(current: Sequence[int], wanted: Sequence[int]) -> Mapping[int, int]:
    """Return the positions of rules by id. Raises InvalidField unless `wanted` has each id of `current` once."""
    if sorted(wanted) != sorted(current):
        raise InvalidField("rule_ids", msg("name each of your rules once, in the order in which they are tried."))
    return {rule_id: position for position, rule_id in enumerate(wanted, 1)}


def _default_name(query: str) -> str:
    shown = " ".join(query.split())
    return f"{shown[: MAX_NAME_CHARS - 1]}…" if len(shown) > MAX_NAME_CHARS else shown
