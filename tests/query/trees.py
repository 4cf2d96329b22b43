"""Random trees, texts and entries, all about the same few words so that they match now and then."""

from __future__ import annotations

from hypothesis import strategies as st

from tidings.query.intervals import parse_times
from tidings.query.model import (
    Attachment,
    Comparison,
    Has,
    Id,
    IdField,
    Is,
    Number,
    NumberField,
    Pattern,
    PatternField,
    State,
    Text,
    TextField,
    TimeField,
    Tree,
    all_of,
    any_of,
    negated,
)

WORDS = ("rain", "rains", "Snow", "hail", "Häuser", "e-mail", "東京", "or", "C++ code", "und so", "Relation")
PREFIXES = ("ra", "relatio", "sn", "Häu", "東")
NAMES = ("weather", "Tech", "news", "linux kernel", "a/b", 'odd "name"')
TIMES = (
    "2026", "2026-01", "2026-01-15", "2026-01-15T10:30", "2026-01..2026-02", "2026-02..", "..2026-01", ">2026-01",
    "<2026-02", "today", "yesterday", "..yesterday", "7d", ">1m", "14d..7d", "1y", "12h", "2026-01/P1W",
    "2026-01-15T10:30:00Z..2026-01-20T00+02:00",
)  # fmt: skip
EXPRESSIONS = ("^rain", "a.n", "[a-z]+/[0-9]", "snow|hail", r"\brain\b", "Rain", "\\d", "x/y")


def texts() -> st.SearchStrategy[Text]:
    plain = st.sampled_from((TextField.ANY, TextField.TITLE, TextField.TEXT, TextField.AUTHOR))
    named = st.sampled_from((TextField.FEED, TextField.CATEGORY))
    key = st.sampled_from([name.casefold() for name in NAMES])
    return st.one_of(
        st.builds(Text, st.sampled_from(WORDS), plain),
        st.builds(Text, st.sampled_from(PREFIXES), plain, is_prefix=st.just(True)),
        st.builds(Text, st.sampled_from(NAMES), named, is_prefix=st.booleans()),
        st.builds(Text, key, st.sampled_from((TextField.TAG, TextField.LABEL)), is_prefix=st.booleans()),
        st.builds(Text, st.sampled_from(("", "lin")), st.sampled_from((TextField.TAG, TextField.LABEL)), st.just(True)),
        st.builds(
            Text, st.sampled_from(("example", "/a", "b?c=d", "https", "e_ample", "%", "\\")), st.just(TextField.URL)
        ),
        st.builds(Text, st.sampled_from(("example.org", "sub.example.org", "nowhere.net")), st.just(TextField.SITE)),
        st.builds(Text, st.sampled_from(("de", "en", "pt-br", "ja")), st.just(TextField.LANGUAGE)),
    )


def leaves() -> st.SearchStrategy[Tree]:
    return st.one_of(
        texts(),
        st.builds(Id, st.sampled_from(IdField), st.integers(0, 5)),
        st.builds(Pattern, st.sampled_from(PatternField), st.sampled_from(EXPRESSIONS), st.booleans()),
        st.builds(Has, st.sampled_from(Attachment)),
        st.builds(Is, st.sampled_from(State)),
        st.builds(Number, st.sampled_from(NumberField), st.sampled_from(Comparison), st.integers(0, 8)),
        st.builds(parse_times, st.sampled_from(TimeField), st.sampled_from(TIMES)),
    )


def trees(max_leaves: int = 8) -> st.SearchStrategy[Tree]:
    def joined(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        several = st.lists(children, min_size=1, max_size=3)
        return st.one_of(several.map(all_of), several.map(any_of), children.map(negated))

    return st.recursive(leaves(), joined, max_leaves=max_leaves)
