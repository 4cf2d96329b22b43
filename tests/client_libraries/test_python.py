"""The client for Python, against a real service."""

from __future__ import annotations

import ast
import asyncio
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import tidings
import tidings_client
from support.people import PASSWORD, Person, rss
from support.publisher import Answer, Publisher
from tidings.wiring.routes import API_DOCUMENT
from tidings_client import ApiError, AsyncClient, Client, Unreachable, errors, models
from tidings_client._exchange import MAX_REMEMBERED, MAX_REMEMBERED_BYTES

PACKAGE = Path(tidings_client.__file__).parent


@pytest.fixture
def client(alice: Person) -> Iterator[Client]:
    with Client(alice.service.url, token=alice.token) as client:
        yield client


@pytest.fixture
def elsewhere(site: Publisher) -> Iterator[Client]:
    """A client of something else than Tidings: what a proxy, or a service under load, answers."""
    with Client(site.url("/"), token="secret", max_wait_s=5) as client:
        yield client


def test_it_imports_nothing_of_the_server() -> None:
    names = [
        name
        for path in PACKAGE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    ]
    tops = {name.partition(".")[0] for name in names}
    assert tops - sys.stdlib_module_names == {"httpx2", "tidings_client"}
    assert tidings_client.__version__ == tidings.__version__


