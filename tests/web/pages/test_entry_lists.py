"""Lists of entries, page by page, without script."""

from __future__ import annotations

import re
import time
from html import unescape

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


def test_the_day_stands_above_its_first_entry_and_not_again_on_the_next_page(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site, ["Old"])
    for title in ("Rain", "Sun", "Snow"):
        entry = {"url": f"https://a.example/{title}", "title": title, "status": "unread"}
        alice.post(f"/v1/feeds/{feed['id']}/entries/import", entry)
    alice.put(f"/v1/users/{alice.id}", {"entries_per_page": 2}, status=201)
    first = reader.page("/unread")
    following = re.search(r'href="([^"]+)" *rel="next"|rel="next" href="([^"]+)"', first)
    assert following

    second = reader.page(unescape(following[1] or following[2]))

    assert re.findall(r'<li class="day">(.+?)</li>', first) == ["Today"]
    assert "Today" not in re.findall(r'<li class="day">(.+?)</li>', second)


@pytest.mark.parametrize(("days", "left"), [(1, ["New"]), (7, ["Days old", "New"])])
def test_a_list_can_be_marked_read_from_an_age_on(
    reader: Visitor, alice: Person, site: Publisher, days: int, left: list[str]
) -> None:
    feed = alice.has_feed(site, [])
    for title, age in (("New", 0), ("Days old", 3), ("Weeks old", 20)):
        published = int(time.time()) - age * 86_400
        entry = {"url": f"https://a.example/{age}", "title": title, "status": "unread", "published_at": published}
        alice.post(f"/v1/feeds/{feed['id']}/entries/import", entry)
    page = reader.page(f"/feeds/{feed['id']}")
    assert 'name="older" value="1"' in page

    reader.post(f"/feeds/{feed['id']}/mark-read", older=days)

    assert sorted(titles(reader.page("/unread"))) == left
    assert reader.post(f"/feeds/{feed['id']}/mark-read", older=0).status == 400


def test_every_list_with_unread_entries_is_marked_read_from_an_age_on(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site, [])
    old = {"url": "https://a.example/old", "title": "Old rain", "status": "unread", "tags": ["rain"], "starred": True}
    published = int(time.time()) - 3 * 86_400
    entry_id = alice.post(f"/v1/feeds/{feed['id']}/entries/import", old | {"published_at": published})["id"]
    label = alice.post("/v1/labels", {"title": "Later"})["id"]
    alice.put(f"/v1/entries/{entry_id}", {"labels": [label]}, status=201)
    alice.post(f"/v1/entries/{entry_id}/share", status=201)
    view = alice.post("/v1/views", {"name": "Wet", "query": "rain"})["id"]
    lists = ["/unread", "/starred", "/shared", "/tagged?tag=rain", "/search?query=rain"]
    lists += [f"/feeds/{feed['id']}", f"/categories/{feed['category']['id']}", f"/labels/{label}", f"/views/{view}"]

    for path in lists:
        page = reader.page(path)
        assert titles(page) == ["Old rain"], path
        menu = page.partition('id="mark-older"')[2]
        form = menu.partition('aria-label="Mark as read"')
        assert 'name="older" value="1"' in form[2]
        assert 'name="older" value="7"' in form[2]
        address = unescape(form[0].rpartition('action="')[2].partition('"')[0])
        reader.post(address, older=7)
        assert alice.get(f"/v1/entries/{entry_id}")["status"] == "unread", path
        reader.post(address, older=1)
        assert alice.get(f"/v1/entries/{entry_id}")["status"] == "read", path
        alice.put("/v1/entries", {"entry_ids": [entry_id], "status": "unread"})


def has_articles(person: Person, site: Publisher, *bodies: str, **fields: object) -> list[int]:
    """Import unread entries, the first one as the newest, and return their ids."""
    feed = person.has_feed(site, [])
    now = int(time.time())
    return [
        person.post(
            f"/v1/feeds/{feed['id']}/entries/import",
            {"url": f"https://a.example/{number}", "title": f"Article {number}", "content": body, "status": "unread",
             "published_at": now - number, **fields},
        )["id"]
        for number, body in enumerate(bodies)
    ]  # fmt: skip


