"""Lists of entries, page by page, without script."""

from __future__ import annotations

import re

import pytest

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor

ROW = re.compile(r'<h2 class="row-title"[^>]*><a href="([^"]+)">(.+?)</a></h2>')


def titles(page: str) -> list[str]:
    """What a search found in them is not told apart here."""
    return [re.sub("</?mark>", "", title) for _, title in ROW.findall(page)]


def link(page: str, title: str) -> str:
    """The URL of an entry in a list."""
    return {shown: str(address) for address, shown in ROW.findall(page)}[title]


def test_every_list_shows_its_entries(reader: Visitor, alice: Person, site: Publisher) -> None:
    category = alice.has_category("Weather")
    feed = alice.has_feed(site, ["Rain", "Sun", "Snow"], category_id=category["id"])
    alice.has_feed(site, ["Elsewhere"])
    snow, sun, rain = (entry["id"] for entry in alice.entries(feed_id=feed["id"], order="published_at"))
    alice.put("/v1/entries", {"entry_ids": [sun], "status": "read"})
    alice.put("/v1/entries", {"entry_ids": [rain], "starred": True})

    assert sorted(titles(reader.page("/unread"))) == ["Elsewhere", "Rain", "Snow"]
    assert titles(reader.page("/starred")) == ["Rain"]
    assert titles(reader.page("/history")) == ["Sun"]
    assert titles(reader.page(f"/feeds/{feed['id']}")) == ["Rain", "Snow"]
    assert titles(reader.page(f"/feeds/{feed['id']}?show=all")) == ["Rain", "Sun", "Snow"]
    assert titles(reader.page(f"/categories/{category['id']}")) == ["Rain", "Snow"]
    assert titles(reader.page("/search?query=rain")) == ["Rain"]
    assert sorted(titles(reader.page("/search?query=rain+OR+snow"))) == ["Rain", "Snow"]
    assert titles(reader.page("/search")) == []
    assert snow


def test_lists_have_the_order_of_the_user(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["New", "Old"])
    assert titles(reader.page("/unread")) == ["New", "Old"]

    alice.put(f"/v1/users/{alice.id}", {"entry_sorting_direction": "asc"}, status=201)

    assert titles(reader.page("/unread")) == ["Old", "New"]


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/New_York"])
def test_an_entry_of_the_last_second_of_year_9999_is_shown(
    reader: Visitor, alice: Person, site: Publisher, zone: str
) -> None:
    feed = alice.has_feed(site, ["One"])
    late = {"url": "https://a.example/", "title": "Late", "published_at": 253_402_300_799}
    entry_id = alice.post(f"/v1/feeds/{feed['id']}/entries/import", {**late, "status": "unread"})["id"]
    alice.put(f"/v1/users/{alice.id}", {"timezone": zone}, status=201)

    assert "Late" in titles(reader.page("/unread"))
    assert "9999" in reader.page(f"/entries/{entry_id}")


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("order", ["published_at", "created_at"])
def test_pages_follow_each_other_without_gaps_also_when_entries_are_read_meanwhile(
    reader: Visitor, alice: Person, site: Publisher, order: str, direction: str
) -> None:
    alice.put(
        f"/v1/users/{alice.id}",
        {"entries_per_page": 3, "entry_sorting_direction": direction, "entry_sorting_order": order},
        status=201,
    )
    alice.has_feed(site, [f"Item {number}" for number in range(8)])
    expected = [entry["title"] for entry in alice.entries(order=order, direction=direction)]

    seen, address = [], "/unread"
    while address:
        page = reader.page(address)
        seen += titles(page)
        ids = [int(one) for one in re.findall(r'<li class="row[^"]*" id="e(\d+)"', page)]
        alice.put("/v1/entries", {"entry_ids": ids, "status": "read"})
        match = re.search(r'rel="next" href="([^"]+)"', page)
        address = match[1].replace("&amp;", "&") if match else ""

    assert seen == expected


@pytest.mark.parametrize("after", ["x", "1", "1.", ".1", "9" * 30 + ".1", "-1.1", "1.-1", "%D9%A3.1"])
def test_an_invalid_cursor_is_no_error(reader: Visitor, alice: Person, site: Publisher, after: str) -> None:
    alice.has_feed(site, ["One"])

    assert reader.get(f"/unread?after={after}").status == 200


