"""Which entries the filter rules keep."""

from __future__ import annotations

import pytest

from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant
from tidings.content.rules.filters import FilterInput, Filters, apply_filters, parse_entry_list, parse_filters

# 2024-06-15, noon.
NOW = Instant(1_718_452_800 * SECOND)
NEW_YEAR_2020 = 1_577_836_800 * SECOND

ENTRY = FilterInput(
    url="https://example.org/ads/1",
    title="Rain tomorrow",
    comments_url="https://talk.example.org/9",
    content="<p>Bring a <b>coat</b></p>",
    author="Alice",
    tags=("Weather", "Local"),
    published_at=Instant(NOW - DAY),
)


def rules(block: str = "", keep: str = "", blocklist: str = "", keeplist: str = "") -> Filters:
    return Filters(
        block=parse_filters(block, field="block_filter_entry_rules"),
        keep=parse_filters(keep, field="keep_filter_entry_rules"),
        blocklist=parse_entry_list(blocklist, field="blocklist_rules"),
        keeplist=parse_entry_list(keeplist, field="keeplist_rules"),
    )


@pytest.mark.parametrize(
    ("rule", "is_hit"),
    [
        ("EntryTitle=tomorrow", True),
        ("EntryTitle=Tomorrow", False),
        ("EntryTitle=(?i)Tomorrow", True),
        ("EntryTitle=^tomorrow", False),
        ("EntryTitle=Alice", False),
        ("EntryURL=/ads/", True),
        ("EntryURL=talk", False),
        ("EntryCommentsURL=talk", True),
        ("EntryContent=<b>coat", True),
        ("EntryContent=Rain", False),
        ("EntryAuthor=^Alice$", True),
        ("EntryTag=^Local$", True),
        ("EntryTag=^Loc$", False),
        ("EntryTag=Weather.*Local", False),
        ("EntryTitle=a=b|Rain", True),
    ],
)
def test_a_field_rule_looks_at_its_field_only(rule: str, is_hit: bool) -> None:
    assert apply_filters(ENTRY, feed=rules(block=rule), now=NOW).is_kept is not is_hit
    assert apply_filters(ENTRY, feed=rules(keep=rule), now=NOW).is_kept is is_hit


@pytest.mark.parametrize(
    ("pattern", "published_at", "is_hit"),
    [
        ("future", NOW + 1, True),
        ("future", NOW, False),
        ("before:2020-01-01", NEW_YEAR_2020 - 1, True),
        ("before:2020-01-01", NEW_YEAR_2020, False),
        ("after:2020-01-01", NEW_YEAR_2020 + 1, True),
        ("after:2020-01-01", NEW_YEAR_2020, False),
        ("between:2020-01-01,2020-01-02", NEW_YEAR_2020, False),
        ("between:2020-01-01,2020-01-02", NEW_YEAR_2020 + HOUR, True),
        ("between:2020-01-01, 2020-01-02", NEW_YEAR_2020 + DAY, False),
        ("max-age:30d", NOW - 30 * DAY, False),
        ("max-age:30d", NOW - 30 * DAY - 1, True),
        ("max-age:5h", NOW - 5 * HOUR - 1, True),
        ("max-age:5m", NOW - 5 * MINUTE - 1, True),
        ("max-age:5s", NOW - 5 * SECOND - 1, True),
        ("max-age:999999999d", 0, False),
        ("before:2020-01-01", None, False),
        ("after:2020-01-01", None, True),
        ("max-age:1s", None, False),
        ("future", None, False),
    ],
)
def test_a_date_rule_excludes_its_limits(pattern: str, published_at: int | None, is_hit: bool) -> None:
    entry = FilterInput(published_at=None if published_at is None else Instant(published_at))

    assert apply_filters(entry, feed=rules(block=f"EntryDate={pattern}"), now=NOW).is_kept is not is_hit


@pytest.mark.parametrize("expression", ["/ads/", "^Rain", "Alice", "^Local$"])
def test_the_lists_look_at_url_title_author_and_tags(expression: str) -> None:
    assert not apply_filters(ENTRY, feed=rules(blocklist=expression), now=NOW).is_kept
    assert apply_filters(ENTRY, feed=rules(keeplist=expression), now=NOW).is_kept


@pytest.mark.parametrize("expression", ["coat", "talk", "rain"])
def test_the_lists_look_at_nothing_else(expression: str) -> None:
    assert apply_filters(ENTRY, feed=rules(blocklist=expression), now=NOW).is_kept
    assert not apply_filters(ENTRY, feed=rules(keeplist=expression), now=NOW).is_kept


