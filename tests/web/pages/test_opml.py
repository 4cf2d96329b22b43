"""Import with a report, export, and the welcome page of an account without feeds."""

from __future__ import annotations

import html
import io

import pytest

from support.people import HttpResponse, Person, call
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.web.pages.welcome import starters
from tidings.wiring.services import AllServices

BOUNDARY = "----border"


def upload(reader: Visitor, body: bytes, name: str = "file") -> HttpResponse:
    """As a browser sends a form with a file."""
    parts = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{reader.token}\r\n'.encode(),
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="a.opml"\r\n\r\n'.encode(),
        body,
        f"\r\n--{BOUNDARY}--\r\n".encode(),
    )
    cookies = "; ".join(f"{name}={value}" for name, value in reader.cookies.items())
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Cookie": cookies}
    return call(reader.service.url, "POST", "/feeds/import", b"".join(parts), headers)


def opml(*lines: str) -> bytes:
    return ('<opml version="2.0"><body>\n' + "\n".join(lines) + "\n</body></opml>").encode()


def test_an_import_reports_every_invalid_line(reader: Visitor, alice: Person) -> None:
    reader.get("/feeds/import")

    answer = upload(
        reader,
        opml(
            '<outline text="News"><outline text="Good" xmlUrl="https://example.org/good"/></outline>',
            '<outline text="&lt;Bad&gt;" xmlUrl="nowhere"/>',
            '<outline text="Odd" xmlUrl="https://example.org/odd" crawler="perhaps"/>',
            '<outline text="Again" xmlUrl="https://example.org/good"/>',
        ),
    )
    page = html.unescape(answer.body.decode())

    assert answer.status == 200
    assert "2 feeds imported." in page
    assert "1 was there already." in page
    assert "1 could not be used." in page
    assert "<td>3</td>" in page
    assert "&lt;Bad&gt;" in answer.body.decode()
    assert "crawler was left out" in page
    assert "2 feeds wait for their first check." in page
    assert {feed["category"]["title"] for feed in alice.get("/v1/feeds")} == {"All", "News"}


def test_imported_feeds_are_not_called_checked_before_their_first_check(reader: Visitor, alice: Person) -> None:
    reader.get("/feeds/import")
    upload(reader, opml('<outline text="Good" xmlUrl="https://example.org/good"/>'))
    (feed,) = alice.get("/v1/feeds")

    assert "Checked" not in reader.page("/unread")
    assert "last checked" not in reader.page(f"/feeds/{feed['id']}/edit")


def test_a_list_of_addresses_is_imported_with_a_report(reader: Visitor, alice: Person) -> None:
    reader.get("/feeds/import")

    page = html.unescape(upload(reader, b"https://example.org/good\nnowhere\n").body.decode())

    assert "1 feed imported." in page
    assert "1 could not be used." in page
    assert "<td>2</td>" in page
    assert [feed["feed_url"] for feed in alice.get("/v1/feeds")] == ["https://example.org/good"]


def test_pasted_text_is_imported_and_stays_when_it_cannot_be_read(reader: Visitor, alice: Person) -> None:
    reader.get("/feeds/import")
    good = opml('<outline text="Good" xmlUrl="https://example.org/good"/>').decode()

    page = reader.post("/feeds/import-text", text=good).body.decode()
    wrong = reader.post("/feeds/import-text", text="<opml>half")

    assert "1 feed imported." in page
    assert [feed["feed_url"] for feed in alice.get("/v1/feeds")] == ["https://example.org/good"]
    assert wrong.status == 400
    assert "&lt;opml&gt;half" in wrong.body.decode()
    assert reader.post("/feeds/import-text", text=" ").status == 400


def test_a_document_is_imported_from_a_url(reader: Visitor, alice: Person, site: Publisher) -> None:
    url = site.serve("/blogroll.opml", opml('<outline text="Good" xmlUrl="https://example.org/good"/>'))
    reader.get("/feeds/import")
    # Typed without a scheme; the site has no https.
    page = reader.post("/feeds/import-url", url=url.removeprefix("http://")).body.decode()

    assert "1 feed imported." in page
    assert [feed["feed_url"] for feed in alice.get("/v1/feeds")] == ["https://example.org/good"]


