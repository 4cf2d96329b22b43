"""The import page starts imports in the background, shows their progress without script, and their report."""

from __future__ import annotations

import html
import time

from support.people import HttpResponse, Person, call
from support.publisher import Publisher
from support.ttrss import Ttrss
from support.visitors import Visitor

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


def _finished(reader: Visitor) -> str:
    """Returns the page once the import has ended."""
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
