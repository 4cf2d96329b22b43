"""What of an archive is applied besides feeds and entries."""

from __future__ import annotations

import pytest

from tidings.archives import records, validation
from tidings.archives.parts import (
    ALL_PARTS,
    DEFAULT_PARTS,
    PART_OF_FEED_SETTING,
    PART_OF_SETTING,
    ArchivePart,
    chosen_parts,
    split_settings,
)
from tidings.base.errors import InvalidInput


def test_every_setting_of_an_archive_has_its_part() -> None:
    assert set(PART_OF_SETTING) == validation.SETTINGS_OF_USER


def test_settings_of_feeds_that_need_a_question_are_in_archives() -> None:
    assert PART_OF_FEED_SETTING.keys() <= {*records.FEED_SETTINGS, *records.FEED_SECRETS}


def test_a_setting_without_a_part_is_never_applied() -> None:
    applied, left = split_settings({"sends_everything": True}, {"sends_everything": False}, ALL_PARTS)

    assert applied == {}
    assert [one.part for one in left] == ["security"]


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ((), DEFAULT_PARTS),
        (("",), DEFAULT_PARTS),
        (("none",), frozenset()),
        (("all",), ALL_PARTS),
        (("scripts, rules",), {ArchivePart.SCRIPTS, ArchivePart.RULES}),
        (("scripts", "settings"), {ArchivePart.SCRIPTS, ArchivePart.SETTINGS}),
    ],
)
def test_parts_are_chosen_by_name(words: tuple[str, ...], parts: frozenset[ArchivePart]) -> None:
    assert chosen_parts(words) == parts


@pytest.mark.parametrize("words", [("security",), ("all,none",), ("Scripts",), ("x" * 10_000,)])
def test_an_unknown_part_is_an_error_that_lists_them(words: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match=r"apply: .* is none of settings, rules, scripts, integrations, all, none"):
        chosen_parts(words)
