"""Sounds, played for real."""

from __future__ import annotations

import re
import struct
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from browser.page_checks import findings
from browser.readers import reading, wait_until
from cli.commands import eventually
from support.people import Person
from support.publisher import Answer, Publisher, ReceivedRequest
from support.running import RunningService

pytestmark = pytest.mark.slow

SECONDS, RATE = 200, 8_000


def silence() -> bytes:
    """A WAV file: one channel, one byte a sample."""
    samples = b"\x80" * (SECONDS * RATE)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, RATE, RATE, 1, 8)
    data = b"WAVE" + form + struct.pack("<4sI", b"data", len(samples)) + samples
    return struct.pack("<4sI", b"RIFF", len(data)) + data


SOUND = silence()


def part(seen: ReceivedRequest) -> Answer:
    """As servers of podcasts answer: a player that moves in a recording asks for the rest (RFC 9110, section 14)."""
    headers = {"Content-Type": "audio/wav", "Accept-Ranges": "bytes"}
    requested = re.match(r"bytes=(\d+)-(\d*)", seen.headers.get("range", ""))
    if requested is None:
        return Answer(SOUND, headers=headers)
    first, last = int(requested[1]), min(int(requested[2] or len(SOUND)), len(SOUND) - 1)
    span = {"Content-Range": f"bytes {first}-{last}/{len(SOUND)}"}
    return Answer(SOUND[first : last + 1], status=206, headers=headers | span)


PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


def item(site: Publisher, number: int, inside: str = "") -> str:
    """An episode with a sound. inside: more elements."""
    enclosure = f'<enclosure url="{site.url(f"/rain.wav?{number}")}" type="audio/wav" length="9"/>'
    link = f"<link>https://example.org/{number}</link>"
    return f"<item><title>Episode {number}</title>{link}{enclosure}{inside}</item>"


def serve_podcast(alice: Person, site: Publisher, *items: str) -> list[int]:
    """Return the ids of the entries by title."""
    site.script("/rain.wav", part)
    site.serve(
        "/podcast.xml",
        f"""<rss version="2.0" xmlns:podcast="https://podcastindex.org/namespace/1.0"
        xmlns:psc="http://podlove.org/simple-chapters"><channel><title>Podcast</title>{"".join(items)}</channel></rss>""",
    )
    alice.post("/v1/feeds", {"feed_url": site.url("/podcast.xml")})
    return [int(one["id"]) for one in sorted(alice.entries(), key=lambda one: str(one["title"]))]


def position(page: Page) -> float:
    return float(page.evaluate("document.querySelector('audio').currentTime"))


def is_playing(page: Page) -> bool:
    return bool(page.evaluate("!document.querySelector('audio').paused"))


@pytest.fixture
def episode(alice: Person, site: Publisher) -> int:
    """The id of an entry with a sound."""
    site.script("/rain.wav", part)
    enclosure = f'<enclosure url="{site.url("/rain.wav")}" type="audio/wav" length="9"/>'
    item = f"<item><title>Episode</title><link>https://example.org/1</link>{enclosure}</item>"
    site.serve("/pod.xml", f'<rss version="2.0"><channel><title>Pod</title>{item}</channel></rss>')
    alice.post("/v1/feeds", {"feed_url": site.url("/pod.xml")})
    return int(alice.entries()[0]["id"])


