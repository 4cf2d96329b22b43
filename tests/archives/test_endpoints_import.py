"""POST /v1/import/archive, …/miniflux and …/tiny-tiny-rss import in the background; GET says how far the import is."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import shutil
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.archives import HOSTILE_SETTINGS, hostile_archive
from support.databases import Databases
from support.people import Cast, Person, call
from support.publisher import Answer, Publisher, ReceivedRequest, Reply, Wire
from support.running import RunningService, running_service
from support.ttrss import Ttrss

pytestmark = pytest.mark.slow

PATH = "/v1/import/archive"
POCKET = "title,url,time_added,tags,status\nRain,https://example.org/rain,1600000000,weather,unread\n"


@dataclass(frozen=True)
class _Delayed(Reply):
    """Answers with an error, once it is released."""

    released: threading.Event

    async def send(self, wire: Wire, seen: ReceivedRequest) -> bool:
        await asyncio.to_thread(self.released.wait)
        return await Answer(status=500).send(wire, seen)


@contextmanager
def _held(site: Publisher) -> Iterator[None]:
    """A server whose first answer comes at the end of the block."""
    released = threading.Event()
    site.script("/v1/me", _Delayed(released))
    try:
        yield
    finally:
        released.set()


def _folder(person: Person) -> list[str]:
    folder = Path(person.service.environment["TIDINGS_DATA_DIR"]) / "imports"
    return [path.name for path in folder.iterdir()] if folder.is_dir() else []


def finished(person: Person, within_s: float = 120) -> dict[str, Any]:
    """Return the state of the last import once it has ended."""
    state: dict[str, Any] = {}
    ends_at = time.monotonic() + within_s
    while time.monotonic() < ends_at:
        state = person.get(PATH)
        if state["state"] not in ("waiting", "running"):
            return state
        time.sleep(0.1)
    raise AssertionError(f"the import has not ended: {state}")


def _form(body: bytes) -> tuple[bytes, str]:
    head = b'--border\r\nContent-Disposition: form-data; name="file"; filename="stars.csv"\r\n\r\n'
    return head + body + b"\r\n--border--\r\n", "multipart/form-data; boundary=border"


def _send(person: Person, body: bytes, kind: str, path: str) -> tuple[int, Any]:
    answer = call(person.service.url, "POST", path, body, {"X-Auth-Token": person.token, "Content-Type": kind})
    return answer.status, answer.json()


def test_an_exported_archive_is_imported_and_its_file_is_removed(alice: Person, bob: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Snow"])
    archive = alice.call("GET", "/v1/export/archive").body

    begun = bob.call("POST", PATH, raw=archive)
    state = finished(bob)

    assert (begun.status, begun.json()["source"]) == (202, "tidings")
    assert (state["state"], state["error_message"]) == ("done", "")
    assert state["report"]["new_feeds"] == 1
    assert state["report"]["new_entries"] == 2
    assert state["finished_at"] is not None
    assert {entry["title"] for entry in bob.entries()} == {"Rain", "Snow"}
    assert _folder(bob) == []


def test_a_feed_from_a_page_survives_the_way_through_an_archive(alice: Person, bob: Person, site: Publisher) -> None:
    date = {"selector": "i", "capture": "on (.*)", "format": "%d.%m.%Y", "zone": "Europe/Berlin"}
    made = {"kind": "html+css", "selectors": {"item": "li", "title": "a", "link": "a@href", "date": date}}
    page = site.serve("/walks", '<ul><li><a href="/1">Walk</a> <i>on 01.03.2026</i></li></ul>')
    alice.post("/v1/feeds", {"feed_url": page, **made})
    archive = alice.call("GET", "/v1/export/archive").body

    assert bob.call("POST", PATH, raw=archive).status == 202
    state = finished(bob)

    assert (state["state"], state["report"]["new_feeds"], state["report"]["problems"]) == ("done", 1, [])
    (moved,) = bob.get("/v1/feeds")
    assert (moved["feed_url"], {name: moved[name] for name in made}) == (page, made)
    bob.call("PUT", f"/v1/feeds/{moved['id']}/refresh")
    assert bob.get(f"/v1/feeds/{moved['id']}")["parsing_error_message"] == ""
    assert [entry["title"] for entry in bob.entries()] == ["Walk"]


def test_webhooks_are_told_when_an_import_in_the_background_has_ended(alice: Person) -> None:
    alice.post("/v1/webhooks", {"url": "https://hooks.example/", "events": ["import_finished"]})
    for content in (POCKET.encode(), b"nothing of that kind"):
        assert _send(alice, *_form(content), f"{PATH}?source=pocket")[0] == 202
        finished(alice)

    sent = alice.get("/v1/webhooks/deliveries")["deliveries"]
    failed, done = (json.loads(alice.get(f"/v1/webhooks/deliveries/{one['id']}")["body"])["import"] for one in sent)
    assert done.items() >= {
        "source": "pocket", "succeeded": True, "error_message": "", "new_feeds": 1, "new_entries": 1, "problems": 0
    }.items()  # fmt: skip
    assert failed["origin"] == done["origin"] == "stars.csv"
    assert (failed["succeeded"], failed["new_feeds"]) == (False, 0)
    assert failed["error_message"] == alice.get(PATH)["error_message"] != ""


def test_an_archive_of_a_stranger_takes_over_nothing(alice: Person) -> None:
    before = alice.get("/v1/me")

    assert alice.call("POST", PATH, raw=hostile_archive(theme="dark_serif")).status == 202
    report = finished(alice)["report"]

    assert alice.get("/v1/me") == before | {"theme": "dark_serif"}
    assert [feed["webhook_url"] for feed in alice.get("/v1/feeds")] == [""]
    assert alice.get("/v1/integrations")["webhook"]["enabled"] is False
    left = {one["name"]: one for one in report["left_off"]}
    assert left["custom_js"] == {"part": "scripts", "name": "custom_js", "feeds": [], "feed_count": 0}
    assert left["webhook_url"]["feed_count"] == 1


@pytest.mark.one_engine
def test_parts_of_an_archive_are_applied_on_request(alice: Person) -> None:
    alice.call("POST", PATH, raw=hostile_archive(theme="dark_serif"), apply="rules,scripts")
    finished(alice)
    me = alice.get("/v1/me")

    assert (me["custom_js"], me["theme"]) == (HOSTILE_SETTINGS["custom_js"], "light_serif")
    assert me["block_filter_entry_rules"] == "EntryTitle=.*"
    assert alice.get("/v1/integrations")["webhook"]["enabled"] is False

    unknown = alice.call("POST", PATH, raw=hostile_archive(), apply="everything")
    assert unknown.status == 400
    assert "apply: 'everything' is none of settings, rules" in unknown.json()["error_message"]


@pytest.mark.one_engine
def test_settings_that_are_nested_without_end_are_an_error_that_says_so(alice: Person) -> None:
    with zipfile.ZipFile(io.BytesIO(hostile_archive())) as source:
        members = {name: source.read(name) for name in source.namelist()}
    members["settings.json"] = b'{"future":' * 5_000 + b"1" + b"}" * 5_000
    nested = io.BytesIO()
    with zipfile.ZipFile(nested, "w") as target:
        for name, content in members.items():
            target.writestr(name, content)

    alice.call("POST", PATH, raw=nested.getvalue())
    state = finished(alice)

    assert (state["state"], state["error_message"]) == ("failed", "settings.json in this archive is nested too deeply.")
    assert alice.get("/v1/feeds") == []


@pytest.mark.one_engine
def test_a_file_of_another_reader_comes_as_a_form(alice: Person) -> None:
    status, begun = _send(alice, *_form(POCKET.encode()), f"{PATH}?source=pocket")
    state = finished(alice)

    assert (status, begun["origin"]) == (202, "stars.csv")
    assert state["report"]["new_entries"] == 1
    assert [entry["tags"] for entry in alice.entries()] == [["weather"]]


@pytest.mark.one_engine
def test_a_file_that_cannot_be_read_fails_and_the_message_names_it_as_the_user_does(alice: Person) -> None:
    _send(alice, *_form(b"nothing of that kind"), f"{PATH}?source=pocket")
    state = finished(alice)

    assert (state["state"], state["report"]) == ("failed", None)
    assert "stars.csv" in state["error_message"]
    assert alice.get("/v1/feeds") == []
    assert _folder(alice) == []


@pytest.mark.one_engine
def test_what_is_no_import_is_refused(alice: Person) -> None:
    assert alice.call("GET", PATH).status == 404
    assert "source" in alice.call("POST", PATH, raw=b"x", source="paper").json()["error_message"]
    assert alice.call("POST", PATH, raw=b"x", source="miniflux").status == 400
    assert alice.call("POST", PATH, raw=b"x", source="tiny-tiny-rss").status == 400
    assert alice.call("POST", PATH, raw=b"").status == 400
    assert _send(alice, b"--border\r\nbroken", "multipart/form-data; boundary=border", PATH)[0] == 400
    assert _send(alice, b"x", "multipart/form-data", PATH)[0] == 400
    assert alice.call("GET", PATH).status == 404
    assert _folder(alice) == []


def _server(site: Publisher) -> str:
    """Serve the account of a Miniflux with one feed. Returns the address."""
    feed = {"id": 1, "feed_url": "https://example.org/feed", "title": "Rain", "category": {"title": "Weather"}}
    answers = {"me": {}, "categories": [], "feeds": [feed], "entries": {"total": 0, "entries": []}}
    for name, answer in answers.items():
        site.script(f"/v1/{name}", Answer(json.dumps(answer)))
    return site.url("")


def test_an_account_comes_from_a_running_miniflux(alice: Person, site: Publisher) -> None:
    begun = alice.post("/v1/import/miniflux", {"url": _server(site), "api_key": "secret key"}, status=202)
    state = finished(alice)

    assert (begun["source"], begun["origin"]) == ("miniflux", "127.0.0.1")
    assert (state["state"], state["error_message"]) == ("done", "")
    assert [feed["title"] for feed in alice.get("/v1/feeds")] == ["Rain"]
    assert {seen.headers["x-auth-token"] for seen in site.requests} == {"secret key"}
    assert "secret key" not in alice.service.log


@pytest.mark.one_engine
def test_scripts_of_a_miniflux_account_come_on_request(alice: Person, site: Publisher) -> None:
    server = {"url": _server(site), "api_key": "key"}
    site.script("/v1/me", Answer(json.dumps({"stylesheet": "p { color: red }", "theme": "dark_serif"})))

    alice.post("/v1/import/miniflux", server, status=202)
    report = finished(alice)["report"]
    without = alice.get("/v1/me")
    alice.post("/v1/import/miniflux", server | {"apply": "all"}, status=202)
    finished(alice)

    assert (without["stylesheet"], without["theme"]) == ("", "dark_serif")
    assert [one["name"] for one in report["left_off"]] == ["stylesheet"]
    assert alice.get("/v1/me")["stylesheet"] == "p { color: red }"
    assert alice.call("POST", "/v1/import/miniflux", server | {"apply": "security"}).status == 400


@pytest.mark.one_engine
def test_an_account_comes_from_a_running_tiny_tiny_rss(alice: Person, site: Publisher) -> None:
    feed = {"id": 7, "feed_url": "https://rain.example/feed", "title": "Rain", "cat_id": 3}
    site.script("/tt-rss/api/", Ttrss(categories=[{"id": 3, "title": "Weather"}], feeds=[feed]))
    account = {"url": site.url("/tt-rss"), "username": "ann", "password": "pässword"}

    begun = alice.post("/v1/import/tiny-tiny-rss", account, status=202)
    state = finished(alice)
    alice.post("/v1/import/tiny-tiny-rss", account | {"password": "wrong"}, status=202)
    refused = finished(alice)

    assert (begun["source"], begun["origin"]) == ("tiny-tiny-rss", "127.0.0.1")
    assert (state["state"], state["error_message"]) == ("done", "")
    assert [feed["title"] for feed in alice.get("/v1/feeds")] == ["Rain"]
    assert refused["state"] == "failed"
    assert "user and password" in refused["error_message"]
    assert "pässword" not in alice.service.log


@pytest.mark.one_engine
def test_the_address_and_the_key_of_a_server_are_checked(alice: Person) -> None:
    for body in ({"url": "ftp://example.org", "api_key": "key"}, {"url": "https://example.org", "api_key": " "}):
        assert alice.call("POST", "/v1/import/miniflux", body).status == 400
    account = {"url": "https://example.org", "username": "ann", "password": "x"}
    for wrong in ({"url": "ftp://example.org"}, {"username": " "}, {"password": ""}):
        assert alice.call("POST", "/v1/import/tiny-tiny-rss", account | wrong).status == 400
    assert alice.call("GET", PATH).status == 404


def test_one_import_of_a_user_runs_at_a_time(alice: Person, bob: Person, site: Publisher) -> None:
    # This server answers when it is released.
    with _held(site):
        alice.post("/v1/import/miniflux", {"url": site.url(""), "api_key": "key"}, status=202)
        again = alice.call("POST", PATH, raw=POCKET.encode(), source="pocket")
        of_bob = bob.call("POST", PATH, raw=POCKET.encode(), source="pocket")

        assert (again.status, of_bob.status) == (409, 202)
        assert finished(bob)["state"] == "done"
    assert finished(alice)["state"] == "failed"


@pytest.fixture
def strict_service(databases: Databases, tmp_path: Path) -> Iterator[RunningService]:
    """A service that takes files of one MiB, and fetches nothing from private networks."""
    settings = {"import_max_size": "1", "fetcher_allow_private_networks": "0"}
    with databases.migrated() as url, running_service(url, tmp_path, **settings) as running:
        yield running


@pytest.mark.one_engine
def test_files_above_the_limit_are_refused_with_413_and_private_servers_with_the_reason(
    strict_service: RunningService, site: Publisher
) -> None:
    alice = Cast(strict_service).person("alice")

    declared = alice.call("POST", PATH, raw=b"x" * (2**20 + 1))
    status, chunked = _send_chunked(alice, 2**20 + 1)
    alice.post("/v1/import/miniflux", {"url": _server(site), "api_key": "key"}, status=202)
    state = finished(alice)
    account = {"url": site.url("/tt-rss"), "username": "ann", "password": "x"}
    alice.post("/v1/import/tiny-tiny-rss", account, status=202)
    private = finished(alice)

    assert (declared.status, status) == (413, 413)
    assert "1 MiB" in declared.json()["error_message"]
    assert "1 MiB" in chunked["error_message"]
    assert state["state"] == "failed"
    assert "TIDINGS_FETCHER_ALLOW_PRIVATE_NETWORKS" in state["error_message"]
    assert "TIDINGS_FETCHER_ALLOW_PRIVATE_NETWORKS" in private["error_message"]
    assert site.requests == []
    assert _folder(alice) == []


def _send_chunked(person: Person, size: int) -> tuple[int, Any]:
    """Send a body without its length, of which the service learns only while it arrives."""
    pieces = (b"x" * 4096 for _ in range(size // 4096 + 1))
    with closing(http.client.HTTPConnection(urlsplit(person.service.url).netloc, timeout=60)) as connection:
        connection.request("POST", PATH, pieces, {"X-Auth-Token": person.token}, encode_chunked=True)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


@pytest.fixture
def roomy_service(databases: Databases, tmp_path: Path) -> Iterator[RunningService]:
    """A service that takes files of one TiB, which its disk does not have."""
    assert shutil.disk_usage(tmp_path).free < 2**40
    with databases.migrated() as url, running_service(url, tmp_path, import_max_size=str(2**20)) as running:
        yield running


@pytest.mark.one_engine
def test_a_file_that_does_not_fit_on_the_disk_is_refused_before_it_is_sent(roomy_service: RunningService) -> None:
    alice = Cast(roomy_service).person("alice")

    with closing(http.client.HTTPConnection(urlsplit(roomy_service.url).netloc, timeout=60)) as connection:
        connection.putrequest("POST", PATH)
        connection.putheader("X-Auth-Token", alice.token)
        connection.putheader("Content-Length", str(2**40))
        connection.endheaders()
        answer = connection.getresponse()
        message = json.loads(answer.read())["error_message"]

    assert (answer.status, "too little free space" in message) == (507, True)
    assert _folder(alice) == []
    assert alice.call("GET", "/v1/feeds").status == 200


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("mebibytes", "explained"), [pytest.param(1_000, "starred.json", marks=pytest.mark.long), (1_024, "unpacks to 1")]
)
def test_a_zip_file_that_unpacks_to_gigabytes_fails_and_leaves_nothing(
    alice: Person, mebibytes: int, explained: str
) -> None:
    """An item of a list that never ends: the import stops long before the end, or before it begins."""
    bomb = io.BytesIO()
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target,
        target.open("Takeout/starred.json", "w", force_zip64=True) as member,
    ):
        member.write(b'{"id": "user/-/state/com.google/starred", "items": [{"title": "')
        for _ in range(mebibytes):
            member.write(b"a" * 2**20)

    status, _ = _send(alice, bomb.getvalue(), "application/zip", f"{PATH}?source=google-reader")
    state = finished(alice)

    assert (status, state["state"], state["report"]) == (202, "failed", None)
    assert explained in state["error_message"]
    assert alice.get("/v1/feeds") == []
    assert _folder(alice) == []


def test_an_import_that_the_service_interrupts_says_so_and_can_be_repeated(
    databases: Databases, tmp_path: Path, site: Publisher
) -> None:
    with databases.migrated() as url:
        with running_service(url, tmp_path) as first, _held(site):
            alice = Cast(first).person("alice")
            alice.post("/v1/import/miniflux", {"url": site.url(""), "api_key": "key"}, status=202)
            while alice.get(PATH)["state"] == "waiting":
                time.sleep(0.05)
            first.stop()
        with running_service(url, tmp_path) as second:
            alice = replace(alice, service=second)
            assert alice.get(PATH)["state"] == "interrupted"
            alice.post("/v1/import/miniflux", {"url": _server(site), "api_key": "key"}, status=202)
            assert finished(alice)["state"] == "done"
