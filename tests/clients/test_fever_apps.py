"""Apps of the Fever API: the requests that each makes, in its order, and what it does with the responses.

Facts from the sources of Fluent Reader, Read You and elfeed-protocol, and from what servers report about the others.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from clients.library import Library, create_library, numbered, subscribe
from clients.shapes import filled, list_of, misfits, record, text, whole
from fever.apps import FORM, FeverApp, ids, sign_in
from support.people import Person, call
from support.publisher import Publisher

pytestmark = pytest.mark.slow

FEED = record(
    id=whole, favicon_id=whole, title=text, url=filled, site_url=text, is_spark=whole, last_updated_on_time=whole
)
ITEM = record(
    id=whole, feed_id=whole, title=text, author=text, html=text, url=text, is_saved=whole, is_read=whole,
    created_on_time=whole,
)  # fmt: skip
GROUPING = list_of(record(group_id=whole, feed_ids=filled), 1)
SHAPES = {
    "groups": list_of(record(id=whole, title=text), 1),
    "feeds": list_of(FEED, 1),
    "feeds_groups": GROUPING,
    "items": list_of(ITEM, 0),
    "favicons": list_of(record(id=whole, data=filled), 0),
    "total_items": whole,
    "api_version": whole,
    "auth": whole,
    "last_refreshed_on_time": whole,
    "unread_item_ids": text,
    "saved_item_ids": text,
}


@pytest.fixture
def library(alice: Person, site: Publisher) -> Library:
    created = create_library(alice, site)
    subscribe(alice, site, numbered(120), "Many")
    return created


def asked(app: FeverApp, query: str, **more: Any) -> dict[str, Any]:
    """The response, each member of which has the type that apps insist on."""
    found = app.get(query, **more)
    complaints = [line for name in found for line in misfits(found[name], SHAPES[name])]
    assert complaints == []
    return found


def paged(app: FeverApp, query: str, start: int, *, method: str = "POST", key_in: str = "form") -> list[int]:
    """Ids of pages until one is empty, each from the last id of the one before."""
    got: list[int] = []
    while True:
        page = asked(app, f"&items&{query}={got[-1] if got else start}", method=method, key_in=key_in)["items"]
        if not page:
            return got
        got += [item["id"] for item in page]


def test_reeder_logs_in_syncs_upwards_and_marks(alice: Person, library: Library) -> None:
    """Sends everything as a form; a login needs all three base members with numbers."""
    app = sign_in(alice)
    assert set(asked(app, "")) == {"api_version", "auth", "last_refreshed_on_time"}
    asked(app, "&groups")
    asked(app, "&feeds")
    asked(app, "&favicons")
    known = sorted(one["id"] for one in alice.entries(limit=1000))
    assert paged(app, "since_id", 0) == known
    assert ids(asked(app, "&unread_item_ids")["unread_item_ids"]) == [one for one in known if one != library.starred]
    assert ids(asked(app, "&saved_item_ids")["saved_item_ids"]) == [library.starred]

    app.mark(mark="item", id=library.entry, **{"as": "saved"})
    app.mark(mark="item", id=library.entry, **{"as": "read"})

    entry = alice.get(f"/v1/entries/{library.entry}")
    assert (entry["status"], entry["starred"]) == ("read", True)


@pytest.mark.parametrize("marks_in", ["get", "form"])
def test_unread_asks_for_ids_first_and_then_for_items(alice: Person, library: Library, marks_in: str) -> None:
    """Older versions mark with GET and send the key in the address."""
    app = sign_in(alice, marks_in=marks_in)
    wanted = ids(asked(app, "&unread_item_ids&saved_item_ids")["unread_item_ids"])
    got: list[int] = []
    for start in range(0, len(wanted), 50):
        batch = ",".join(map(str, wanted[start : start + 50]))
        got += [item["id"] for item in asked(app, f"&items&with_ids={batch}")["items"]]
    # In no order: it compares the ids with those that it has.
    assert sorted(got) == sorted(wanted)

    app.mark(mark="item", id=library.entry, **{"as": "read"})
    app.mark(mark="item", id=library.entry, **{"as": "read"})

    assert sorted(app.unread()) == sorted(one for one in wanted if one != library.entry)


def test_readkit_asks_for_everything_at_once_and_marks_a_group(alice: Person, library: Library) -> None:
    app = sign_in(alice, address="/fever")
    found = asked(app, "&groups&feeds&favicons&unread_item_ids&saved_item_ids")
    groups = {one["group_id"]: one["feed_ids"] for one in found["feeds_groups"]}
    assert groups[library.podcasts] == str(library.podcast)
    assert {one["id"] for one in found["feeds"]} == {int(n) for line in groups.values() for n in line.split(",")}

    app.mark(mark="group", id=library.podcasts, before=int(time.time()) + 1, **{"as": "read"})

    assert library.listened not in app.unread()
    assert library.entry in app.unread()


def test_fiery_feeds_marks_with_get_and_marks_everything(alice: Person, library: Library) -> None:
    app = sign_in(alice, marks_in="get", address="/api/fever.php")
    asked(app, "&groups&feeds", method="GET", key_in="query")
    assert len(paged(app, "max_id", 0, method="GET", key_in="query")) == 124

    app.mark(mark="item", id=library.entry, **{"as": "saved"})
    app.mark(mark="group", id=0, before=int(time.time()) + 1, **{"as": "read"})

    assert app.unread() == []
    assert app.saved() == sorted([library.entry, library.starred])


def test_fluent_reader_starts_from_the_largest_number_of_its_language(alice: Person, library: Library) -> None:
    """All queries are in the address, the form has the key and marks; it computes with ids, and splits texts."""
    app = sign_in(alice)
    for largest in (2**53 - 1, 2**31 - 1):
        assert len(paged(app, "max_id", largest)) == 124
    found = asked(app, "&feeds")
    assert all(isinstance(one["feed_ids"], str) for one in found["feeds_groups"])
    app.mark(**{"as": "read"}, mark="feed", id=library.feed, before=int(time.time()) + 1)

    assert library.entry not in app.unread()


def test_read_you_puts_marks_into_the_query_and_sends_enormous_times(alice: Person, library: Library) -> None:
    app = sign_in(alice, marks_in="query")
    asked(app, "&groups")
    asked(app, "&feeds")
    assert len(paged(app, "since_id", 0)) == 124

    app.mark(mark="feed", id=library.feed, before=2**63 // 1_000, **{"as": "read"})
    app.mark(mark="item", id=library.listened, **{"as": "saved"})

    assert library.entry not in app.unread()
    assert library.listened in app.saved()


def test_elfeed_fetches_by_ids_and_marks_in_the_form(alice: Person, library: Library) -> None:
    app = sign_in(alice)
    asked(app, "&feeds")
    starred = ids(asked(app, "&saved_item_ids")["saved_item_ids"])
    items = asked(app, f"&items&with_ids={','.join(map(str, starred))}")["items"]
    assert [item["id"] for item in items] == [library.starred]

    # To its address as it is, which has no `api`.
    for state in ("unsaved", "unread"):
        body = f"api_key={app.key}&mark=item&id={library.starred}&as={state}".encode()
        assert call(alice.service.url, "POST", "/fever/", body, {"Content-Type": FORM}).json()["auth"] == 1

    entry = alice.get(f"/v1/entries/{library.starred}")
    assert (entry["status"], entry["starred"]) == ("unread", False)