def test_a_recording_continues_at_the_stored_position_and_is_marked_read_at_its_end(
    browser: Browser, service: RunningService, alice: Person, episode: int
) -> None:
    enclosure = alice.get(f"/v1/entries/{episode}")["enclosures"][0]["id"]
    alice.put(f"/v1/enclosures/{enclosure}", {"media_progression": 42})
    wishes = {"media_playback_rate": 1.5, "mark_read_on_view": False, "mark_read_on_media_player_completion": True}
    alice.put(f"/v1/users/{alice.id}", wishes, status=201)

    def kept() -> int:
        return int(alice.get(f"/v1/enclosures/{enclosure}")["media_progression"])

    with reading(browser, service) as created:
        created.set_session(alice)
        page = created.go(f"/entries/{episode}")
        created.wait_for_part("player")
        sound = page.locator("audio")

        def play(from_s: float) -> None:
            sound.evaluate("sound => { sound.play() }")
            page.wait_for_function("from => document.querySelector('audio').currentTime > from", arg=from_s)

        # Thirty seconds on, before anything of it is loaded.
        player = page.locator(".player")
        player.get_by_title("Forward 30 seconds").click()
        play(72)
        assert sound.evaluate("sound => sound.playbackRate") == 1.5
        assert eventually(lambda: kept() >= 72, within_s=60)

        player.get_by_label("Speed").select_option("2")
        assert sound.evaluate("sound => sound.playbackRate") == 2
        sound.evaluate("sound => sound.pause()")
        before = sound.evaluate("sound => sound.currentTime")
        player.get_by_title("Back 15 seconds").click()
        assert sound.evaluate("sound => sound.currentTime") == pytest.approx(max(0, before - 15), abs=0.5)
        # Moved while it stands still.
        sound.evaluate("sound => { sound.currentTime = 20 }")
        assert eventually(lambda: kept() == 20, within_s=60)

        page.reload()
        created.wait_for_part("player")
        player.get_by_title("Back 15 seconds").click()
        player.get_by_title("Forward 30 seconds").click()
        play(31)
        created.go("/unread")
        assert eventually(lambda: 31 <= kept() < SECONDS, within_s=60)

        page = created.go(f"/entries/{episode}")
        created.wait_for_part("player")
        assert alice.entries()[0]["status"] == "unread"
        play(31)
        with page.expect_response("**/entries/marks"):
            sound.evaluate(f"sound => {{ sound.currentTime = {SECONDS - 1} }}")
        assert eventually(lambda: (kept(), alice.entries()[0]["status"]) == (0, "read"), within_s=60)


def test_without_a_connection_a_recording_plays_on_and_nothing_is_said(
    browser: Browser, service: RunningService, alice: Person, episode: int
) -> None:
    with reading(browser, service, has_worker=True) as created:
        created.set_session(alice)
        page = created.go(f"/entries/{episode}")
        created.wait_for_part("player")
        sound = page.locator("audio")
        sound.evaluate("sound => { sound.play() }")
        page.wait_for_function("() => document.querySelector('audio').readyState === 4")
        created.loses_connection = True
        created.context.set_offline(True)
        with page.expect_event("requestfailed", lambda request: request.url.endswith("/position")):
            sound.evaluate("sound => { sound.currentTime = 31; sound.pause() }")
        page.wait_for_timeout(100)

        expect(page.locator("#notice")).to_be_empty()