def test_hidden_feeds_are_not_in_global_lists(reader: Visitor, alice: Person, site: Publisher) -> None:
    hidden = alice.has_feed(site, ["Hidden"], hide_globally=True)
    alice.has_feed(site, ["Shown"])

    page = reader.page("/unread")
    assert titles(page) == ["Shown"]
    assert "<title>(1) Unread" in page

    reader.post("/unread/mark-read")
    assert titles(reader.page("/unread")) == []
    assert titles(reader.page(f"/feeds/{hidden['id']}")) == ["Hidden"]


def test_marking_all_read_shows_the_number_of_entries(reader: Visitor, alice: Person, site: Publisher) -> None:
    category = alice.has_category()
    feed = alice.has_feed(site, ["One", "Two"], category_id=category["id"])
    alice.has_feed(site, ["Three"], category_id=category["id"])
    alice.has_feed(site, ["Four"])
    reader.page("/unread")

    assert "2 marked read" in reader.follow(reader.post(f"/feeds/{feed['id']}/mark-read"))
    assert "1 marked read" in reader.follow(reader.post(f"/categories/{category['id']}/mark-read"))
    assert "1 marked read" in reader.follow(reader.post("/unread/mark-read"))
    assert "Nothing was unread" in reader.follow(reader.post("/unread/mark-read"))


def test_text_of_publishers_is_escaped(reader: Visitor, alice: Person, site: Publisher) -> None:
    evil = "&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"
    feed = alice.has_feed(site, [evil])
    alice.put(f"/v1/feeds/{feed['id']}", {"title": '"><script>alert(2)</script>'}, status=201)
    entry = alice.entries()[0]

    for density in ("compact", "comfortable", "cards"):
        reader.page("/view")
        reader.post("/view", density=density)
        for address in ("/unread", f"/feeds/{feed['id']}", f"/feeds/{feed['id']}/entries/{entry['id']}?show=all"):
            text = reader.page(address)
            assert "<script>" not in text
            assert "onerror=alert" not in re.sub(r"&lt;.*?&gt;", "", text)
            alice.put("/v1/entries", {"entry_ids": [entry["id"]], "status": "unread"})


def test_lists_of_other_users_are_404(reader: Visitor, bob: Person, site: Publisher) -> None:
    category = bob.has_category("Secret")
    feed = bob.has_feed(site, ["Private"], category_id=category["id"])
    entry = bob.entries()[0]

    for address in (
        f"/feeds/{feed['id']}",
        f"/categories/{category['id']}",
        f"/entries/{entry['id']}",
        f"/unread/{entry['id']}",
        f"/feeds/{feed['id']}/entries/{entry['id']}",
        f"/categories/{category['id']}/entries/{entry['id']}",
        f"/search/{entry['id']}?query=private",
    ):
        answer = reader.get(address)
        assert answer.status == 404, address
        assert "Private" not in answer.body.decode()
    reader.page("/unread")
    reader.post("/entries/marks", read=entry["id"], star=entry["id"])
    assert reader.post(f"/feeds/{feed['id']}/mark-read").status == 404
    assert (bob.entries()[0]["status"], bob.entries()[0]["starred"]) == ("unread", False)


def test_an_account_with_many_feeds_shows_only_feeds_of_the_open_category(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    from tidings.web.sidebar import MAX_UNFOLDED_FEEDS

    large, other = alice.has_category("Large"), alice.has_category("Other")
    lines = "".join(
        f'<outline text="Feed {n}" xmlUrl="{site.url(f"/{n}.xml")}"/>' for n in range(MAX_UNFOLDED_FEEDS + 1)
    )
    opml = f'<opml version="2.0"><body><outline text="Large">{lines}</outline></body></opml>'
    assert alice.call("POST", "/v1/import", raw=opml.encode()).status == 201

    assert "Feed 7<" not in reader.page("/unread")
    assert "Feed 7<" not in reader.page(f"/categories/{other['id']}")
    assert "Feed 7<" in reader.page(f"/categories/{large['id']}")
