"""What is marked between two versions of an article."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.content.cleaning import clean, text_of
from tidings.history.differences import MAX_EDITS, Change, compare, mark_differences, mark_text_differences

WORDS = st.lists(st.sampled_from(["rain", "snow", "sun", "&amp;", "&lt;b&gt;", "雨", "now"]), max_size=12)
PARTS = st.sampled_from(
    ["<p>{}</p>", "<ul><li>{}</li><li>x</li></ul>", "{}", "<h2>{}</h2>", "<p><b>{}</b>, <a href='/a'>y</a></p>",
     "<table><tr><td>{}</td></tr></table>", "<pre>{}</pre>", "<svg><text>{}</text></svg>", "<p>1<br>{}</p>"]
)  # fmt: skip
HTML = st.lists(st.tuples(PARTS, WORDS), max_size=5).map(
    lambda parts: clean("".join(part.format(" ".join(words)) for part, words in parts), base_url="https://x.example/")
)


@pytest.mark.parametrize(
    ("old", "new", "marked"),
    [
        ("<p>Rain today.</p>", "<p>Rain today.</p>", "<p>Rain today.</p>"),
        ("<p>Rain today.</p>", "<p>Snow today.</p>", "<p><del>Rain</del> <ins>Snow</ins> today.</p>"),
        ("<p>Rain today.</p>", "<p>Rain</p>", "<p>Rain <del>today.</del></p>"),
        ("<p>a b c</p>", "<p>b c</p>", "<p><del>a</del> b c</p>"),
        ("<p>a</p><p>b</p><p>c d</p>", "<p>c d</p>", "<p><del>a</del><br><del>b</del> c d</p>"),
        ("<p>a</p>", "<p>a <b>b c</b> d</p>", "<p>a <b><ins>b c</ins></b> <ins>d</ins></p>"),
        ("<p>a</p>", "", "<p><del>a</del></p>"),
        ("", "<p>a</p>", "<p><ins>a</ins></p>"),
        ("<p>今日は雨</p>", "<p>今日は雪</p>", "<p>今日は<del>雨</del><ins>雪</ins></p>"),
        ("<p>a &lt;b&gt;</p>", "<p>a &amp;</p>", "<p>a <del>&lt;b&gt;</del> <ins>&amp;</ins></p>"),
        ('<img src="/old"><p>a</p>', '<img src="/new"><p>a</p>', '<img src="/new"><p>a</p>'),
    ],
)
def test_words_are_marked(old: str, new: str, marked: str) -> None:
    assert mark_differences(old, new) == marked


def test_few_unchanged_words_within_a_rewritten_sentence_belong_to_it() -> None:
    old, new = "The mayor of the town will not resign today", "Her council of many people refused to resign today"
    assert mark_text_differences(old, new) == (
        "<del>The mayor of the town will not</del> <ins>Her council of many people refused to</ins> resign today"
    )


def test_a_title_is_not_html() -> None:
    assert mark_text_differences("a", "a <script>") == "a <ins>&lt;script&gt;</ins>"


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30))
def test_changes_lead_from_one_version_to_the_other(old: list[str], new: list[str]) -> None:
    made, done = [], 0
    for one in compare(old, new):
        made += [*old[done : one.old_start], *new[one.new_start : one.new_end]]
        done = one.old_end
    assert [*made, *old[done:]] == new


@given(HTML, HTML)
def test_the_result_has_the_words_of_both_and_is_clean(old: str, new: str) -> None:
    marked = mark_differences(old, new)

    unmarked = re.sub(r"<del>.*?</del>", " ", marked.replace("</del><br><del>", " "))
    unmarked = unmarked.replace("<ins>", "").replace("</ins>", "")
    # Removed words may stand within what was one word.
    assert text_of(unmarked).replace(" ", "") == text_of(new).replace(" ", "")
    # Cleaning clean HTML changes nothing.
    assert clean(marked, base_url="https://x.example/") == marked


def test_versions_that_differ_everywhere_are_compared_as_a_whole() -> None:
    count = MAX_EDITS + 1
    old, new = ["a", *(f"old{n}" for n in range(count)), "z"], ["a", *(f"new{n}" for n in range(count)), "z"]
    assert compare(old, new) == [Change(1, count + 1, 1, count + 1)]
