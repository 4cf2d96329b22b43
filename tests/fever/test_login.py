"""Who gets in: keys of API passwords, in the form or in the query, at each address."""

from __future__ import annotations

import pytest

from clients.library import Library
from fever.apps import ADDRESSES, FORM, UNKNOWN_KEY, FeverApp, key_of, sign_in
from support.databases import Databases
from support.people import PASSWORD, Cast, Person, call
from support.running import environment_for, running, running_service
from tidings.base.times import MINUTE, SECOND, Instant
from tidings.domain.accounts.throttle import network_bucket
from tidings.storage.accounts import sign_in_failures
from tidings.storage.feeds import feeds

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

REFUSED = {"api_version": 3, "auth": 0}


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("key_in", ["form", "query"])
def test_a_known_key_is_accepted_at_every_url(app: FeverApp, address: str, key_in: str) -> None:
    app.address = address

    for key in (app.key, app.key.upper()):
        app.key = key
        assert app.get(key_in=key_in) == {"api_version": 3, "auth": 1, "last_refreshed_on_time": 0}


def test_the_last_refresh_is_that_of_the_feeds(alice: Person, library: Library, app: FeverApp) -> None:
    found = app.get()

    with alice.service.services.reading() as db:
        moments = [one.checked_at for one in feeds.list_all(db, alice.id)]
    assert found["last_refreshed_on_time"] == max(moments) // 1_000_000
    assert library.feed


@pytest.mark.parametrize("query", ["", "&items", "&groups&feeds&favicons&unread_item_ids"])
def test_an_unknown_key_gets_200_and_nothing_else(alice: Person, library: Library, query: str) -> None:
    for key in ("", UNKNOWN_KEY, "x", "é" * 32):
        answer = FeverApp(alice, key, forwarded=f"198.18.20.{1 + len(query) % 50}").call(query)

        assert (answer.status, answer.json()) == (200, REFUSED), key
    assert library.entry


def test_without_a_key_the_response_is_the_same(alice: Person) -> None:
    for method in ("GET", "POST"):
        answer = call(alice.service.url, method, "/fever/?api&items", b"" if method == "POST" else None)
        assert (answer.status, answer.json()) == (200, REFUSED)


def test_account_passwords_and_deleted_passwords_are_no_keys(alice: Person) -> None:
    created = alice.post("/v1/api-passwords", {"name": "app"})
    app = FeverApp(alice, key_of(alice.user.username, created["password"]))
    assert app.get()["auth"] == 1
    alice.delete(f"/v1/api-passwords/{created['id']}")

    assert app.call().json() == REFUSED
    assert FeverApp(alice, key_of(alice.user.username, PASSWORD)).call().json() == REFUSED


def test_an_unknown_key_marks_nothing(alice: Person, library: Library) -> None:
    before = alice.entries()

    FeverApp(alice, UNKNOWN_KEY).call(fields={"mark": "item", "as": "saved", "id": library.entry})

    assert alice.entries() == before


def test_api_need_not_be_sent(alice: Person, library: Library, app: FeverApp) -> None:
    body = f"api_key={app.key}&mark=item&as=saved&id={library.entry}&items".encode()

    answer = call(alice.service.url, "POST", "/fever/", body, {"Content-Type": FORM})

    assert set(answer.json()) == {"api_version", "auth", "last_refreshed_on_time", "items", "total_items"}
    assert alice.get(f"/v1/entries/{library.entry}")["starred"]


def test_cookies_and_api_keys_give_no_access(alice: Person) -> None:
    assert alice.call("GET", "/fever/?api").json() == REFUSED


def test_the_use_of_the_password_is_recorded(alice: Person, app: FeverApp) -> None:
    app.get()

    assert alice.get("/v1/api-passwords")[0]["last_used_at"]


def test_multipart_forms_are_read(alice: Person, app: FeverApp) -> None:
    body = f'--x\r\nContent-Disposition: form-data; name="api_key"\r\n\r\n{app.key}\r\n--x--\r\n'.encode()

    answer = call(alice.service.url, "POST", "/fever/?api", body, {"Content-Type": "multipart/form-data; boundary=x"})

    assert answer.json()["auth"] == 1


def test_pages_of_other_origins_may_send_requests(alice: Person, app: FeverApp) -> None:
    answer = call(alice.service.url, "OPTIONS", "/fever/?api", headers={"Origin": "https://app.example"})

    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert app.call().headers["access-control-allow-origin"] == "*"
    assert app.call().headers["cache-control"] == "no-store"


def test_other_methods_are_refused(alice: Person) -> None:
    for method in ("PUT", "DELETE", "PATCH"):
        answer = call(alice.service.url, method, "/fever/?api")
        assert answer.status == 405
        assert set(answer.headers["allow"].replace(" ", "").split(",")) == {"GET", "HEAD", "POST"}
    assert call(alice.service.url, "GET", "/fever/more?api").status == 404


def test_unknown_keys_wait_after_twelve_and_are_refused_beyond_twenty_seconds(alice: Person, app: FeverApp) -> None:
    services, address = alice.service.services, "198.18.30.7"
    waits = [services.accounts.app_logins.throttle_unknown_key(address) for _ in range(16)]
    assert waits[:12] == [0] * 12
    assert waits[12:] == sorted(waits[12:])
    assert waits[15] > waits[12]
    now = services.clock()
    with services.database.writing() as db:
        ahead = {network_bucket(address).key: Instant(now + 60 * SECOND)}
        sign_in_failures.add_failure(db, ahead, now=now, since=Instant(now - MINUTE))

    answer = FeverApp(alice, UNKNOWN_KEY, forwarded=address).call()

    assert (answer.status, answer.json()["auth"]) == (429, 0)
    assert 30 < int(answer.headers["retry-after"]) <= 61
    app.forwarded = address
    assert app.get()["auth"] == 1
    assert FeverApp(alice, UNKNOWN_KEY, forwarded="198.18.30.8").call().json() == REFUSED


def test_the_key_is_in_no_log(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("logged")
    with databases.migrated() as url, running_service(url, folder, access_log="1") as service:
        app = sign_in(Cast(service).person("alice"))
        app.get("&items", method="GET", key_in="query")
        FeverApp(app.person, UNKNOWN_KEY).call(key_in="query")
        log = service.log

    assert "/fever/" in log
    assert app.key not in log
    assert UNKNOWN_KEY not in log


def test_the_service_answers_below_a_base_path(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("based")
    with databases.migrated() as url:
        environment = environment_for(url, folder, base_url="http://127.0.0.1/news")
        with running("web", environment, folder) as service:
            service.url += "/news"
            service.wait_until_ready()
            app = sign_in_below(Cast(service).person("alice"), "/news")
            for address in ADDRESSES:
                app.address = f"/news{address}"
                assert app.get()["auth"] == 1


def sign_in_below(person: Person, base: str) -> FeverApp:
    password = person.call("POST", f"{base}/v1/api-passwords", {"name": "app"}).json()["password"]
    return FeverApp(person, key_of(person.user.username, password))