@pytest.mark.slow
def test_it_is_a_package_of_its_own(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=PACKAGE.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert any(name.endswith("/LICENSE") for name in archive.namelist())
    assert names == {f"tidings_client/{path.name}" for path in PACKAGE.iterdir() if path.is_file()}


@pytest.mark.parametrize("module", ["_client.py", "_async_client.py"])
def test_every_operation_is_in_it(module: str) -> None:
    calls = re.findall(r'Call\(\s*"(\w+)",\s*f?"([^"]+)"', (PACKAGE / module).read_text(encoding="utf-8"))
    document = API_DOCUMENT.at()
    operations = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert {(method, re.sub(r"\{segment\((\w+)\)\}", r"{\1}", path)) for method, path in calls} == operations


@pytest.mark.slow
def test_a_feed_is_subscribed_to_read_and_left(client: Client, site: Publisher) -> None:
    site.serve("/feed.xml", rss(["Second", "First"], site.url("/feed.xml")))
    category = client.create_category(title="News & more")
    feed_id = client.create_feed(feed_url=site.url("/feed.xml"), category_id=category["id"])["feed_id"]

    listed = client.entries(status="unread", order="published_at", direction="desc")
    assert listed["total"] == 2
    second, first = listed["entries"]
    assert (second["title"], second["feed"]["category"]["title"]) == ("Second", "News & more")
    assert datetime.fromisoformat(second["published_at"]) > datetime.fromisoformat(first["published_at"])

    client.update_entries(entry_ids=[first["id"]], status="read", starred=True)
    assert client.counters() == {"reads": {str(feed_id): 1}, "unreads": {str(feed_id): 1}}
    assert [one["id"] for one in client.entries(starred=True, status=["read", "unread"])["entries"]] == [first["id"]]
    assert client.update_feed(feed_id, title="Renamed", crawler=True)["title"] == "Renamed"
    client.delete_feed(feed_id)
    assert client.feeds() == []


@pytest.mark.slow
def test_pages_follow_each_other(client: Client, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, [f"Entry {number}" for number in range(7)])

    entries = client.iter_entries(limit=3, direction="desc", fields=["id", "title"])
    assert [list(entry.items())[1] for entry in islice(entries, 2)] == [("title", "Entry 0"), ("title", "Entry 1")]
    # The same pages again, from the service or from memory, and the rest.
    titles = [entry["title"] for entry in client.iter_entries(limit=3, direction="desc", fields=["id", "title"])]
    assert titles == [f"Entry {number}" for number in range(7)]


@pytest.mark.slow
def test_a_list_that_has_not_changed_is_not_sent_again(client: Client, alice: Person, site: Publisher) -> None:
    seen: list[int] = []
    client._http.event_hooks["response"].append(lambda response: seen.append(response.status_code))
    first = client.categories(counts=True)
    first[0]["title"] = "changed by the caller"

    again = client.categories(counts=True)
    client.create_category(title="New")
    now = client.categories(counts=True)

    assert seen == [200, 304, 201, 200]
    assert (again[0]["title"], again[0]["feed_count"]) == ("All", 0)
    assert len(now) == 2


@pytest.mark.slow
def test_files_are_sent_and_received(client: Client, alice: Person, site: Publisher) -> None:
    opml = f'<opml version="2.0"><body><outline xmlUrl="{site.url("/one.xml")}"/></body></opml>'
    padded = io.BytesIO(b"left out" + opml.encode())
    padded.seek(len(b"left out"))

    assert "1" in client.import_feeds(padded)["message"] or client.feeds()
    assert site.url("/one.xml") in client.export_feeds()
    archive = io.BytesIO()
    client.export_account(archive)
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None


@pytest.mark.slow
def test_long_bodies_are_compressed(client: Client) -> None:
    sent: list[Any] = []
    client._http.event_hooks["request"].append(sent.append)
    rules = "\n".join(f"EntryTitle=(?i)word{number}" for number in range(200))

    changed = client.update_user(client.me()["id"], block_filter_entry_rules=rules)

    assert changed["block_filter_entry_rules"] == rules
    assert sent[-1].headers["content-encoding"] == "gzip"


@pytest.mark.slow
def test_errors_say_what_is_wrong(client: Client, alice: Person) -> None:
    with pytest.raises(errors.NotFound) as missing:
        client.entry(999_999)
    assert (missing.value.status, missing.value.code) == (404, "not-found")
    with pytest.raises(errors.Refused) as refused:
        client.create_feed(feed_url="gopher://example.org/")
    assert (refused.value.field, refused.value.status) == ("feed_url", 400)
    assert refused.value.title == "A value is invalid"
    assert str(refused.value) == f"{refused.value.detail} (400, invalid-input)"
    wrong = Client(alice.service.url, username=alice.user.username, password="wrong")
    with wrong, pytest.raises(errors.Unauthorized, match="unauthorized"):
        wrong.me()


@pytest.mark.slow
def test_name_and_password_sign_in_as_well(alice: Person) -> None:
    # With the path that client apps are given.
    with Client(f"{alice.service.url}/v1/", username=alice.user.username, password=PASSWORD) as client:
        assert client.me()["id"] == alice.id
        assert client.is_ready() == "OK"


@pytest.mark.slow
def test_the_async_client_does_the_same(alice: Person, site: Publisher) -> None:
    async def use() -> tuple[list[str], int, bytes]:
        async with AsyncClient(alice.service.url, token=alice.token) as client:
            site.serve("/feed.xml", rss(["B", "A"], site.url("/feed.xml")))
            await client.create_feed(feed_url=site.url("/feed.xml"))
            titles = [entry["title"] async for entry in client.iter_entries(limit=1, direction="desc")]
            opml = await client.export_feeds()
            await client.import_feeds(io.BytesIO(opml.encode()))
            archive = io.BytesIO()
            await client.export_account(archive)
            with pytest.raises(errors.NotFound):
                await client.feed(999_999)
            both = await asyncio.gather(client.me(), client.counters())
            return titles, both[0]["id"], archive.getvalue()

    titles, user_id, archive = asyncio.run(use())
    assert (titles, user_id, archive[:2]) == (["B", "A"], alice.id, b"PK")


def test_only_so_much_is_remembered(elsewhere: Client, site: Publisher) -> None:
    for number in range(MAX_REMEMBERED + 1):
        site.script(f"/v1/feeds/{number}/entries", Answer('{"total": 0}', etag='"1"'))
    large = Answer('"' + "x" * MAX_REMEMBERED_BYTES + '"', etag='"1"')
    site.script("/v1/feeds", large)

    def asked_conditionally(*numbers: int) -> list[bool]:
        for number in numbers:
            assert elsewhere.feed_entries(number)["total"] == 0
        return ["if-none-match" in seen.headers for seen in site.requests[-len(numbers) :]]

    assert not any(asked_conditionally(*range(MAX_REMEMBERED)))
    # The one that was used last stays, and the oldest of the others goes.
    assert asked_conditionally(0, MAX_REMEMBERED, 0, 1) == [True, False, True, False]
    for _ in range(2):
        elsewhere.feeds()
        assert "if-none-match" not in site.last.headers
    assert asked_conditionally(0) == [True]


def test_a_busy_service_is_asked_again_when_it_says(elsewhere: Client, site: Publisher) -> None:
    busy = Answer('{"error_message": "Busy."}', status=503, headers={"Retry-After": "0"})
    site.script("/v1/me", busy, busy, Answer('{"id": 1}'))
    site.script("/v1/feeds", busy, Answer('{"feed_id": 1}'))
    full = Answer("", status=503, headers={"Retry-After": "0", "X-Error-Code": "overloaded"})
    site.script("/v1/labels", full, Answer('{"id": 1}'))
    site.script("/v1/import", Answer("", status=429, headers={"Retry-After": "0"}), Answer('{"message": "Done."}'))

    assert elsewhere.me()["id"] == 1
    assert elsewhere.create_label(title="Not begun yet")["id"] == 1
    # A feed may have been created.
    with pytest.raises(errors.Unavailable, match="Busy"):
        elsewhere.create_feed(feed_url="https://example.org/feed.xml")
    elsewhere.import_feeds(io.BytesIO(b"<opml/>"))
    assert [seen.body for seen in site.requests_for("/v1/import")] == [b"<opml/>"] * 2


def test_a_long_wait_is_the_callers_decision(elsewhere: Client, site: Publisher) -> None:
    site.script("/v1/me", Answer("", status=429, headers={"Retry-After": "3600"}))
    with pytest.raises(errors.Throttled) as throttled:
        elsewhere.me()
    assert throttled.value.retry_after_s == 3600
    # It asks again a few times only.
    site.script("/v1/counters", Answer(""))
    site.script("/v1/feeds/counters", Answer("", status=503, headers={"Retry-After": "0"}))
    with pytest.raises(errors.Unavailable):
        elsewhere.counters()
    assert len(site.requests_for("/v1/feeds/counters")) == 4


def test_what_is_not_tidings_is_recognized(elsewhere: Client, site: Publisher) -> None:
    site.script("/v1/me", Answer("<html>Bad gateway", status=502))
    site.redirect("/v1/version", to="https://example.net/v1/version", status=301)

    with pytest.raises(ApiError, match="Is the address right") as gateway:
        elsewhere.me()
    assert (gateway.value.status, gateway.value.code) == (502, "")
    # It follows no redirect: the key would be sent to another site.
    with pytest.raises(ApiError, match=r"another address: https://example\.net"):
        elsewhere.version()
    with Client("http://127.0.0.1:1", token="secret") as nobody, pytest.raises(Unreachable, match="did not answer"):
        nobody.me()


@pytest.mark.parametrize("url", ["reader.example.org", "ftp://example.org", "https://", "https://me:pw@example.org"])
def test_an_address_is_checked_first(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        Client(url, token="secret")


def test_credentials_are_checked_first() -> None:
    for given in ({}, {"token": "a", "password": "b"}, {"username": "a"}):
        with pytest.raises(ValueError, match="Sign in with"):
            Client("https://example.org", **given)  # type: ignore[arg-type]


def test_models_have_what_the_document_has() -> None:
    entry = models.Entry.__annotations__
    assert {"id", "title", "status", "duplicate_of"} <= entry.keys()
    assert json.dumps(sorted(API_DOCUMENT.at()["components"]["schemas"]["Entry"]["properties"])) == json.dumps(
        sorted(entry)
    )
