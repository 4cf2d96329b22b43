"""Many rules of a user together decide as each of them alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from support.entry_fixtures import NOW
from tidings.base.times import DAY, Instant, zone_info
from tidings.query import Candidate, Matcher, parse
from tidings.rules import arrival
from tidings.rules.arrival import RuleSet
from tidings.rules.model import Action, ActionType, Rule, encode_actions

ENTRY = Candidate(
    title="Rain",
    text="Snow fell",
    author="Ada",
    published_at=NOW,
    changed_at=NOW,
    added_at=NOW,
    feed_id=1,
    category_ids=(1,),
)
ENTRIES = [
    msgspec.structs.replace(ENTRY, title=title, text=text, language=language)
    for title in ("", "Heavy rains", "Hail, then snow")
    for text in ("", "Rain and more rain", "Relations: houses", "Häuser")
    for language in ("", "de")
]
QUERIES = (
    "", "rain", "title:rain", "text:rain", "rain OR snow", "rain snow", "-rain", "hail -rain", '"then snow"', "rai*",
    "relation*", "author:ada", "author:ada hail", "Haus", "houses", "title:/rain/i", "(rain OR hail) (snow OR house)",
    "added:today", "rain added:1d", "words>1 rain",
)  # fmt: skip


def rule_set(queries: dict[int, str], *, stop: int = 0, now: Instant = NOW) -> RuleSet:
    user: Any = _User(1, "UTC")
    given = encode_actions((Action(ActionType.STAR),))
    return RuleSet(user, [_rule(id_, query, given, stop=id_ == stop) for id_, query in queries.items()], (), now, parse)


def _rule(id_: int, query: str, actions: str, *, stop: bool) -> Rule:
    return Rule(id_, 1, id_, "", True, "all", None, None, query, actions, stop, False, 0, 0, 0, None)


class _User(msgspec.Struct):
    id: int
    timezone: str


def test_rules_that_are_tried_together_match_what_each_matches_alone() -> None:
    queries = dict(enumerate(QUERIES, 1))
    rules = rule_set(queries)
    alone = {id_: Matcher(parse(query), now=NOW, zone=zone_info("UTC")) for id_, query in queries.items()}

    for entry in ENTRIES:
        assert rules.decide(entry).rule_ids == [id_ for id_, one in alone.items() if one.matches(entry)]


def test_a_rule_that_stops_comes_before_those_found_by_other_words() -> None:
    rules = rule_set({1: "hail", 2: "title:/Rain/", 3: "rain", 4: "snow"}, stop=3)

    assert rules.decide(ENTRY).rule_ids == [2, 3]


def test_a_query_that_is_kept_does_not_keep_what_today_means() -> None:
    assert rule_set({1: "added:today"}).decide(ENTRY).rule_ids == [1]
    assert rule_set({1: "added:today"}, now=Instant(NOW + 2 * DAY)).decide(ENTRY).rule_ids == []


def test_without_time_left_no_rule_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "MAX_RULES_S", 0.0)

    assert rule_set({1: "rain"}).decide(ENTRY).rule_ids == []
