"""Sounds, played for real."""

from __future__ import annotations

import re
import struct

import pytest
from playwright.sync_api import Browser, expect

from browser.readers import TIMEOUT_MS, reading
from cli.commands import eventually
from support.people import Person
from support.publisher import Answer, Publisher, ReceivedRequest
from support.running import RunningService

expect.set_options(timeout=TIMEOUT_MS)

SECONDS, RATE = 200, 8_000


def silence() -> bytes:
    """A WAV file: one channel, one byte a sample."""
    samples = b"\x80" * (SECONDS * RATE)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, RATE, RATE, 1, 8)
    data = b"WAVE" + form + struct.pack("<4sI", b"data", len(samples)) + samples
    return struct.pack("<4sI", b"RIFF", len(data)) + data


SOUND = silence()


def part(seen: ReceivedRequest) -> Answer:
    """As servers of podcasts answer: whoever moves in it asks for the rest (RFC 9110, section 14)."""
    headers = {"Content-Type": "audio/wav", "Accept-Ranges": "bytes"}
    requested = re.match(r"bytes=(\d+)-(\d*)", seen.headers.get("range", ""))
    if requested is None:
        return Answer(SOUND, headers=headers)
    first, last = int(requested[1]), min(int(requested[2] or len(SOUND)), len(SOUND) - 1)
    span = {"Content-Range": f"bytes {first}-{last}/{len(SOUND)}"}
    return Answer(SOUND[first : last + 1], status=206, headers=headers | span)


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
        sound = page.locator("audio")

        def play(from_s: float) -> None:
            sound.evaluate("sound => { sound.play() }")
            page.wait_for_function("from => document.querySelector('audio').currentTime > from", arg=from_s)

        # Thirty seconds on, before anything of it is loaded.
        page.get_by_title("Forward 30 seconds").click()
        play(72)
        assert sound.evaluate("sound => sound.playbackRate") == 1.5
        assert eventually(lambda: kept() >= 72, within_s=60)

        page.get_by_label("Speed").select_option("2")
        assert sound.evaluate("sound => sound.playbackRate") == 2
        sound.evaluate("sound => sound.pause()")
        before = sound.evaluate("sound => sound.currentTime")
        page.get_by_title("Back 30 seconds").click()
        assert sound.evaluate("sound => sound.currentTime") == pytest.approx(max(0, before - 30), abs=0.5)
        # Moved while it stands still.
        sound.evaluate("sound => { sound.currentTime = 20 }")
        assert eventually(lambda: kept() == 20, within_s=60)

        page.reload()
        page.get_by_title("Back 30 seconds").click()
        page.get_by_title("Forward 30 seconds").click()
        play(31)
        created.go("/unread")
        assert eventually(lambda: 31 <= kept() < SECONDS, within_s=60)

        page = created.go(f"/entries/{episode}")
        assert alice.entries()[0]["status"] == "unread"
        play(31)
        with page.expect_response("**/entries/marks"):
            sound.evaluate(f"sound => {{ sound.currentTime = {SECONDS - 1} }}")
        assert eventually(lambda: (kept(), alice.entries()[0]["status"]) == (0, "read"), within_s=60)
