"""An entry, read in its list."""

from __future__ import annotations

import re
from html import escape

import pytest
from sqlalchemy import update

from support.people import Person, rss
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.storage.schema.archive import entry_contents
from web.pages.test_entry_lists import link, titles


def status(person: Person, title: str) -> str:
    return next(str(entry["status"]) for entry in person.entries() if entry["title"] == title)


def test_opening_an_entry_marks_it_read_and_updates_counts(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Sun"])
    address = link(reader.page("/unread"), "Rain")

    page = reader.page(address)

    assert "About Rain." in page
    assert status(alice, "Rain") == "read"
    assert '<span class="name">Unread</span><span class="count" data-count="unread">1</span>' in page
    # It stays where it was in the list beside it, although it is no longer unread.
    assert titles(page) == ["Rain", "Sun"]


def test_opening_an_entry_leaves_it_unread_if_the_user_disabled_that(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    alice.put(f"/v1/users/{alice.id}", {"mark_read_on_view": False}, status=201)
    alice.has_feed(site, ["Rain"])

    reader.page(link(reader.page("/unread"), "Rain"))

    assert status(alice, "Rain") == "unread"


@pytest.mark.parametrize("headers", [{"Sec-Purpose": "prefetch"}, {"Purpose": "prefetch"}], ids=str)
def test_a_prefetch_of_the_browser_leaves_an_entry_unread(
    reader: Visitor, alice: Person, site: Publisher, headers: dict[str, str]
) -> None:
    alice.has_feed(site, ["Rain"])
    address = link(reader.page("/unread"), "Rain")

    assert reader.get(address, headers=headers).status == 200
    assert reader.get(address, method="HEAD").status == 200

    assert status(alice, "Rain") == "unread"


def test_the_address_that_an_entry_has_in_miniflux_leads_to_it(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    (entry,) = alice.entries()

    answer = reader.get(f"/unread/entry/{entry['id']}")

    assert (answer.status, answer.headers["location"]) == (303, f"/unread/{entry['id']}")


def test_previous_and_next_follow_the_list_of_the_entry(reader: Visitor, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One", "Two", "Three", "Four"])
    base = f"/feeds/{feed['id']}"
    page = reader.page(link(reader.page(f"{base}?show=all"), "One"))
    seen = []
    for _ in range(3):
        match = re.search(r'rel="next" title="Next \(j\)"[^>]* href="([^"]+)"', page)
        assert match
        page = reader.page(match[1].replace("&amp;", "&"))
        seen += re.findall(r"<title>(\w+)", page)

    assert seen == ["Two", "Three", "Four"]
    assert not re.search(r'rel="next" title="Next \(j\)"[^>]* href=', page)
    previous = re.search(r'rel="prev" title="Previous \(k\)"[^>]* href="([^"]+)"', page)
    assert previous
    assert "<title>Three" in reader.page(previous[1].replace("&amp;", "&"))


def test_an_entry_is_only_in_lists_that_it_belongs_to(reader: Visitor, alice: Person, site: Publisher) -> None:
    first, second = alice.has_feed(site, ["Here"]), alice.has_feed(site, ["There"])
    other = alice.has_category()
    entry = next(entry for entry in alice.entries() if entry["title"] == "Here")

    assert reader.get(f"/feeds/{second['id']}/entries/{entry['id']}").status == 404
    assert reader.get(f"/categories/{other['id']}/entries/{entry['id']}").status == 404
    assert status(alice, "Here") == "unread"
    assert reader.get(f"/feeds/{first['id']}/entries/{entry['id']}").status == 200
    assert reader.get(f"/entries/{entry['id']}").status == 200


def test_a_form_sets_a_state_and_does_not_toggle_it(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    entry_id = alice.entries()[0]["id"]
    reader.page("/unread")

    for _ in range(2):
        answer = reader.post("/entries/marks", star=entry_id, back="/unread?after=1.1")
        assert answer.headers["location"] == "/unread?after=1.1"
        assert alice.entries()[0]["starred"]
    reader.post("/entries/marks", unstar=entry_id, read=entry_id)
    assert (alice.entries()[0]["starred"], alice.entries()[0]["status"]) == (False, "read")
    reader.post("/entries/marks", unread=entry_id)
    assert alice.entries()[0]["status"] == "unread"
    assert reader.post("/entries/marks", star="x").status == 400
    assert reader.post("/entries/marks", star=entry_id, back="//evil.example").headers["location"] == "/"


def test_saving_without_an_integration_says_what_to_do(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    entry_id = alice.entries()[0]["id"]
    reader.page("/unread")

    assert "There is no third-party integration enabled" in reader.follow(
        reader.post("/entries/marks", save=entry_id, back="/unread")
    )


def test_enclosures_are_listed_with_a_player(reader: Visitor, alice: Person, site: Publisher) -> None:
    item = (
        "<item><title>Episode</title><link>https://example.org/1</link><description>x</description>"
        '<enclosure url="https://example.org/a%20b.mp3?x=1&amp;y=2" type="audio/mpeg" length="1048576"/></item>'
    )
    site.serve("/pod.xml", f'<rss version="2.0"><channel><title>Pod</title>{item}</channel></rss>')
    alice.post("/v1/feeds", {"feed_url": site.url("/pod.xml")})

    page = reader.page(link(reader.page("/unread"), "Episode"))

    assert '<audio controls preload="none" src="https://example.org/a%20b.mp3?x=1&amp;y=2"' in page
    assert "1.0 MB" in page


def test_a_feed_without_players_lists_enclosures_as_links(reader: Visitor, alice: Person, site: Publisher) -> None:
    kinds = {"a.mp3": "audio/mpeg", "b.mp4": "video/mp4", "c.png": "image/png"}
    attached = "".join(
        f'<enclosure url="https://example.org/{name}" type="{kind}" length="9"/>' for name, kind in kinds.items()
    )
    item = f"<item><title>Episode</title><link>https://example.org/1</link>{attached}</item>"
    site.serve("/pod.xml", f'<rss version="2.0"><channel><title>Pod</title>{item}</channel></rss>')
    alice.post("/v1/feeds", {"feed_url": site.url("/pod.xml"), "no_media_player": True})

    page = reader.page(f"/entries/{alice.entries()[0]['id']}")

    assert "<audio" not in page
    assert "<video" not in page
    assert all(f'<a href="https://example.org/{name}"' in page for name in kinds)
    assert '<img src="https://example.org/c.png"' in page


PLAYERS = """<p>Notes.</p><iframe src="https://www.youtube.com/embed/x1"></iframe>
<p><audio src="https://example.org/rain.mp3?a=1&amp;b=2"></audio></p>
<video poster="https://example.org/p.jpg"><source src="https://example.org/1.webm" type="video/webm">
<source src="https://example.org/1.mp4" type="video/mp4"></video>"""


def test_a_feed_without_players_has_links_in_place_of_those_in_its_texts_too(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    item = f"<item><title>Film</title><link>https://example.org/1</link><description>{escape(PLAYERS)}</description></item>"
    site.serve("/films.xml", f'<rss version="2.0"><channel><title>Films</title>{item}</channel></rss>')
    feed = alice.post("/v1/feeds", {"feed_url": site.url("/films.xml")})
    entry_id = alice.entries()[0]["id"]
    shown = reader.page(f"/entries/{entry_id}")
    assert all(tag in shown for tag in ("<iframe", "<audio", "<video"))

    alice.put(f"/v1/feeds/{feed['feed_id']}", {"no_media_player": True}, status=201)
    reader.page("/unread")
    reader.post(f"/entries/{entry_id}/share")

    for page in (reader.page(f"/entries/{entry_id}"), reader.page(f"/share/{share_code(alice, entry_id)}")):
        assert not any(tag in page for tag in ("<iframe", "<audio", "<video", "<source", "<template>"))
        for url, name in (
            ("https://www.youtube-nocookie.com/embed/x1", "Play from YouTube"),
            ("https://example.org/rain.mp3?a=1&amp;b=2", "rain.mp3"),
            ("https://example.org/1.webm", "1.webm"),
            ("https://example.org/1.mp4", "1.mp4"),
        ):
            assert f'<a href="{url}" rel="noopener noreferrer" referrerpolicy="no-referrer">{name}</a>' in page


@pytest.mark.parametrize(
    ("title", "cover", "name"),
    [
        ('title="Rain on &quot;tin&quot;"', '<b dir="auto">Rain on &quot;tin&quot;</b>', "Rain on &quot;tin&quot;"),
        ('title="YouTube video player"', "", "YouTube video player"),
        ("", "", "YouTube"),
    ],
)  # fmt: skip
def test_a_player_of_another_host_has_a_name_and_its_cover_says_what_it_plays(
    reader: Visitor, alice: Person, site: Publisher, title: str, cover: str, name: str
) -> None:
    frame = f'<iframe {title} src="https://www.youtube.com/embed/x1"></iframe>'
    item = (
        f"<item><title>Film</title><link>https://example.org/1</link><description>{escape(frame)}</description></item>"
    )
    site.serve("/films.xml", f'<rss version="2.0"><channel><title>Films</title>{item}</channel></rss>')
    alice.post("/v1/feeds", {"feed_url": site.url("/films.xml")})

    page = reader.page(f"/entries/{alice.entries()[0]['id']}")

    assert f"<span>{cover}Play from YouTube</span>" in page
    assert re.findall(r'<iframe [^>]*?title="([^"]*)"', page) == [name]


def share_code(person: Person, entry_id: int) -> str:
    return str(person.get(f"/v1/entries/{entry_id}")["share_code"])


PODCAST = """
<rss version="2.0" xmlns:podcast="https://podcastindex.org/namespace/1.0" xmlns:media="http://search.yahoo.com/mrss/"
 xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title>Pod</title><item>
<title>Episode</title><link>https://example.org/1</link><description>Notes of the episode.</description>
<itunes:duration>3720</itunes:duration>
<media:thumbnail url="https://example.org/cover.jpg"/>
<enclosure url="https://example.org/1.mp4" type="video/mp4" length="1048576"/>
<enclosure url="https://example.org/slides.pdf" type="application/pdf" length="9"/>
<podcast:transcript url="https://example.org/1.vtt" type="text/vtt"/>
<podcast:chapters url="https://example.org/chapters.json" type="application/json+chapters"/>
</item></channel></rss>
"""


def test_an_episode_has_its_player_above_the_notes_and_its_length_in_minutes(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    site.serve("/pod.xml", PODCAST.strip())
    alice.post("/v1/feeds", {"feed_url": site.url("/pod.xml")})

    page = reader.page(f"/entries/{alice.entries()[0]['id']}")
    players, notes = page.index("<video"), page.index("Notes of the episode.")

    assert "<bdi>62 minutes</bdi>" in page
    # The thumbnail is what the player shows first, and no attachment.
    assert page.count("https://example.org/cover.jpg") == 1
    assert 'poster="https://example.org/cover.jpg"' in page
    places = [page.index(text) for text in (">Transcript</a>", ">Chapters</a>", ">slides.pdf</bdi></a>")]
    assert players < min(places[:2]) < max(places[:2]) < notes < places[2]


def test_a_picture_of_an_entry_without_players_is_shown_and_not_listed(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    thumbnail = '<media:thumbnail url="https://example.org/cover.jpg"/>'
    item = f"<item><title>Rain</title><link>https://example.org/1</link><description>x</description>{thumbnail}</item>"
    name = 'xmlns:media="http://search.yahoo.com/mrss/"'
    site.serve("/feed.xml", f'<rss version="2.0" {name}><channel><title>Feed</title>{item}</channel></rss>')
    alice.post("/v1/feeds", {"feed_url": site.url("/feed.xml")})

    page = reader.page(f"/entries/{alice.entries()[0]['id']}")

    assert '<img src="https://example.org/cover.jpg"' in page
    assert ">cover.jpg</a>" not in page


def test_links_open_in_a_new_tab_if_the_user_wants_that(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    entry_id = alice.entries()[0]["id"]
    assert 'rel="noopener noreferrer external" target="_blank"' in reader.page(f"/entries/{entry_id}")

    alice.put(f"/v1/users/{alice.id}", {"open_external_links_in_new_tab": False}, status=201)

    assert 'external" target="_blank"' not in reader.page(f"/entries/{entry_id}")


def test_ids_that_an_older_version_stored_get_their_prefix_on_the_page(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    with alice.service.services.database.writing() as db:
        db.run(update(entry_contents).values(content='<a href="#body">a</a><h2 id="body">b</h2>'))

    page = reader.page(link(reader.page("/unread"), "Rain"))

    assert '<a href="#user-content-body">a</a><h2 id="user-content-body">b</h2>' in page


def test_minutes_of_notes_are_not_taken_for_the_length_of_an_episode(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    site.serve("/pod.xml", PODCAST.replace("<itunes:duration>3720</itunes:duration>", "").strip())
    alice.post("/v1/feeds", {"feed_url": site.url("/pod.xml")})
    entry = alice.entries()[0]

    assert entry["reading_time"] == 1
    assert "1 minute" not in reader.page(f"/entries/{entry['id']}")


@pytest.mark.parametrize("name", ["video", "audio"])
def test_players_in_a_text_load_nothing_before_they_are_played(
    reader: Visitor, alice: Person, site: Publisher, name: str
) -> None:
    """Otherwise the publisher sees who opens the article."""
    player = f"&lt;{name} preload=&quot;auto&quot; src=&quot;https://example.org/1.mp4&quot;&gt;&lt;/{name}&gt;"
    site.serve("/film.xml", rss(["Film"], site.url("/film.xml")).replace("About Film.", player))
    alice.post("/v1/feeds", {"feed_url": site.url("/film.xml")})

    page = reader.page(f"/entries/{alice.entries()[0]['id']}")

    assert f'<{name} preload="none"' in page
