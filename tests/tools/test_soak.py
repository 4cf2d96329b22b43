"""What `make soak` calls a breach is one, and nothing else is."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from loopback.processes import Usage
from loopback.publisher import Publisher
from loopback.readings import growth, percentile
from soak.breaches import Report
from soak.clients import ResponseCounts, report_on
from soak.polling import Measured

pytestmark = pytest.mark.slow

STEADY = [Usage(100_000_000, 100, 50, 5)] * 30


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1, 1, 1, 1, 1, 1], 1), ([1, 5, 10, 10, 10, 10], 1), ([1, 2, 3, 4, 5, 6], 1.5), ([], 1), ([0, 0, 0], 1)],
)
def test_growth_leaves_out_the_beginning(values: list[float], expected: float) -> None:
    assert growth(values) == expected


def test_percentiles() -> None:
    assert [percentile(range(100), share) for share in (0.5, 0.99, 1)] == [50, 99, 99]
    assert percentile([], 0.5) == 0


def sound_answers() -> ResponseCounts:
    return ResponseCounts({"list": [0.1, 0.2]}, Counter({"200": 2, "503": 1}), refusals=[0.1])


def test_served_requests_and_an_immediate_refusal_are_no_breach() -> None:
    assert report_on(sound_answers(), STEADY, 10, 1).breaches == []


@pytest.mark.parametrize("wrong", ["500", "502", "404"])
def test_an_error_is_a_breach(wrong: str) -> None:
    answers = sound_answers()
    answers.statuses[wrong] = 1

    assert len(report_on(answers, STEADY, 10, 1).breaches) == 1


def test_a_refusal_that_was_slow_or_without_retry_after_is_a_breach() -> None:
    answers = sound_answers()
    answers.refusals.append(30)
    answers.without_retry_after = 1

    assert len(report_on(answers, STEADY, 10, 1).breaches) == 2


def test_requests_that_queued_are_a_breach() -> None:
    answers = sound_answers()
    answers.times["entry"] = [9.0] * 10

    assert len(report_on(answers, STEADY, 10, 1).breaches) == 1


def test_no_answer_is_a_breach() -> None:
    answers = sound_answers()
    answers.errors["TimeoutError"] = 1

    assert len(report_on(answers, STEADY, 10, 1).breaches) == 1


@pytest.mark.parametrize("name", ["memory_bytes", "descriptors", "threads"])
def test_continued_growth_is_a_breach(name: str) -> None:
    values = {"memory_bytes": 100, "descriptors": 100, "threads": 100, "processes": 5}
    samples = [Usage(**{**values, name: 100 + step}) for step in range(0, 300, 5)]

    report = Report()
    report.usage(samples)

    assert len(report.breaches) == 1


def polled(gaps: list[float], missing: int, checked: int) -> Report:
    publisher = Publisher(random.Random(1))
    publisher.requests.update(range(checked))
    measured = Measured(publisher, [0, 1])
    measured.gaps = gaps
    return measured.report(missing, STEADY)


def test_good_feeds_on_time_are_no_breach() -> None:
    assert polled([60, 70], 0, 2).breaches == []


@pytest.mark.parametrize(("gaps", "missing", "checked"), [([60, 500], 0, 2), ([60], 3, 2), ([60], 0, 1)])
def test_a_late_check_a_missing_entry_and_a_feed_left_out_are_breaches(
    gaps: list[float], missing: int, checked: int
) -> None:
    assert len(polled(gaps, missing, checked).breaches) == 1
