"""Earlier versions of entries: which are kept, for how long, and who sees them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.history.store import MAX_SIZE, MAX_VERSIONS
from tidings.history.tables import entry_versions

PATH = "/changing.xml"
ITEM = "<item><title>{title}</title><guid>{guid}</guid>{more}<description>{text}</description></item>"


def publish(site: Publisher, *items: tuple[str, str], more: str = "") -> None:
    """Serve a feed of items with these titles and texts."""
    written = "".join(
        ITEM.format(title=title, text=text, guid=number, more=more) for number, (title, text) in enumerate(items)
    )
    site.serve(PATH, f"<rss version='2.0'><channel><title>Feed</title>{written}</channel></rss>")


def subscribe(person: Person, site: Publisher, **settings: Any) -> tuple[int, int]:
    """Return the ids of a new feed and of its newest entry."""
    feed_id = int(person.post("/v1/feeds", {"feed_url": site.url(PATH), **settings})["feed_id"])
    return feed_id, int(person.entries(feed_id=feed_id, order="id", direction="desc")[0]["id"])


def change(person: Person, site: Publisher, feed_id: int, *items: tuple[str, str], more: str = "") -> None:
    publish(site, *items, more=more)
    person.put(f"/v1/feeds/{feed_id}/refresh")


def versions(person: Person, entry_id: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = person.get(f"/v1/entries/{entry_id}/versions")
    return found


def test_a_changed_entry_keeps_what_it_said_before(alice: Person, site: Publisher) -> None:
    publish(site, ("Rain", "Take an umbrella."))
    feed_id, entry_id = subscribe(alice, site)
    assert versions(alice, entry_id) == []

    change(alice, site, feed_id, ("Rain today", "Take boots and an umbrella."))

    (one,) = versions(alice, entry_id)
    assert (one["version"], one["title"]) == (1, "Rain")
    found = alice.get(f"/v1/entries/{entry_id}/versions/1")
    assert found == one | {
        "content": "Take an umbrella.",
        "title_differences": "Rain <ins>today</ins>",
        "content_differences": "Take <ins>boots and</ins> an umbrella.",
    }
    assert alice.get(f"/v1/entries/{entry_id}")["content"] == "Take boots and an umbrella."


def test_the_last_five_versions_are_kept(alice: Person, site: Publisher) -> None:
    publish(site, ("Rain", "Text 0"))
    feed_id, entry_id = subscribe(alice, site)
    for number in range(1, MAX_VERSIONS + 3):
        change(alice, site, feed_id, ("Rain", f"Text {number}"))

    kept = versions(alice, entry_id)

    assert [one["version"] for one in kept] == [7, 6, 5, 4, 3]
    contents = [alice.get(f"/v1/entries/{entry_id}/versions/{one['version']}")["content"] for one in kept]
    assert contents == ["Text 6", "Text 5", "Text 4", "Text 3", "Text 2"]
    assert alice.call("GET", f"/v1/entries/{entry_id}/versions/2").status == 404


def test_other_entries_of_the_feed_have_no_version(alice: Person, site: Publisher) -> None:
    publish(site, ("Rain", "one"), ("Snow", "two"))
    feed_id, _ = subscribe(alice, site)
    change(alice, site, feed_id, ("Rain", "one"), ("Snow", "three"))

    counts = {one["title"]: len(versions(alice, one["id"])) for one in alice.entries(feed_id=feed_id)}

    assert counts == {"Rain": 0, "Snow": 1}


def test_a_change_without_other_words_is_not_kept(alice: Person, site: Publisher) -> None:
    publish(site, ("Rain", "&lt;p&gt;An &lt;em&gt;umbrella&lt;/em&gt;&lt;/p&gt;"))
    feed_id, entry_id = subscribe(alice, site)

    change(alice, site, feed_id, ("Rain", "&lt;p&gt;An &lt;b&gt;umbrella&lt;/b&gt;&lt;/p&gt;"))
    change(alice, site, feed_id, ("Rain", "&lt;p&gt;An umbrella&lt;/p&gt;"), more="<category>rain</category>")

    assert alice.get(f"/v1/entries/{entry_id}")["tags"] == ["rain"]
    assert versions(alice, entry_id) == []


def test_a_very_long_article_is_not_kept(alice: Person, site: Publisher) -> None:
    publish(site, ("Rain", "rain " * (MAX_SIZE // 5 + 1)))
    feed_id, entry_id = subscribe(alice, site)
    change(alice, site, feed_id, ("Rain", "dry"))
    assert versions(alice, entry_id) == []


def test_a_feed_can_do_without_versions(alice: Person, site: Publisher) -> None:
    publish(site, ("Rain", "one"))
    feed_id, entry_id = subscribe(alice, site)
    alice.put(f"/v1/feeds/{feed_id}", {"discard_versions": True}, status=201)

    change(alice, site, feed_id, ("Rain", "two"))

    assert versions(alice, entry_id) == []


def test_what_the_user_wrote_is_no_version_of_the_publisher(alice: Person, site: Publisher) -> None:
    publish(site, ("Rain", "one"))
    feed_id, entry_id = subscribe(alice, site)
    alice.put(f"/v1/entries/{entry_id}", {"title": "My rain", "content": "<p>mine</p>"}, status=201)

    change(alice, site, feed_id, ("Rain today", "two"))

    assert versions(alice, entry_id) == []


def test_versions_go_with_their_entry(alice: Person, site: Publisher) -> None:
    publish(site, ("Rain", "one"))
    feed_id, entry_id = subscribe(alice, site)
    change(alice, site, feed_id, ("Rain", "two"))
    stored = select(func.count()).where(entry_versions.c.user_id == alice.id)
    with alice.service.services.reading() as db:
        assert db.scalar(stored) == 1

    alice.delete(f"/v1/feeds/{feed_id}")

    with alice.service.services.reading() as db:
        assert db.scalar(stored) == 0
    assert alice.call("GET", f"/v1/entries/{entry_id}/versions").status == 404


def test_a_stranger_sees_no_versions(alice: Person, bob: Person, site: Publisher) -> None:
    publish(site, ("Rain", "one"))
    feed_id, entry_id = subscribe(alice, site)
    change(alice, site, feed_id, ("Rain", "two"))

    assert bob.call("GET", f"/v1/entries/{entry_id}/versions").status == 404
    assert bob.call("GET", f"/v1/entries/{entry_id}/versions/1").status == 404
    assert alice.call("GET", f"/v1/entries/{entry_id}/versions/x").status == 400


def test_the_page_of_an_entry_leads_to_what_changed(alice: Person, reader: Visitor, site: Publisher) -> None:
    publish(site, ("Rain", "Take an umbrella."))
    feed_id, entry_id = subscribe(alice, site)
    assert "/versions/" not in reader.page(f"/entries/{entry_id}")
    change(alice, site, feed_id, ("Rain", "Take an &lt;script&gt;anorak&lt;/script&gt; umbrella."))
    change(alice, site, feed_id, ("Rain &lt;i&gt;", "Take boots."))

    assert f'href="/entries/{entry_id}/versions/1"' in reader.page(f"/entries/{entry_id}")
    page = reader.page(f"/entries/{entry_id}/versions/1")

    assert "Take <del>an umbrella.</del> <ins>boots.</ins>" in page
    assert "Rain <ins>&lt;i&gt;</ins>" in page
    assert reader.get(f"/entries/{entry_id}/versions/9").status == 404