def test_in_three_columns_it_plays_on_while_other_articles_are_read(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    first, second = serve_podcast(alice, site, item(site, 1), item(site, 2))

    with reading(browser, service, viewport={"width": 1400, "height": 900}) as created:
        created.set_session(alice)
        page = created.go(f"/entries/{first}")
        bar = page.get_by_role("region", name="Now playing").and_(page.locator("#playing"))
        expect(bar).to_have_count(0)
        page.locator(".player audio").evaluate("sound => { sound.play() }")
        expect(bar).to_be_visible()
        page.wait_for_function("() => document.querySelector('audio').currentTime > 0.2")

        page.locator(f"#e{second} .row-title a").click()
        expect(page.locator(f"#pane[data-entry='{second}']")).to_be_visible()
        sound = page.locator("#playing audio")
        before = sound.evaluate("sound => sound.currentTime")
        assert sound.evaluate("sound => !sound.paused")
        page.wait_for_function("from => document.querySelector('#playing audio').currentTime > from", arg=before)
        assert bar.get_by_role("link", name="Episode 1").get_attribute("href") == f"/entries/{first}"

        bar.get_by_label("Speed").select_option("1.5")
        assert sound.evaluate("sound => sound.playbackRate") == 1.5
        bar.get_by_role("button", name="Pause").click()
        expect(bar.get_by_role("button", name="Resume")).to_be_visible()
        before = sound.evaluate("sound => sound.currentTime")
        bar.get_by_title("Forward 30 seconds").click()
        bar.get_by_title("Back 15 seconds").click()
        assert sound.evaluate("sound => sound.currentTime") == pytest.approx(before + 15, abs=0.5)
        page.keyboard.press("P")
        page.wait_for_function("() => !document.querySelector('#playing audio').paused")

        # Back in its article the same element goes on.
        page.locator(f"#e{first} .row-title a").click()
        expect(page.locator(f"#pane[data-entry='{first}'] .player audio")).to_be_attached()
        assert page.locator("audio").count() == 1
        assert page.locator(".player audio").evaluate("sound => !sound.paused && sound.playbackRate === 1.5")

        bar.get_by_role("button", name="Close player").click()
        expect(bar).to_be_hidden()
        assert page.locator(".player audio").evaluate("sound => sound.paused")


def test_on_a_phone_another_page_goes_on_where_the_last_one_was(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    first, _second = serve_podcast(alice, site, item(site, 1), item(site, 2))

    with reading(browser, service, **PHONE) as created:
        created.set_session(alice)
        page = created.go(f"/entries/{first}")
        created.wait_for_part("player")
        page.locator(".player audio").evaluate("sound => { sound.currentTime = 0; sound.play() }")
        page.wait_for_function("() => document.querySelector('audio').currentTime > 0.2")
        page.get_by_title("Forward 30 seconds").last.click()
        page.get_by_role("link", name="Back to the list").click()
        page.wait_for_url("**/feeds/**")

        bar = page.locator("#playing")
        expect(bar).to_be_visible()
        if not is_playing(page):
            bar.get_by_role("button", name="Resume").click()
        page.wait_for_function("() => document.querySelector('#playing audio').currentTime > 30.2")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        bottom = page.locator("nav.bottom").bounding_box()
        place = bar.bounding_box()
        assert bottom is not None
        assert place is not None
        assert place["y"] + place["height"] == pytest.approx(bottom["y"], abs=1)
        # What closes it is not next to what plays.
        lefts = [
            one.bounding_box()
            for one in (bar.locator("[data-play]"), bar.locator(".name"), bar.locator("[data-close]"))
        ]
        assert [one["x"] for one in lefts if one] == sorted(one["x"] for one in lefts if one)

        bar.get_by_role("button", name="Close player").click()
        created.go("/unread")
        expect(page.locator("#playing")).to_have_count(0)


def test_the_bar_moves_nothing_and_belongs_to_one_user(
    browser: Browser, service: RunningService, alice: Person, bob: Person, site: Publisher
) -> None:
    (first,) = serve_podcast(alice, site, item(site, 1))

    with reading(browser, service, viewport={"width": 1400, "height": 900}) as created:
        created.set_session(alice)
        page = created.go(f"/entries/{first}")
        created.wait_for_part("player")
        page.evaluate("""() => {
            window.shifts = 0;
            window.shifted = [];
            const note = (one) => {
                // The browser's own controls, whose parts have no node, move when it learns how long the sound is.
                if (one.sources.every(({ node }) => node === null)) return;
                window.shifts += one.value;
                window.shifted.push(...one.sources.map(({ node }) => node?.outerHTML ?? node?.textContent));
            };
            new PerformanceObserver((list) => list.getEntries().forEach(note))
                .observe({ type: "layout-shift", buffered: false });
        }""")
        page.locator(".player audio").evaluate("sound => { sound.play() }")
        expect(page.locator("#playing")).to_be_visible()
        page.wait_for_function("() => document.querySelector('audio').currentTime > 0.2")
        assert page.evaluate("window.shifts") == 0, page.evaluate("window.shifted")

        created.set_session(bob)
        created.go("/unread")
        expect(page.locator("#playing")).to_have_count(0)


CHAPTERS = """<psc:chapters version="1.2"><psc:chapter start="0" title="Hello"/>
<psc:chapter start="00:01:40" title="The rain"/></psc:chapters>"""
VTT = "WEBVTT\n\n00:00.000 --> 00:50.000\nHello.\n\n00:50.000 --> 03:00.000\nIt rains.\n"


def test_chapters_and_transcripts_seek_and_mark_where_it_is(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    site.serve("/1.vtt", VTT, headers={"Content-Type": "text/vtt"})
    transcript = f'<podcast:transcript url="{site.url("/1.vtt")}" type="text/vtt"/>'
    (first,) = serve_podcast(alice, site, item(site, 1, CHAPTERS + transcript))

    with reading(browser, service, **PHONE) as created:
        created.set_session(alice)
        page = created.go(f"/entries/{first}")
        created.wait_for_part("episode")
        page.get_by_text("Chapters", exact=True).click()
        page.get_by_role("link", name="The rain").click()
        page.wait_for_function("() => document.querySelector('audio').currentTime >= 100")
        chapters = page.get_by_role("list", name="Chapters")
        expect(chapters.locator("[aria-current]")).to_have_text(re.compile("The rain"))

        page.get_by_text("Transcript", exact=True).first.click()
        line = page.get_by_role("link", name="It rains.")
        expect(line).to_have_attribute("aria-current", "true")
        page.get_by_role("link", name="Hello.").click()
        page.wait_for_function("() => document.querySelector('audio').currentTime < 50")
        expect(chapters.locator("[aria-current]")).to_have_text(re.compile("Hello"))
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_article_and_bar_have_a_line_to_seek_in_with_marks_of_chapters(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    (first,) = serve_podcast(alice, site, item(site, 1, CHAPTERS))

    with reading(browser, service, viewport={"width": 1400, "height": 900}) as created:
        created.set_session(alice)
        page = created.go(f"/entries/{first}")
        created.wait_for_part("player")
        page.locator(".player").get_by_role("button", name="Play").click()
        page.wait_for_function("() => document.querySelector('audio').currentTime > 0.2")
        for place, seconds in ((".player", "100"), ("#playing", "150")):
            line = page.locator(place).get_by_role("slider", name="Position")
            expect(page.locator(place).locator(".ticks b")).to_have_count(1)
            line.fill(seconds)
            page.wait_for_function("from => document.querySelector('audio').currentTime >= from", arg=int(seconds))
        page.locator("#playing").get_by_role("slider").press("ArrowRight")
        expect(page.locator(".player .time")).to_contain_text("/ 3:20")
        page.locator(".player").get_by_role("button", name="Pause").click()
        wait_until(page, lambda: not is_playing(page))


def test_times_in_show_notes_lead_to_their_place_and_a_notice_stays_above_the_bar(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    notes = "<description>0:10 Hello, 1:40 the rain, and a film at 1:2:3:4</description>"
    (first,) = serve_podcast(alice, site, item(site, 1, notes))

    with reading(browser, service, viewport={"width": 1400, "height": 900}) as created:
        created.set_session(alice)
        page = created.go(f"/entries/{first}")
        created.wait_for_part("episode")
        expect(page.locator(".content a")).to_have_text(["0:10", "1:40"])
        page.get_by_role("link", name="1:40").click()
        page.wait_for_function("() => document.querySelector('audio').currentTime >= 100")
        assert page.url.endswith(f"/entries/{first}")
        expect(page.locator("#playing")).to_be_visible()

        page.keyboard.press("m")
        page.keyboard.press("z")
        notice = page.locator("#notice:not(:empty)").bounding_box()
        bar = page.locator("#playing .scrub").bounding_box()
        assert notice is not None
        assert bar is not None
        assert notice["y"] + notice["height"] <= bar["y"]


def test_at_the_end_the_first_of_the_queue_begins(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    first, second, third = serve_podcast(alice, site, item(site, 1), item(site, 2), item(site, 3))

    with reading(browser, service, viewport={"width": 1400, "height": 900}) as created:
        created.set_session(alice)
        for entry in (second, third):
            page = created.go(f"/entries/{entry}")
            page.get_by_role("button", name="Add to queue").click()
            expect(page.get_by_role("button", name="Remove from the queue")).to_be_visible()
        page = created.go(f"/entries/{first}")
        created.wait_for_part("player")
        page.get_by_role("button", name="Play next").click()
        expect(page.get_by_role("button", name="Remove from the queue")).to_be_visible()
        sound = page.locator(".player audio")
        sound.evaluate("sound => { sound.play() }")
        page.wait_for_function("() => document.querySelector('.player audio').currentTime > 0.2")
        page.locator(".player").get_by_label("Speed").select_option("1.5")
        sound.evaluate(f"sound => {{ window.started = sound; sound.currentTime = {SECONDS - 1} }}")

        bar = page.locator("#playing")
        expect(bar.get_by_role("link", name="Episode 2")).to_be_visible()
        page.wait_for_function("() => document.querySelector('#playing audio').currentTime > 0.2")
        # Phones let only the element play on that was started with a finger. The article has another one from now on.
        assert page.locator("#playing audio").evaluate("sound => sound === started && sound.playbackRate === 1.5")
        assert sound.evaluate("sound => [sound.paused, sound.dataset.at]") == [True, "0"]
        assert page.locator(".player").get_by_title("Play", exact=True).is_visible()

        # Its own article takes the element over, and the queue says what is left.
        created.go("/queue")
        expect(page.locator(".queue li")).to_have_count(2)
        page.locator(".queue li").last.get_by_role("button", name="Play").click()
        expect(bar.get_by_role("link", name="Episode 3")).to_be_visible()
        page.locator(".queue li").last.get_by_role("button", name="Move up").click()
        expect(page.locator(".queue .name").first).to_contain_text("Episode 3")


def test_at_the_end_without_a_queue_the_next_episode_of_the_feed_is_offered(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    dates = [f"<pubDate>0{day} Nov 2026 10:00:00 GMT</pubDate>" for day in (1, 2)]
    first, second = serve_podcast(alice, site, item(site, 1, dates[0]), item(site, 2, dates[1]))

    with reading(browser, service, **PHONE) as created:
        created.set_session(alice)
        page = created.go(f"/entries/{first}")
        created.wait_for_part("player")
        page.locator(".player").get_by_role("button", name="Play", exact=True).click()
        page.wait_for_function("() => document.querySelector('audio').currentTime > 0.2")
        page.locator(".player audio").evaluate(
            f"sound => {{ window.started = sound; sound.currentTime = {SECONDS - 1} }}"
        )

        bar = page.locator("#playing")
        expect(bar.get_by_role("link")).to_have_text("Next: Episode 2")
        assert bar.locator("audio").evaluate("sound => sound === started && sound.paused && !sound.readyState")
        # Still there on the next page.
        created.go("/queue")
        expect(bar.get_by_role("link")).to_have_text("Next: Episode 2")
        assert bar.locator("audio").evaluate("sound => sound.paused")
        bar.get_by_role("button", name="Resume").click()
        page.wait_for_function("() => document.querySelector('audio').currentTime > 0.2")
        expect(bar.get_by_role("link")).to_have_text("Episode 2")
        assert bar.get_by_role("link").get_attribute("href") == f"/entries/{second}"

        # Both have been opened or heard: nothing is offered.
        alice.put("/v1/entries", {"entry_ids": [first, second], "status": "read"})
        with page.expect_response("**/queue?after=*") as asked:
            bar.locator("audio").evaluate(f"sound => {{ sound.currentTime = {SECONDS - 1} }}")
        asked.value.finished()
        expect(bar.get_by_role("link")).to_have_text("Episode 2")
        expect(page.locator("#queue")).to_contain_text("The queue is empty.")


def test_the_queue_passes_over_an_episode_that_cannot_be_played(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    gone = (
        f'<item><title>Episode 2</title><enclosure url="{site.url("/gone.wav")}" type="audio/wav" length="9"/></item>'
    )
    first, second, third = serve_podcast(alice, site, item(site, 1), gone, item(site, 3))
    for entry in (second, third):
        enclosure = alice.get(f"/v1/entries/{entry}")["enclosures"][0]["id"]
        alice.post("/v1/queue", {"enclosure_id": enclosure}, status=204)

    with reading(browser, service, **PHONE) as created:
        created.set_session(alice)
        # Browsers log the answer.
        created.loses_connection = True
        page = created.go(f"/entries/{first}")
        created.wait_for_part("player")
        page.locator(".player").get_by_role("button", name="Play", exact=True).click()
        page.wait_for_function("() => document.querySelector('audio').currentTime > 0.2")
        page.locator(".player audio").evaluate(f"sound => {{ sound.currentTime = {SECONDS - 1} }}")

        bar = page.locator("#playing")
        expect(bar.get_by_role("link")).to_have_text("Episode 3")
        created.wait_for_text("Episode 2: This recording cannot be played.")
        page.wait_for_function("() => document.querySelector('#playing audio').currentTime > 0.2")

        # It can be tried again, and is not tried again by itself.
        with page.expect_response("**/queue?after=*") as asked:
            bar.locator("audio").evaluate(f"sound => {{ sound.currentTime = {SECONDS - 1} }}")
        asked.value.finished()
        created.go("/queue")
        expect(page.locator(".queue .name")).to_contain_text("Episode 2")


def test_a_recording_that_cannot_be_played_says_so(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    (entry,) = serve_podcast(alice, site, item(site, 1))
    site.script("/rain.wav", lambda _: Answer(b"gone", status=404))

    with reading(browser, service, **PHONE) as created:
        created.set_session(alice)
        # Browsers log the answer.
        created.loses_connection = True
        page = created.go(f"/entries/{entry}")
        created.wait_for_part("player")
        page.locator(".player").get_by_title("Play").click()
        created.wait_for_text("This recording cannot be played.")


def test_the_bar_shows_a_title_in_the_direction_of_most_of_its_letters(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    title = "Apple: مقال طويل عن الهاتف الجديد"
    first, second = serve_podcast(alice, site, item(site, 1), item(site, 2))
    alice.put(f"/v1/entries/{first}", {"title": title}, status=201)

    with reading(browser, service, viewport={"width": 1400, "height": 900}) as created:
        created.set_session(alice)
        for entry, name, direction in ((first, title, "rtl"), (second, "Episode 2", "ltr")):
            page = created.go(f"/entries/{entry}")
            page.locator(".player audio").evaluate("sound => { sound.play() }")
            shown = page.locator("#playing .name a")
            expect(shown).to_have_text(name)
            assert shown.evaluate("one => getComputedStyle(one).direction") == direction


@pytest.mark.parametrize(
    "window", [{"width": 390, "height": 844}, {"width": 1400, "height": 900}], ids=["phone", "wide"]
)
def test_bar_chapters_transcript_and_queue_are_accessible(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, window: ViewportSize
) -> None:
    site.serve("/1.vtt", VTT, headers={"Content-Type": "text/vtt"})
    transcript = f'<podcast:transcript url="{site.url("/1.vtt")}" type="text/vtt"/>'
    (first,) = serve_podcast(alice, site, item(site, 1, CHAPTERS + transcript))

    with reading(browser, service, viewport=window, bypass_csp=True) as created:
        created.set_session(alice)
        page = created.go(f"/entries/{first}")
        page.get_by_role("button", name="Add to queue").click()
        page.get_by_text("Chapters", exact=True).click()
        page.get_by_text("Transcript", exact=True).first.click()
        page.get_by_role("link", name="It rains.").click()
        expect(page.locator("#playing")).to_be_visible()

        assert findings(page) == []
        created.go("/queue")
        expect(page.locator("#playing")).to_be_visible()
        assert findings(page) == []


def test_artwork_that_is_gone_leaves_no_frame(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    gone = f'<media:thumbnail xmlns:media="http://search.yahoo.com/mrss/" url="{site.url("/gone.jpg")}"/>'
    (first,) = serve_podcast(alice, site, item(site, 1, gone))

    with reading(browser, service, **PHONE) as created:
        created.set_session(alice)
        created.tolerated = ("404",)
        page = created.go(f"/entries/{first}")
        expect(page.locator(".player > .artwork")).to_have_count(1)
        expect(page.locator(".player > .artwork")).to_be_hidden()
        page.locator(".player").get_by_role("button", name="Play").click()
        expect(page.locator("#playing")).to_be_visible()
        expect(page.locator("#playing .artwork")).to_be_hidden()