@pytest.mark.parametrize(
    ("path", "reason"), [("/gone", "404"), ("/text", "OPML"), ("ftp://example.org/a", "http://"), ("", "http")]
)
def test_a_url_that_cannot_be_imported_says_why_and_is_kept(
    reader: Visitor, alice: Person, site: Publisher, path: str, reason: str
) -> None:
    site.serve("/text", "no outlines here")
    url = site.url(path) if path.startswith("/") else path
    reader.get("/feeds/import")
    answer = reader.post("/feeds/import-url", url=url)
    page = html.unescape(answer.body.decode())

    assert answer.status == 400
    assert f'value="{url}"' in page
    error = page[page.index('id="error-url"') :].partition("</p>")[0]
    assert reason in error
    assert alice.get("/v1/feeds") == []


@pytest.mark.slow
def test_five_hundred_feeds_are_imported_at_once(reader: Visitor, alice: Person) -> None:
    lines = [
        f'<outline text="Folder {folder}">'
        + "".join(f'<outline text="Feed {n}" xmlUrl="https://f{folder}.example.org/{n}"/>' for n in range(25))
        + "</outline>"
        for folder in range(20)
    ]
    reader.get("/feeds/import")

    page = upload(reader, opml(*lines)).body.decode()

    assert "500 feeds imported." in page
    assert len(alice.get("/v1/feeds")) == 500
    assert "1 of 10" in reader.page("/feeds?state=waiting")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "Choose a file first."),
        (b"hello", "Line 1: this is neither an OPML document nor a list of addresses"),
        (b"<opml><body>", "breaks off before its end"),
    ],
)
def test_an_import_error_is_shown_next_to_the_file_field(reader: Visitor, body: bytes, message: str) -> None:
    reader.get("/feeds/import")

    answer = upload(reader, body)

    assert answer.status == 400
    assert message in answer.body.decode().partition('id="error-file">')[2].partition("</p>")[0]


def test_a_form_without_a_file_is_reported(reader: Visitor) -> None:
    reader.get("/feeds/import")

    assert reader.post("/feeds/import").status == 400
    assert upload(reader, b"x", name="other").status == 400


def test_an_export_can_be_imported(reader: Visitor, alice: Person, bob: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    bob.has_feed(site)

    answer = reader.get("/feeds/export")

    assert answer.headers["content-disposition"] == 'attachment; filename="feeds.opml"'
    assert answer.body.count(b"xmlUrl") == 1
    alice.delete(f"/v1/feeds/{feed['id']}")
    reader.get("/feeds/import")
    assert "1 feed imported." in upload(reader, answer.body).body.decode()


def test_the_archive_of_the_account_is_downloaded(
    reader: Visitor, alice: Person, bob: Person, site: Publisher, services: AllServices
) -> None:
    alice.has_feed(site, ["Rain", "Snow"])
    assert "/feeds/export/archive" in reader.page("/feeds/import")

    answer = reader.get("/feeds/export/archive")

    assert answer.headers["content-disposition"] == 'attachment; filename="tidings-archive.zip"'
    assert answer.headers["content-type"] == "application/zip"
    user = services.accounts.users.find(bob.user.username)
    report = services.archives.account_import.store(user, io.BytesIO(answer.body), lambda _done, _total: None)
    assert (report.new_feeds, report.new_entries) == (1, 2)


def test_an_empty_account_begins_on_the_welcome_page(reader: Visitor, alice: Person, site: Publisher) -> None:
    assert reader.get("/").headers["location"] == "/welcome"
    assert "Paste an address" in reader.page("/welcome")

    alice.has_feed(site)

    assert reader.get("/").headers["location"] == "/unread"
    assert "You follow one feed." in reader.page("/welcome")


def test_only_selected_starter_feeds_are_subscribed_to(reader: Visitor, alice: Person, services: AllServices) -> None:
    chosen = [one.values["feed_url"] for one in starters()[:2]]
    reader.get("/welcome")

    message = reader.follow(reader.post("/welcome", feed=[*chosen, "https://evil.example.org/feed"]))

    assert "2 feeds wait for their first check." in message
    assert {feed["feed_url"] for feed in alice.get("/v1/feeds")} == set(chosen)
    # Asking twice adds nothing.
    reader.post("/welcome", feed=chosen)
    assert len(alice.get("/v1/feeds")) == 2
    assert "Select the feeds that you want" in reader.follow(reader.post("/welcome"))


def test_starter_feeds_have_names_descriptions_and_categories() -> None:
    found = starters()

    assert 8 <= len(found) <= 20
    assert len({one.values["feed_url"] for one in found}) == len(found)
    for one in found:
        assert one.values["feed_url"].startswith("https://")
        assert one.category
        assert one.values["description"]
        assert one.values["title"]