HIT, MISS = "EntryTitle=Rain", "EntryTitle=Snow"


@pytest.mark.parametrize(
    ("user", "feed", "verdict"),
    [
        (rules(), rules(), (True, None)),
        (rules(block=HIT), rules(keep=HIT), (False, f"user block rule 1: {HIT}")),
        (
            rules(block=HIT),
            rules(block=HIT, blocklist="Rain"),
            (False, f"user block rule 1: {HIT}"),
        ),
        (
            rules(block=MISS),
            rules(block=f"{MISS}\n\n{HIT}"),
            (False, f"feed block rule 2: {HIT}"),
        ),
        (rules(keep=HIT), rules(blocklist="Rain"), (False, "feed block list: Rain")),
        (rules(), rules(keep=HIT, keeplist="Snow"), (True, f"feed keep rule 1: {HIT}")),
        (rules(keep=MISS), rules(keeplist="Rain"), (False, "no keep rule matches")),
        (rules(keep=MISS), rules(keep=HIT), (True, f"feed keep rule 1: {HIT}")),
        (rules(block=MISS), rules(keeplist="Rain"), (True, "feed keep list: Rain")),
        (rules(), rules(keeplist="Snow"), (False, "feed keep list: Snow")),
    ],
)
def test_block_comes_before_keep_and_user_before_feed(
    user: Filters, feed: Filters, verdict: tuple[bool, str | None]
) -> None:
    found = apply_filters(ENTRY, user=user, feed=feed, now=NOW)
    assert (found.is_kept, found.rule and found.rule.english()) == verdict


@pytest.mark.parametrize("text", ["EntryTitle=Snow\r\nEntryTitle=^Rain tomorrow$\r\n", "\n\n EntryTitle = ^Rain \n\n"])
def test_line_ends_of_every_kind_and_blank_lines_do_not_matter(text: str) -> None:
    assert not apply_filters(ENTRY, feed=rules(block=text), now=NOW).is_kept


def test_an_entry_without_tags_matches_no_tag_rule() -> None:
    assert apply_filters(FilterInput(), feed=rules(block="EntryTag=.*"), now=NOW).is_kept


def test_blanks_around_a_list_expression_do_not_matter() -> None:
    assert not apply_filters(ENTRY, feed=rules(blocklist=" ^Rain\r\n"), now=NOW).is_kept


@pytest.mark.parametrize(
    ("rule", "published"),
    [
        ("EntryTitle=off the cost", FilterInput(title="25% off\u00a0the\u202fcost")),
        (r"EntryTitle=off\sthe", FilterInput(title="25% off\u00a0the cost")),
        ("EntryTitle=off\u00a0the", FilterInput(title="25% off the cost")),
        ("EntryTitle=Entscheidung", FilterInput(title="Ent\u00adschei\u200bdung")),
        ("EntryTitle=don't", FilterInput(title="You don\u2019t say")),
        ("EntryTitle=don\u2019t", FilterInput(title="You don't say")),
        ("EntryTitle=e-mail - now", FilterInput(title="e\u2011mail \u2013 now")),
        ('EntryTitle="quoted"', FilterInput(title="A \u201cquoted\u201d word")),
        ("EntryAuthor=O'Hara", FilterInput(author="O\u2019Hara")),
        ("EntryTag=real time", FilterInput(tags=("news", "real\u00a0time"))),
        ("EntryContent=don't say off the", FilterInput(content="<p>don&rsquo;t say off&nbsp;the&#160;cost")),
    ],
)
def test_blanks_hyphens_and_apostrophes_match_as_people_type_them(rule: str, published: FilterInput) -> None:
    (parsed,) = parse_filters(rule, field="block_filter_entry_rules")

    assert parsed.matches(published, now=NOW)


def test_the_lists_match_blanks_as_people_type_them() -> None:
    blocklist = parse_entry_list("off the cost", field="blocklist_rules")

    decision = apply_filters(FilterInput(title="off\u00a0the cost"), feed=Filters(blocklist=blocklist), now=NOW)

    assert not decision.is_kept


def test_an_expression_that_names_a_sign_still_matches_it() -> None:
    (rule,) = parse_filters("EntryTitle=\u00a0|[\u2018-\u201f]", field="block_filter_entry_rules")

    assert rule.matches(FilterInput(title="a\u00a0b"), now=NOW)
    assert rule.matches(FilterInput(title="a\u201cb"), now=NOW)
