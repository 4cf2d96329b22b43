"""All rules together stay within one budget of processor time and size."""

from __future__ import annotations

import time

import pytest

from tidings.base.times import Instant
from tidings.content.errors import InvalidRule
from tidings.content.model import ParsedEnclosure, ParsedEntry
from tidings.content.rules.evaluation import MAX_ENTRY_S, MAX_READING_S, RuleBudget, RuleBudgetExceeded
from tidings.content.rules.pipeline import (
    RuleTexts,
    apply_rules,
    compile_rules,
    filter_entry,
    rewrite_url,
    validate_feed_rules,
)
from tidings.content.rules.regex import MAX_REPLACE_S, MAX_RESULT_CHARS

pytestmark = pytest.mark.slow

NOW = Instant(0)
LOREM = ParsedEntry(
    hash="0" * 64, url="https://example.org/1", title="Rain", content="<p>" + "lorem " * 10_000 + "</p>"
)
# Each within its own budget; without a common one, thirty take twenty times as long as this allows.
DOUBLING = 'replace("lorem"|"loremlorem"),' * 30
# Processor time, so that a busy machine does not matter; the last rule may exceed the budget by its own.
GENEROUS_S = 2 * (MAX_ENTRY_S + MAX_REPLACE_S)


def test_thirty_rules_within_their_budgets_are_stopped_together() -> None:
    rules = compile_rules(RuleTexts(rewrite_rules=DOUBLING))
    started = time.thread_time()

    applied = apply_rules(LOREM, rules)

    assert time.thread_time() - started < GENEROUS_S
    assert "and those after it were skipped: all rules together take too long" in applied.warnings[-1].english()
    assert len(applied.warnings) < 30


def test_an_entry_is_kept_if_its_filters_take_too_long() -> None:
    # Reads the whole text each time: the first matcher runs out of memory.
    lines = "\n".join(f"EntryContent=(x+x+)+y{number}[a-q][^u-z]{{13}}x" for number in range(2_000))
    rules = compile_rules(RuleTexts(block_filter_entry_rules=lines + "\nEntryTitle=Rain"))
    entry = ParsedEntry(hash="0" * 64, title="Rain", content="xxxxxxxy" * 400_000)
    started = time.thread_time()

    decision = filter_entry(entry, feed=rules, now=NOW)

    assert time.thread_time() - started < GENEROUS_S
    assert decision.is_kept
    assert decision.warning is not None
    assert "Filters were skipped" in decision.warning.english()


def test_rules_of_an_entry_are_skipped_when_the_whole_budget_is_used_up() -> None:
    rules = compile_rules(
        RuleTexts(
            block_filter_entry_rules="EntryTitle=Rain",
            urlrewrite_rules='rewrite("/1"|"/2")',
            rewrite_rules='replace("lorem"|"ipsum"), nl2br',
        )
    )
    budget = RuleBudget(0).for_entry()

    decision = filter_entry(LOREM, feed=rules, now=NOW, budget=budget)
    applied = apply_rules(LOREM, rules, budget=budget)

    assert decision.is_kept
    assert applied.entry == LOREM
    assert [warning.english() for warning in (decision.warning, *applied.warnings) if warning] == [
        "Filters were skipped: all rules of the feed together take too long.",
        "The address rule was skipped: all rules of the feed together take too long.",
        "Rewrite rule 1 (replace) and those after it were skipped: all rules of the feed together take too long.",
    ]


def test_what_an_entry_uses_counts_for_the_whole() -> None:
    whole = RuleBudget(0.05)
    for _ in range(2):
        with whole.for_entry():
            until = time.thread_time() + 0.03
            while time.thread_time() < until:
                pass

    assert whole.is_used_up


def test_nothing_begins_after_the_client_has_left() -> None:
    budget = RuleBudget(is_stopped=lambda: True).for_entry()

    with pytest.raises(RuleBudgetExceeded):
        budget.check()


def test_rules_that_add_without_end_stop_at_the_limit_of_a_text() -> None:
    enclosures = tuple(ParsedEnclosure(f"https://example.org/{n}/{'a' * 4_000}") for n in range(200))
    rules = compile_rules(RuleTexts(rewrite_rules="add_enclosure_links," * 60))

    applied = apply_rules(ParsedEntry(hash="0" * 64, enclosures=enclosures), rules)

    assert len(applied.entry.content) <= MAX_RESULT_CHARS
    assert any("it makes the text too long" in warning.english() for warning in applied.warnings)


def test_a_title_stays_as_short_as_a_document_may_have_it() -> None:
    rules = compile_rules(RuleTexts(rewrite_rules='replace_title("a"|"aa"),' * 30))

    assert len(apply_rules(ParsedEntry(hash="0" * 64, title="a"), rules).entry.title) <= 5_000


def test_an_address_stays_as_short_as_a_document_may_have_it() -> None:
    rules = compile_rules(RuleTexts(urlrewrite_rules=f'rewrite("a"|"{"b" * 3_000}")'))
    entry = ParsedEntry(hash="0" * 64, url="https://example.org/aaa")

    rewritten = rewrite_url(entry, rules)

    assert rewritten.entry == entry
    assert len(rewritten.warnings) == 1


# Each takes 4 to 30 milliseconds to compile, and there is room for thousands.
@pytest.mark.parametrize(
    "line", [r"EntryTitle={}(\pL{{9}}x{{9}}){{9}}", pytest.param(r"EntryTitle={}\pL{{12}}", marks=pytest.mark.long)]
)
def test_rules_that_take_too_long_to_read_are_refused(line: str) -> None:
    text = "\n".join(line.format(number) for number in range(4_000))
    started = time.thread_time()

    rules = compile_rules(RuleTexts(block_filter_entry_rules=text))
    with pytest.raises(InvalidRule):
        validate_feed_rules(block_filter_entry_rules=text)

    assert time.thread_time() - started < 2 * 2 * MAX_READING_S
    assert "take too long to read" in rules.errors[-1].message
