"""One service reads lists of entries: what it checks and keeps up to date holds on every surface."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidings
from support.people import Person
from support.publisher import Publisher
from tidings.base.errors import InvalidInput
from tidings.domain.entries.entries import EntryFilter, PageRequest

SOURCE = Path(tidings.__file__).parent


def test_a_new_entry_is_found_at_once(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Sun"])
    entry_filter = EntryFilter(search="rain")

    with alice.service.services.entries.listing.of(alice.id, entry_filter) as lists:
        assert [entry.title for entry in lists.rows(entry_filter, PageRequest())] == ["Rain"]
        assert lists.page(entry_filter, PageRequest()).total.number == 1


@pytest.mark.parametrize("field", ["feed_id", "category_id"])
def test_a_feed_or_category_of_another_user_is_unknown(field: str, alice: Person, bob: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Rain"])
    id_ = feed["id"] if field == "feed_id" else feed["category"]["id"]
    listing = bob.service.services.entries.listing

    with (
        pytest.raises(InvalidInput, match=f"There is no .* {id_}") as caught,
        listing.of(bob.id, EntryFilter(**{field: id_})),
    ):
        pass
    assert caught.value.field == field


def test_no_surface_lists_entries_or_updates_the_index_itself() -> None:
    own = ("entry_lists.page(", "entry_lists.rows(", ".catch_up(")
    surfaces = [*SOURCE.glob("api/*.py"), *SOURCE.glob("web/**/*.py")]
    assert {path.name: text for path in surfaces for text in own if text in path.read_text()} == {}
