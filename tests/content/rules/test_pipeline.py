"""The steps that apply a feed's rules to its entries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tidings.base.times import Instant
from tidings.content.model import ParsedEntry
from tidings.content.rules.pipeline import (
    RuleResult,
    RuleTexts,
    apply_rules,
    compile_rules,
    filter_entry,
    rewrite_entry,
    rewrite_url,
    scrape_page,
)
from tidings.content.rules.rewrite import BY_HOST, builtin_rewrites

NOW = Instant(0)
ENTRY = ParsedEntry(hash="0" * 64, url="https://m.example.org/1", title="Rain", content="<p>One</p>\n")


def test_url_title_and_content_change_together() -> None:
    rules = compile_rules(
        RuleTexts(urlrewrite_rules='rewrite("//m\\."|"//www.")', rewrite_rules='nl2br, replace_title("Rain"|"Snow")')
    )

    applied = apply_rules(ENTRY, rules)

    changed = replace(ENTRY, url="https://www.example.org/1", title="Snow", content="<p>One</p><br>")
    assert applied == RuleResult(changed)
    assert rules.errors == ()


def test_rewrite_rules_see_the_new_url() -> None:
    rules = compile_rules(RuleTexts(urlrewrite_rules='rewrite("/1$"|"/1.pdf")', rewrite_rules="add_pdf_download_link"))

    assert "https://m.example.org/1.pdf" in apply_rules(ENTRY, rules).entry.content


@pytest.mark.parametrize("target", ["javascript:alert(1)", "ftp://a", "//a/b", "https://", "http://a b", "http://[a"])
def test_an_entry_keeps_its_url_if_the_new_one_is_invalid(target: str) -> None:
    rules = compile_rules(RuleTexts(urlrewrite_rules=f'rewrite("^.*$"|"{target}")'))

    applied = rewrite_url(ENTRY, rules)

    assert applied.entry == ENTRY
    assert len(applied.warnings) == 1


def test_a_title_is_not_emptied() -> None:
    rules = compile_rules(RuleTexts(rewrite_rules='replace_title(".*"|" ")'))

    assert rewrite_entry(ENTRY, rules).entry.title == "Rain"


def test_user_and_feed_filters_decide_together() -> None:
    user = compile_rules(RuleTexts(block_filter_entry_rules="EntryTitle=Snow"))
    feed = compile_rules(RuleTexts(keeplist_rules="Rain"))

    assert filter_entry(ENTRY, user=user, feed=feed, now=NOW).is_kept
    assert not filter_entry(replace(ENTRY, title="Rain, Snow"), user=user, feed=feed, now=NOW).is_kept
    assert not filter_entry(replace(ENTRY, title="Sun"), user=user, feed=feed, now=NOW).is_kept


def test_a_page_is_scraped_only_with_a_selector() -> None:
    page = "<p>One</p><p class=a>Two</p>"

    assert scrape_page(page, compile_rules(RuleTexts())) == (None, ())
    assert scrape_page(page, compile_rules(RuleTexts(scraper_rules=".a"))) == ('<p class="a">Two</p>', ())
    assert scrape_page(page, compile_rules(RuleTexts(scraper_rules="table"))) == (None, ())
    content, warnings = scrape_page("<div>" * 9_000, compile_rules(RuleTexts(scraper_rules="div")))
    assert (content, len(warnings)) == (None, 1)


def test_stored_rules_that_became_unusable_are_reported_and_the_others_work() -> None:
    rules = compile_rules(
        RuleTexts(
            scraper_rules="p[",
            rewrite_rules='no_such_rule, replace_title("("|"x"), nl2br, replace("a',
            urlrewrite_rules="?",
            blocklist_rules="(",
            keeplist_rules="(?!x)",
            block_filter_entry_rules="EntryDate=soon\nEntryTitle=Snow",
            keep_filter_entry_rules="Nothing=x",
        )
    )

    assert [(problem.field, problem.number) for problem in rules.errors] == [
        ("block_filter_entry_rules", 1),
        ("keep_filter_entry_rules", 1),
        ("blocklist_rules", 1),
        ("keeplist_rules", 1),
        ("urlrewrite_rules", 1),
        ("scraper_rules", 1),
        ("rewrite_rules", 4),
        ("rewrite_rules", 1),
        ("rewrite_rules", 2),
        ("rewrite_rules", 4),
    ]
    assert apply_rules(ENTRY, rules).entry == replace(ENTRY, content="<p>One</p><br>")
    assert filter_entry(ENTRY, feed=rules, now=NOW).is_kept
    assert not filter_entry(replace(ENTRY, title="Snow"), feed=rules, now=NOW).is_kept


@pytest.mark.parametrize("host", BY_HOST)
def test_built_in_rules_apply_to_a_site_and_its_subdomains(host: str) -> None:
    assert builtin_rewrites(f"https://{host}/1")
    assert builtin_rewrites(f"https://www.{host}/1")
    assert builtin_rewrites(f"https://sub.{host}/1")
    assert not builtin_rewrites(f"https://not{host}/1")
    assert not builtin_rewrites(f"https://example.org/{host}")


def test_a_feeds_own_rules_replace_the_built_in_ones() -> None:
    comic = replace(ENTRY, url="https://xkcd.com/1/", content='<img src="/1.png" title="Ha">\n')

    assert "Ha</p>" in rewrite_entry(comic, compile_rules(RuleTexts())).entry.content
    own = rewrite_entry(comic, compile_rules(RuleTexts(rewrite_rules="nl2br"))).entry.content
    assert own == '<img src="/1.png" title="Ha"><br>'
    broken = rewrite_entry(comic, compile_rules(RuleTexts(rewrite_rules="no_such_rule"))).entry.content
    assert broken == comic.content


texts = st.builds(RuleTexts, **{field: st.text(max_size=60) for field in RuleTexts.__struct_fields__})


@pytest.mark.slow
@given(texts=texts, title=st.text(), content=st.text(), url=st.text())
def test_stored_texts_never_stop_a_feed(texts: RuleTexts, title: str, content: str, url: str) -> None:
    rules = compile_rules(texts)
    entry = ParsedEntry(hash="0" * 64, url=url, title=title, content=content)

    filter_entry(entry, user=rules, feed=rules, now=NOW)
    apply_rules(entry, rules)
    scrape_page(content, rules)
