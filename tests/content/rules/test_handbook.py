"""The examples of docs/rules.md, and that it describes every rule."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest

from tidings.base.times import Instant, from_datetime
from tidings.content.model import ParsedEnclosure
from tidings.content.rules.evaluation import RuleBudget, RuleEntry
from tidings.content.rules.filters import DateKind, FilterField, FilterInput, parse_filters
from tidings.content.rules.pipeline import parse_url_rewrite, scrape, validate_selector
from tidings.content.rules.rewrite import NAMES, apply_rewrites, parse_rewrites

HANDBOOK = (Path(__file__).parents[3] / "docs" / "rules.md").read_text()
NOW = from_datetime(datetime.fromisoformat("2024-06-15T12:00:00Z"))


def examples(kind: str) -> list[dict[str, str]]:
    blocks = re.findall(rf"^```{kind}\n(.*?)^```$", HANDBOOK, re.MULTILINE | re.DOTALL)
    return [dict(line.split(": ", 1) for line in block.splitlines()) for block in blocks]


def instant(text: str | None) -> Instant | None:
    return from_datetime(datetime.fromisoformat(text)) if text else None


@pytest.mark.parametrize("example", examples("filter"), ids=lambda example: example["rule"])
def test_filter_examples_match_as_documented(example: dict[str, str]) -> None:
    (rule,) = parse_filters(example["rule"], field="block_filter_entry_rules")
    facts = FilterInput(
        url=example.get("url", ""),
        title=example.get("title", ""),
        comments_url=example.get("comments_url", ""),
        content=example.get("content", ""),
        author=example.get("author", ""),
        tags=tuple(filter(None, example.get("tags", "").split(", "))),
        published_at=instant(example.get("date")),
    )

    assert rule.matches(facts, now=NOW) == (example["matches"] == "yes")


@pytest.mark.parametrize("example", examples("rewrite"), ids=lambda example: example["rule"])
def test_rewrite_examples_have_the_documented_result(example: dict[str, str]) -> None:
    enclosures = tuple(ParsedEnclosure(example[key]) for key in example if key == "enclosure")
    entry = RuleEntry(
        url=example.get("url", ""),
        title=example.get("title", ""),
        content=example.get("before", "").replace("⏎", "\n"),
        enclosures=enclosures,
    )

    changed, warnings = apply_rewrites(entry, parse_rewrites(example["rule"]))

    assert changed.content.strip() == example.get("after", "").strip()
    assert changed.title == example.get("new title", example.get("title", ""))
    assert not warnings


@pytest.mark.parametrize("example", examples("address"), ids=lambda example: example["rule"])
def test_url_rewrite_examples_have_the_documented_result(example: dict[str, str]) -> None:
    rule = parse_url_rewrite(example["rule"], field="urlrewrite_rules")

    assert rule is not None
    assert rule.apply(example["before"], RuleBudget()) == example["after"]


@pytest.mark.parametrize("example", examples("scraper"), ids=lambda example: example["rule"])
def test_scraper_examples_have_the_documented_result(example: dict[str, str]) -> None:
    selector = validate_selector(example["rule"])

    assert selector is not None
    assert scrape(example["page"], selector) == example["result"]


def test_every_rewrite_rule_has_an_example() -> None:
    shown = {name for example in examples("rewrite") for name in re.findall(r"^\w+", example["rule"])}

    assert shown == NAMES


def test_every_filter_field_and_kind_of_date_has_an_example() -> None:
    rules = [example["rule"] for example in examples("filter")]

    assert {rule.split("=")[0] for rule in rules} == set(FilterField)
    dates = [rule.split("=")[1] for rule in rules if rule.startswith("EntryDate")]
    assert {date.split(":")[0] for date in dates} == set(DateKind)