def test_a_stream_has_whole_articles_in_pages_of_bounded_size(reader: Visitor, alice: Person, site: Publisher) -> None:
    text = "<p>" + "Rain and wind. " * 2_000 + "</p><p>The end.</p>"
    has_articles(alice, site, text, text, text, "<p>Short.</p>", "<p>" + "Sun. " * 40_000 + "</p><p>Far end.</p>")
    reader.post("/unread/display", density="stream")
    page = reader.page("/unread")
    shown = []

    while following := re.search(r'rel="next" href="([^"]+)"', page.partition('class="pager"')[2]):
        shown.append((titles(page), page.count("The end.")))
        assert len(page) < 150_000
        page = reader.page(unescape(following[1]))

    assert shown == [(["Article 0", "Article 1"], 2)]
    assert titles(page) == ["Article 2", "Article 3", "Article 4"]
    assert "Far end." not in page
    assert page.count("Read the whole article") == 1
    assert 'id="pane"' not in page.partition('id="list"')[0]


def test_notes_of_articles_in_a_stream_lead_to_their_own(reader: Visitor, alice: Person, site: Publisher) -> None:
    note = '<p>Rain<a href="#n">1</a></p><p id="n">Note</p>'
    first, second = has_articles(alice, site, note, note)
    reader.post("/unread/display", density="stream")

    page = reader.page("/unread")

    for entry_id in (first, second):
        assert page.count(f'href="#user-content-{entry_id}-n"') == 1
        assert page.count(f'id="user-content-{entry_id}-n"') == 1


def test_a_magazine_has_larger_pictures_and_more_words(reader: Visitor, alice: Person, site: Publisher) -> None:
    words = " ".join(f"word{number}" for number in range(60))
    has_articles(alice, site, f'<p><img src="https://a.example/rain.png"></p><p>{words}</p>')
    assert "word30" not in reader.page("/unread")

    reader.post("/unread/display", density="magazine")

    page = reader.page("/unread")
    assert "word30" in page
    assert page.count('class="row-picture"') == 1


def test_a_finished_feed_leads_to_the_next_with_unread_entries(reader: Visitor, alice: Person, site: Publisher) -> None:
    first, second = (alice.has_feed(site, [name]) for name in ("Rain", "Sun"))
    reader.page("/unread")

    reader.post(f"/feeds/{first['id']}/mark-read")
    page = reader.page(f"/feeds/{first['id']}")

    assert re.search(rf'class="button main go-on" href="/feeds/{second["id"]}"', page)


def test_beside_a_list_stands_what_is_unread_or_the_facts_of_the_feed(
    reader: Visitor, alice: Person, bob: Person, site: Publisher
) -> None:
    category = alice.has_category("Weather")
    feed = alice.has_feed(site, ["Rain"], category_id=category["id"])

    assert f'<a class="line" href="/categories/{category["id"]}"><span class="name" dir="auto">Weather' in reader.page(
        "/unread"
    )
    assert "Last checked" in reader.page(f"/feeds/{feed['id']}")
    reader.post("/view", columns="list")
    assert "Last checked" not in reader.page(f"/feeds/{feed['id']}")


def test_a_row_has_the_picture_of_its_entry(reader: Visitor, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Old"])
    content = '<p><img src="https://a.example/rain.png"></p>'
    entry = {"url": "https://a.example/1", "title": "Rain", "status": "unread", "content": content}
    alice.post(f"/v1/feeds/{feed['id']}/entries/import", entry)

    page = reader.page("/unread")

    assert page.count('class="row-picture"') == 1
    assert page.count("pictured") == 1


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


@pytest.mark.parametrize("order", ["published_at", "created_at"])
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_pages_lead_back_to_the_beginning(
    reader: Visitor, alice: Person, site: Publisher, order: str, direction: str
) -> None:
    alice.put(
        f"/v1/users/{alice.id}",
        {"entries_per_page": 3, "entry_sorting_direction": direction, "entry_sorting_order": order},
        status=201,
    )
    alice.has_feed(site, [f"Item {number}" for number in range(8)])
    pages = [reader.page("/unread")]
    while following := re.search(r'rel="next" href="([^"]+)"', pages[-1]):
        pages.append(reader.page(unescape(following[1])))

    back = [pages[-1]]
    while previous := re.search(r'rel="prev" href="([^"]+)"', back[0]):
        back.insert(0, reader.page(unescape(previous[1])))
        assert 'rel="next"' in back[0]

    assert len(pages) == 3
    assert [titles(page) for page in back] == [titles(page) for page in pages]


@pytest.mark.parametrize("cursor", ["x", "1", "1.", ".1", "9" * 30 + ".1", "-1.1", "1.-1", "%D9%A3.1"])
def test_an_invalid_cursor_is_no_error(reader: Visitor, alice: Person, site: Publisher, cursor: str) -> None:
    alice.has_feed(site, ["One"])

    assert reader.get(f"/unread?after={cursor}").status == 200
    assert reader.get(f"/unread?before={cursor}").status == 200


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

    for density in ("compact", "comfortable", "cards", "magazine", "stream"):
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
