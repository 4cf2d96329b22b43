"""The tree of categories: places, paths and the titles that apps show, without a database."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.base.errors import InvalidInput
from tidings.base.text import normalize_for_search
from tidings.domain.feeds.categories import (
    MAX_DEPTH,
    Category,
    CategoryExists,
    CategoryTree,
    check_place,
    name_from_app,
    split_names,
    with_app_titles,
    with_paths,
    with_split_names,
    without,
)

# News / Europe / France, News / Asia, Tech / Europe
NEWS, EUROPE, FRANCE, ASIA, TECH, ITS = range(1, 7)


def category(number: int, name: str, parent_id: int | None = None, **more: Any) -> Category:
    return Category(number, 1, "", more.pop("hide_globally", False), parent_id, name)


TREE = [
    category(NEWS, "News"),
    category(EUROPE, "Europe", NEWS),
    category(FRANCE, "France", EUROPE),
    category(ASIA, "Asia", NEWS),
    category(TECH, "Tech"),
    category(ITS, "Europe", TECH),
]


def titles(categories: list[Category], style: str) -> dict[int, str]:
    return {one.id: one.title for one in with_app_titles(categories, style)}


def changed(number: int, **values: Any) -> list[Category]:
    return [
        Category(one.id, 1, "", False, values.get("parent_id", one.parent_id), values.get("name", one.name))
        if one.id == number
        else one
        for one in TREE
    ]


def test_a_tree_is_walked_by_name_with_what_is_below_after_each() -> None:
    walked = [(one.id, depth) for one, depth in CategoryTree(TREE).walk()]

    assert walked == [(NEWS, 1), (ASIA, 2), (EUROPE, 2), (FRANCE, 3), (TECH, 1), (ITS, 2)]
    assert CategoryTree(TREE).with_below(NEWS) == [NEWS, ASIA, EUROPE, FRANCE]
    assert CategoryTree(TREE).summed({NEWS: 1, FRANCE: 10, TECH: 100}) == {
        NEWS: 11, EUROPE: 10, FRANCE: 10, ASIA: 0, TECH: 100, ITS: 0,
    }  # fmt: skip


def test_apps_see_paths_or_names_and_a_path_where_a_name_is_taken() -> None:
    assert titles(TREE, "path") == {
        NEWS: "News", EUROPE: "News / Europe", FRANCE: "News / Europe / France", ASIA: "News / Asia", TECH: "Tech",
        ITS: "Tech / Europe",
    }  # fmt: skip
    assert titles(TREE, "name") == {
        NEWS: "News", EUROPE: "Europe", FRANCE: "France", ASIA: "Asia", TECH: "Tech", ITS: "Tech / Europe",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("number", "values", "message"),
    [
        (NEWS, {"parent_id": FRANCE}, "below itself"),
        (NEWS, {"parent_id": NEWS}, "below itself"),
        (EUROPE, {"parent_id": TECH}, "already exists"),
        (ITS, {"parent_id": NEWS}, "already exists"),
        (ASIA, {"name": "EUROPE"}, "already exists"),
        (TECH, {"name": "news / asia"}, "already exists"),
        (NEWS, {"name": "n" * 495}, "too long together"),
    ],
)
def test_a_place_that_a_category_cannot_have_is_refused(number: int, values: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_place(changed(number, **values), number)


def test_categories_are_eight_deep_and_what_is_below_counts() -> None:
    line = [category(n, f"c{n}", n - 1 if n > 1 else None) for n in range(1, MAX_DEPTH + 1)]
    check_place(line, MAX_DEPTH)

    with pytest.raises(InvalidInput, match="8 deep"):
        check_place([*line, category(99, "ninth", MAX_DEPTH)], 99)
    moved = [category(100, "new top"), category(1, "c1", 100), *line[1:]]
    with pytest.raises(InvalidInput, match="8 deep"):
        check_place(moved, 1)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("News / France", "France"),
        ("news / asia", "asia"),
        ("Africa", "Africa"),
        ("Tech / Africa", "Africa"),
        ("News / ", "News / "),
        ("News / Asia / East", "Asia / East"),
    ],
)
def test_an_app_renames_the_last_part_of_a_path(title: str, name: str) -> None:
    shown = next(one for one in with_app_titles(TREE, "path") if one.id == ASIA)

    assert name_from_app(shown, title) == name
    assert name_from_app(shown, shown.title) == "Asia"


def test_at_the_top_a_title_of_an_app_is_the_name() -> None:
    assert name_from_app(Category(1, 1, "News / Tech", False, None, "News / Tech"), "News / Techno") == "News / Techno"


def test_what_is_below_a_deleted_category_moves_up_and_keeps_its_path_where_its_name_is_taken() -> None:
    kept = [one for one in [*TREE, category(7, "asia")] if one.id != NEWS]

    moved = {one.id: (one.parent_id, one.name) for one in without(kept, TREE[0])}

    assert moved[EUROPE] == (None, "Europe")
    assert moved[FRANCE] == (EUROPE, "France")
    assert moved[ASIA] == (None, "News / Asia")
    assert moved[7] == (None, "asia")


def test_paths_make_the_categories_that_are_missing() -> None:
    new, ids = with_paths(TREE, [("news", "EUROPE", "Spain"), ("Tech",), ("A / B", "C"), ("a", "b")], user_id=1)

    assert [(one.id, one.parent_id, one.name) for one in new] == [
        (-1, EUROPE, "Spain"), (-2, None, "A / B"), (-3, -2, "C"),
    ]  # fmt: skip
    assert list(ids.values()) == [-1, TECH, -3, -2]


NAMES = st.sampled_from(["a", "b", "A", "a / b", "c"])


@pytest.mark.slow
@given(
    paths=st.lists(st.lists(NAMES, min_size=1, max_size=11), max_size=12),
    more=st.lists(st.lists(NAMES, min_size=1, max_size=11), max_size=12),
    style=st.sampled_from(["path", "name"]),
)
def test_whatever_is_made_of_paths_is_a_tree_with_unique_paths_and_titles(
    paths: list[list[str]], more: list[list[str]], style: str
) -> None:
    stored: list[Category] = []
    for each in (paths, more):
        new, ids = with_paths(stored, each, user_id=1)
        numbers = {one.id: len(stored) + place for place, one in enumerate(new, 1)}
        stored += [
            Category(numbers[one.id], 1, "", False, numbers.get(one.parent_id or 0, one.parent_id), one.name)
            for one in new
        ]
        assert set(ids) == set(map(tuple, each))

    tree = CategoryTree(stored)
    assert all(depth <= MAX_DEPTH for _, depth in tree.walk())
    assert len(list(tree.walk())) == len(stored)
    assert len({normalize_for_search(tree.path(one.id)) for one in stored}) == len(stored)
    titled = with_app_titles(stored, style)
    assert len({normalize_for_search(one.title) for one in titled}) == len(stored)
    for one in stored:
        try:
            check_place(stored, one.id)
        except CategoryExists:  # a path was made twice
            raise AssertionError from None
    again, _ = with_paths(stored, [*paths, *more], user_id=1)
    assert again == []


@pytest.mark.slow
@given(names=st.lists(st.lists(NAMES, min_size=1, max_size=10), max_size=12))
def test_a_tree_of_names_keeps_every_path(names: list[list[str]]) -> None:
    stored: list[Category] = []
    for parts in names:
        name = " / ".join(parts)
        if all(normalize_for_search(one.name) != normalize_for_search(name) for one in stored):
            stored.append(category(len(stored) + 1, name))
    before = titles(stored, "path")

    new, moved = with_split_names(stored, user_id=1)
    numbers = {one.id: len(stored) - one.id for one in new}
    after = [
        Category(numbers.get(one.id, one.id), 1, "", False, numbers.get(one.parent_id or 0, one.parent_id), one.name)
        for one in (*moved, *new)
    ]

    shown = titles(after, "path")
    # What is the same but for case has one name above.
    assert {number: shown[number].casefold() for number in before} == {
        number: title.casefold() for number, title in before.items()
    }
    assert all(depth <= MAX_DEPTH for _, depth in CategoryTree(after).walk())
    assert split_names(after) == [] or max(len(one.split(" / ")) for one in before.values()) > MAX_DEPTH
