"""The checker of shapes finds what it is there to find."""

from __future__ import annotations

from typing import Any

import pytest

from clients.shapes import (
    JsonShape,
    filled,
    flag,
    list_of,
    mapped,
    misfits,
    moment,
    nullable,
    number,
    record,
    small,
    text,
    whole,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("", text),
        ("x", filled),
        (True, flag),
        (0, whole),
        (2**31 - 1, small),
        (1.5, number),
        ("2026-11-21T10:00:00Z", moment),
        ("2026-11-21T10:00:00.25+01:00", moment),
        (None, nullable(text)),
        ("x", nullable(text)),
        ([], list_of(text, 0)),
        (["x"], list_of(text)),
        ({}, mapped(whole)),
        ({"7": 1}, mapped(whole)),
        ({"id": 1, "more": None}, record(id=small)),
    ],
)
def test_a_matching_value_has_no_misfits(value: Any, shape: JsonShape) -> None:
    assert misfits(value, shape) == []


@pytest.mark.parametrize(
    ("value", "shape", "complaint"),
    [
        (None, text, "$: 'None' is not a text"),
        ("", filled, "something in it"),
        (0, flag, "not a boolean"),
        (True, whole, "not a whole number"),
        (1.0, whole, "not a whole number"),
        (0, small, "2^31"),
        (2**31, small, "2^31"),
        (True, number, "not a number"),
        ("2026-11-21T10:00:00", moment, "zone"),
        ("yesterday", moment, "zone"),
        (None, moment, "zone"),
        (1, nullable(text), "not a text"),
        (None, list_of(text), "not a list"),
        ([], list_of(text), "0 items"),
        (["x", 1], list_of(text), "$[1]: '1' is not a text"),
        (None, mapped(whole), "not an object"),
        ({"x": 1}, mapped(whole), "'x' is not an id"),
        ({"7": None}, mapped(whole), "$.7"),
        ([], record(id=small), "not an object"),
        ({}, record(id=small), "$: id is missing"),
        ({"feed": {"id": None}}, record(feed=record(id=small)), "$.feed.id: 'None'"),
    ],
)
def test_a_misfit_is_reported_with_its_place(value: Any, shape: JsonShape, complaint: str) -> None:
    (found,) = misfits(value, shape)
    assert complaint in found
