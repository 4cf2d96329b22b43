"""Chapters and transcripts of episodes, fetched when they are asked for."""

from __future__ import annotations

import json

import pytest

from media.test_episode_pages import CHAPTERS, VTT, chapters_at, part, podcast, transcript_at
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.one_engine


def test_chapters_and_transcripts_are_fetched(alice: Person, bob: Person, site: Publisher) -> None:
    site.serve("/chapters.json", json.dumps(CHAPTERS))
    site.serve("/transcript", VTT)
    (entry,) = podcast(alice, site, chapters_at(site) + transcript_at(site))
    chapters = f"/v1/enclosures/{part(entry, 'application/json+chapters')}/chapters"
    transcript = f"/v1/enclosures/{part(entry, 'text/vtt')}/transcript"

    assert alice.get(chapters) == {
        "chapters": [{"start_s": 0.0, "title": "Hello", "url": ""}, {"start_s": 3723.0, "title": "Rain", "url": ""}]
    }
    found = alice.get(transcript)
    assert [(line["start_s"], line["speaker"]) for line in found["lines"]] == [(1.0, "Ada")]
    assert found["html"] == ""
    assert "<script" not in found["lines"][0]["text"]
    for path in (chapters, transcript):
        assert bob.call("GET", path).status == 404


def test_what_is_no_such_file_is_reported(alice: Person, site: Publisher) -> None:
    (entry,) = podcast(alice, site, chapters_at(site))
    path = f"/v1/enclosures/{part(entry, 'application/json+chapters')}/chapters"
    site.serve("/chapters.json", status=404)
    assert (alice.call("GET", path).status, alice.call("GET", path).headers["x-error-code"]) == (500, "http-error")
    site.serve("/chapters.json", "No chapters.")
    assert alice.call("GET", path).status == 400
