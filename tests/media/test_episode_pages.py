"""Chapters, transcripts and the queue of episodes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from support.people import Person
from support.publisher import Answer, Publisher, ReceivedRequest
from support.visitors import Visitor
from tidings.media import episode_parts

CHAPTERS = {"version": "1.2.0", "chapters": [{"startTime": 3723, "title": "Rain"}, {"startTime": 0, "title": "Hello"}]}
VTT = "WEBVTT\n\n00:01.000 --> 00:04.000\n<v Ada>Hello <script>x()</script> all.\n"
SIMPLE = """<psc:chapters version="1.2" xmlns:psc="http://podlove.org/simple-chapters">
<psc:chapter start="0" title="Start"/><psc:chapter start="00:05:00" title="Middle"/></psc:chapters>"""


def podcast(person: Person, site: Publisher, *insides: str, **settings: Any) -> list[dict[str, Any]]:
    """Subscribe to a podcast. insides: of its items. Returns the entries by title."""
    items = "".join(
        f"<item><title>Episode {number}</title><link>https://example.org/{number}</link>"
        f'<enclosure url="https://example.org/{number}.mp3" type="audio/mpeg" length="9"/>{inside}</item>'
        for number, inside in enumerate(insides, 1)
    )
    namespace = 'xmlns:podcast="https://podcastindex.org/namespace/1.0"'
    site.serve("/pod.xml", f'<rss version="2.0" {namespace}><channel><title>Pod</title>{items}</channel></rss>')
    person.post("/v1/feeds", {"feed_url": site.url("/pod.xml")} | settings)
    return sorted(person.entries(), key=lambda one: str(one["title"]))


def part(entry: dict[str, Any], mime_type: str) -> int:
    return next(int(one["id"]) for one in entry["enclosures"] if one["mime_type"] == mime_type)


def chapters_at(site: Publisher) -> str:
    return f'<podcast:chapters url="{site.url("/chapters.json")}" type="application/json+chapters"/>'


def transcript_at(site: Publisher, kind: str = "text/vtt") -> str:
    return f'<podcast:transcript url="{site.url("/transcript")}" type="{kind}"/>'


def places(page: str) -> list[str]:
    """Return the seconds to which links of chapters lead."""
    return re.findall(r'<a [^>]*data-at="([\d.]+)"', page)


def test_chapters_at_an_address_are_fetched_when_they_are_opened(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    asked = []

    def answer(seen: ReceivedRequest) -> Answer:
        asked.append(seen)
        return Answer(json.dumps(CHAPTERS).encode())

    site.script("/chapters.json", answer)
    (entry,) = podcast(alice, site, chapters_at(site))
    article = reader.page(f"/entries/{entry['id']}")
    assert asked == []
    assert f'href="/enclosures/{part(entry, "application/json+chapters")}/chapters"' in article

    page = reader.page(f"/enclosures/{part(entry, 'application/json+chapters')}/chapters")

    assert len(asked) == 1
    assert places(page) == ["0.0", "3723.0"]
    assert f'href="/entries/{entry["id"]}?t=3723"' in page
    assert "1:02:03" in page


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Answer(b"<html>"), "is not JSON"),
        (Answer(b"{}"), "has none"),
        (Answer(b"", status=404), "404"),
        (Answer(b" " * (episode_parts.MAX_CHAPTERS_BYTES + 1)), "larger than the limit"),
    ],
    ids=["no-json", "empty", "missing", "large"],
)
def test_chapters_that_cannot_be_shown_say_why_and_link_to_their_file(
    reader: Visitor, alice: Person, site: Publisher, answer: Answer, says: str
) -> None:
    site.script("/chapters.json", lambda _seen: answer)
    (entry,) = podcast(alice, site, chapters_at(site))

    response = reader.get(f"/enclosures/{part(entry, 'application/json+chapters')}/chapters")

    assert response.status == 404
    assert says in response.body.decode()
    assert f'href="{site.url("/chapters.json")}"' in response.body.decode()


def test_chapters_in_the_feed_are_in_the_article_and_follow_the_feed(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    (entry,) = podcast(alice, site, SIMPLE)

    page = reader.page(f"/entries/{entry['id']}")
    assert places(page) == ["0.0", "300.0"]

    later = SIMPLE.replace("00:05:00", "00:06:00")
    sound = '<enclosure url="https://example.org/1.mp3" type="audio/mpeg" length="9"/>'
    item = f"<item><title>Episode 1</title><link>https://example.org/1</link>{sound}{later}</item>"
    site.serve("/pod.xml", f'<rss version="2.0"><channel><title>Pod</title>{item}</channel></rss>')
    alice.put(f"/v1/feeds/{entry['feed_id']}/refresh")

    assert places(reader.page(f"/entries/{entry['id']}")) == ["0.0", "360.0"]


def test_a_transcript_is_cleaned_and_has_times(reader: Visitor, alice: Person, site: Publisher) -> None:
    site.serve("/transcript", VTT, headers={"Content-Type": "text/vtt"})
    (entry,) = podcast(alice, site, transcript_at(site))

    page = reader.page(f"/enclosures/{part(entry, 'text/vtt')}/transcript")

    assert "<b>Ada</b>" in page
    assert 'data-at="1.0"' in page
    assert "Hello x() all." in page


@pytest.mark.parametrize("charset", ["punycode", "idna", "unicode_escape", "base64", "no-such"])
def test_a_transcript_in_an_encoding_that_is_not_for_documents_is_read_as_utf_8(
    reader: Visitor, alice: Person, site: Publisher, charset: str
) -> None:
    site.serve(
        "/transcript", "WEBVTT\n\n00:01 --> 00:02\nTäglich", headers={"Content-Type": f"text/vtt; charset={charset}"}
    )
    (entry,) = podcast(alice, site, transcript_at(site))

    assert "Täglich" in reader.page(f"/enclosures/{part(entry, 'text/vtt')}/transcript")


def test_a_transcript_in_html_is_cleaned(reader: Visitor, alice: Person, site: Publisher) -> None:
    site.serve("/transcript", "<p onclick=x()>Hello<script>y()</script></p>", headers={"Content-Type": "text/html"})
    (entry,) = podcast(alice, site, transcript_at(site, "text/html"))
    assert '/transcript"' in reader.page(f"/entries/{entry['id']}")

    page = reader.page(f"/enclosures/{part(entry, 'text/html')}/transcript")

    assert "<p>Hello</p>" in page
    assert "y()" not in page


def test_parts_of_another_user_do_not_exist(reader: Visitor, bob: Person, site: Publisher) -> None:
    (entry,) = podcast(bob, site, chapters_at(site) + transcript_at(site))
    reader.page("/unread")

    for kind, name in (("application/json+chapters", "chapters"), ("text/vtt", "transcript")):
        assert reader.get(f"/enclosures/{part(entry, kind)}/{name}").status == 404
    assert reader.post("/queue", add=part(entry, "audio/mpeg")).status == 404


def queued(reader: Visitor) -> list[str]:
    return re.findall(r'<p class="name"><a [^>]*>([^<]+)</a>', reader.page("/queue"))


def test_the_queue_is_changed_without_scripts(reader: Visitor, alice: Person, site: Publisher) -> None:
    ids = [part(entry, "audio/mpeg") for entry in podcast(alice, site, "", "", "")]
    reader.page("/queue")

    for number in (0, 1):
        assert "Added" in reader.follow(reader.post("/queue", add=ids[number]))
    reader.post("/queue", next=ids[2])
    assert queued(reader) == ["Episode 3", "Episode 1", "Episode 2"]
    reader.post("/queue", up=ids[1])
    reader.post("/queue", down=ids[2])
    assert queued(reader) == ["Episode 2", "Episode 3", "Episode 1"]
    reader.post("/queue", up=ids[1])
    reader.post("/queue", add=ids[2])
    assert queued(reader) == ["Episode 2", "Episode 1", "Episode 3"]
    reader.post("/queue", remove=ids[0])
    reader.post("/queue", up=ids[0])
    assert queued(reader) == ["Episode 2", "Episode 3"]


def test_an_article_says_whether_its_episode_is_in_the_queue(reader: Visitor, alice: Person, site: Publisher) -> None:
    (entry,) = podcast(alice, site, "")
    article = f"/entries/{entry['id']}"
    assert "Add to queue" in reader.page(article)

    reader.post("/queue", add=part(entry, "audio/mpeg"), back=article)

    assert "Remove from the queue" in reader.page(article)


def test_what_cannot_be_played_is_not_put_into_the_queue(reader: Visitor, alice: Person, site: Publisher) -> None:
    (entry,) = podcast(alice, site, transcript_at(site))
    reader.page("/queue")

    assert "cannot be played" in reader.follow(reader.post("/queue", add=part(entry, "text/vtt")))
    assert reader.post("/queue", add="x").status == 400
    assert queued(reader) == []


def test_episodes_of_feeds_without_players_are_links_in_the_queue(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    (entry,) = podcast(alice, site, "")
    reader.page("/queue")
    reader.post("/queue", add=part(entry, "audio/mpeg"))
    assert "data-src" in reader.page("/queue")

    alice.put(f"/v1/feeds/{entry['feed_id']}", {"no_media_player": True}, status=201)

    assert "data-src" not in reader.page("/queue")
    assert queued(reader) == ["Episode 1"]


def test_most_letters_decide_in_which_direction_transcripts_chapters_and_the_queue_run(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    title = "Apple: مقال طويل عن الهاتف الجديد"
    first_line = "iPhone 17"
    site.serve("/transcript", f"WEBVTT\n\n00:01.000 --> 00:04.000\n{first_line}\n\n00:05.000 --> 00:09.000\n{title}\n")
    site.serve("/chapters.json", json.dumps({"version": "1.2.0", "chapters": [{"startTime": 0, "title": title}]}))
    (entry,) = podcast(alice, site, transcript_at(site) + chapters_at(site))
    alice.put(f"/v1/entries/{entry['id']}", {"title": title}, status=201)
    audio = part(entry, "audio/mpeg")
    reader.post("/queue", add=audio)

    transcript = reader.page(f"/enclosures/{part(entry, 'text/vtt')}/transcript")
    chapters = reader.page(f"/enclosures/{part(entry, 'application/json+chapters')}/chapters")
    queue = reader.page("/queue")
    article = reader.page(f"/entries/{entry['id']}")

    assert '<ol class="timed transcript" dir="rtl">' in transcript
    for page in (transcript, chapters, queue):
        assert f'dir="rtl">{title}' in page
    for page in (queue, article):
        assert f'data-title="{title}" data-dir="rtl"' in page


def offered(reader: Visitor, after: int) -> str:
    """Return the title that an empty queue offers after an episode; empty for none."""
    found = re.search(r'data-offer="Next: ([^"]+)"', reader.page(f"/queue?after={after}"))
    return found[1] if found else ""


def test_an_empty_queue_offers_the_next_unread_episode_of_the_feed(
    reader: Visitor, alice: Person, bob: Person, site: Publisher
) -> None:
    dated = [f"<pubDate>0{day} Nov 2026 10:00:00 GMT</pubDate>" for day in (1, 2, 3, 4)]
    episodes = podcast(alice, site, *dated)
    ids = [part(entry, "audio/mpeg") for entry in episodes]
    reader.page("/queue")
    assert [offered(reader, id_) for id_ in ids] == ["Episode 2", "Episode 3", "Episode 4", "Episode 3"]

    alice.put("/v1/entries", {"entry_ids": [episodes[2]["id"]], "status": "read"})
    assert [offered(reader, id_) for id_ in ids] == ["Episode 2", "Episode 4", "Episode 4", "Episode 2"]
    assert "Next: " not in reader.page("/queue")
    (others,) = podcast(bob, site, "")
    assert offered(reader, part(others, "audio/mpeg")) == ""
    assert reader.get("/queue?after=x").status == 400

    reader.post("/queue", add=ids[3])
    assert offered(reader, ids[0]) == ""
    reader.post("/queue", remove=ids[3])
    alice.put(f"/v1/feeds/{episodes[0]['feed_id']}", {"no_media_player": True}, status=201)
    assert offered(reader, ids[0]) == ""
