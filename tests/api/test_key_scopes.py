"""What API keys with fewer rights, and for a limited time, may do."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from support import scopes
from support.databases import Databases
from support.handbook import check_examples
from support.people import Cast, HttpResponse, Person, basic, call
from support.publisher import Publisher
from support.running import running_service
from support.visitors import Visitor
from tidings.api.openapi import operations_of
from tidings.api.scopes import scope_of
from tidings.domain.accounts.rights import KeyScope
from tidings.http.endpoints import Endpoint, Routes
from tidings.runtime import children
from tidings.services.accounts.key_quotas import MAX_WINDOWS, KeyQuotas, KeyThrottled, Quota
from tidings.wiring.routes import API_DOCUMENT, API_ROUTES
from tidings.wiring.services import AllServices

TOMORROW = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


def with_key(person: Person, **wanted: Any) -> Person:
    """Return the person with a new key instead of theirs."""
    key = person.post("/v1/api-keys", {"description": f"Key {wanted}", **wanted})
    return replace(person, token=key["token"])


def code_of(answer: HttpResponse) -> tuple[int, str]:
    return answer.status, answer.headers["x-error-code"]


def expire(services: AllServices, token: str) -> None:
    with services.database.writing() as db:
        assert db.run(text("UPDATE api_keys SET expires_at = 1 WHERE token = :token"), token=token) == 1


@pytest.mark.slow
@pytest.mark.one_engine
def test_every_endpoint_refuses_keys_with_a_lesser_scope_and_takes_those_with_its_own(charlie: Person) -> None:
    keys = {scope: with_key(charlie, scope=str(scope)) for scope in KeyScope}
    for name, route in operations_of(API_ROUTES).items():
        needed = scope_of(route)
        if needed is None:
            continue
        for scope, person in keys.items():
            if not scope.includes(needed):
                answer = person.call(route.method, with_ids(route), raw=b"{")
                assert code_of(answer) == (403, "scope-missing"), name
                assert f'"{needed}"' in answer.error, name
        # Nothing has this id: what comes after the permission is refused, or is not there.
        if "_id}" in route.path and name not in ("get_user", "get_limits", "mark_user_read"):
            assert keys[needed].call(route.method, with_ids(route), raw=b"{").status != 403, name


def with_ids(route: Endpoint) -> str:
    return re.sub(r"\{\w+\}", "2147483000", route.path)


def test_every_change_declares_its_scope() -> None:
    for route in API_ROUTES:
        assert scope_of(route) or route.is_public

    careless = Routes("Pets")
    careless.post("/v1/pets")(lambda: None)
    with pytest.raises(TypeError, match="POST /v1/pets declares no scope"):
        scope_of(careless.all[0])


def test_the_document_names_the_scope_of_each_operation() -> None:
    feeds = API_DOCUMENT.at()["paths"]["/v1/feeds"]

    assert feeds["get"]["security"] == [{"password": []}, {"key": ["read"]}]
    assert feeds["post"]["security"] == [{"password": []}, {"key": ["manage"]}]


def test_the_table_of_scopes_in_the_handbook_is_the_reviewed_one(pytestconfig: pytest.Config) -> None:
    scopes.compare(write=bool(pytestconfig.getoption("--write-contracts")))


@pytest.mark.one_engine
def test_the_examples_of_the_handbook_are_true(alice: Person) -> None:
    assert check_examples("Keys", alice) == 3


def test_a_limited_key_sees_no_tokens_and_makes_no_stronger_key(alice: Person) -> None:
    key = with_key(alice, scope="manage", expires_at=TOMORROW)

    assert {one["token"] for one in key.get("/v1/api-keys")} == {""}
    assert alice.token in {one["token"] for one in alice.get("/v1/api-keys")}
    made = key.post("/v1/api-keys", {"description": "heir"})
    assert (made["scope"], made["expires_at"]) == ("manage", TOMORROW)
    weaker = key.post("/v1/api-keys", {"description": "weaker", "scope": "read"})
    assert (weaker["scope"], weaker["expires_at"]) == ("read", TOMORROW)
    stronger = key.call("POST", "/v1/api-keys", {"description": "stronger", "scope": "admin"})
    assert code_of(stronger) == (403, "scope-missing")
    longer = key.call("POST", "/v1/api-keys", {"description": "longer", "expires_at": "9000-01-01"})
    assert (longer.status, longer.error.split(":")[0]) == (400, "expires_at")
    assert key.call("POST", "/v1/api-passwords", {"name": "App"}).status == 403


def test_a_key_without_the_scope_admin_changes_settings_but_not_who_may_sign_in(charlie: Person, bob: Person) -> None:
    key = with_key(charlie, scope="manage")
    own = f"/v1/users/{charlie.id}"

    assert key.put(own, {"language": "de_DE"}, status=201)["language"] == "de_DE"
    for fields in ({"password": "better horse"}, {"username": "boss"}, {"is_admin": False}, {"google_id": "1"}):
        assert code_of(key.call("PUT", own, fields)) == (403, "scope-missing")
    for method, path in (("PUT", f"/v1/users/{bob.id}"), ("GET", f"/v1/users/{bob.id}/limits"), ("GET", "/v1/users")):
        assert code_of(key.call(method, path, {} if method == "PUT" else None)) == (403, "scope-missing")
    assert key.get("/v1/me")["is_admin"] is False
    assert with_key(charlie, scope="admin").get("/v1/me")["is_admin"] is True


def test_a_key_that_may_not_change_feeds_does_not_see_their_secrets(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])
    secrets = {"username": "ada", "password": "s3cret", "cookie": "id=1", "webhook_url": "https://hooks.example/1"}
    alice.put(f"/v1/feeds/{feed['id']}", secrets, status=201)
    reader, manager = with_key(alice, scope="write"), with_key(alice, scope="manage")

    for path in ("/v1/feeds", "/v1/entries"):
        assert b"s3cret" in manager.call("GET", path).body
        shown = reader.call("GET", path).body
        assert not [value for value in secrets.values() if value.encode() in shown]
    assert {reader.get(f"/v1/feeds/{feed['id']}")[name] for name in secrets} == {""}


def test_an_expired_key_is_refused_and_says_so(alice: Person, services: AllServices) -> None:
    key = with_key(alice, expires_at=TOMORROW)
    assert key.get("/v1/me")["id"] == alice.id
    expire(services, key.token)

    answer = key.call("GET", "/v1/me")

    assert code_of(answer) == (401, "expired-key")
    assert "www-authenticate" not in answer.headers
    assert alice.user.username not in answer.body.decode()
    assert key.call("GET", "/v1/nothing").status == 401
    assert [one["expires_at"] for one in alice.get("/v1/api-keys")] == ["1970-01-01T00:00:00.000001Z", None]


def test_a_date_is_the_last_day_in_the_zone_of_the_user(alice: Person) -> None:
    alice.put(f"/v1/users/{alice.id}", {"timezone": "Asia/Tokyo"}, status=201)

    key = alice.post("/v1/api-keys", {"description": "a day", "expires_at": "2990-12-31"})

    assert key["expires_at"] == "2991-01-01T00:00:00+09:00"


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("scope", "root"), ("scope", ""), ("scope", 5), ("expires_at", "soon"), ("expires_at", ""), ("expires_at", 7),
        ("expires_at", "2020-01-01"), ("expires_at", "2990-01-01T00:00:00"), ("expires_at", "9999-12-31"),
        ("expires_at", "2990-02-30"),
    ],
)  # fmt: skip
def test_an_unknown_scope_or_a_useless_expiry_is_400(field: str, value: object, alice: Person) -> None:
    answer = alice.call("POST", "/v1/api-keys", {"description": "wrong", field: value})

    assert answer.status == 400
    assert answer.error.startswith(f"{field}:")


def test_a_password_has_all_rights(charlie: Person) -> None:
    headers = basic(charlie.user.username)

    assert call(charlie.service.url, "GET", "/v1/users", headers=headers).status == 200
    assert charlie.token in call(charlie.service.url, "GET", "/v1/api-keys", headers=headers).body.decode()


def test_of_a_key_that_a_page_made_only_the_hash_is_stored(
    reader: Visitor, alice: Person, services: AllServices
) -> None:
    reader.page("/settings/api-keys")
    page = reader.post("/settings/api-keys", description="Script", scope="read", expires_at="2990-12-31").body.decode()
    token = re.search(r'id="new-key">([0-9a-f]{64})<', page)[1]  # type: ignore[index]

    key = replace(alice, token=token)
    assert key.get("/v1/me")["id"] == alice.id
    assert key.call("PUT", "/v1/flush-history").status == 403
    (listed,) = [one for one in alice.get("/v1/api-keys") if one["description"] == "Script"]
    assert (listed["token"], listed["scope"], listed["expires_at"]) == ("", "read", "2991-01-01T00:00:00Z")
    with services.database.reading() as db:
        assert db.scalars(text("SELECT token FROM api_keys WHERE id = :key"), key=listed["id"]) == [None]
    assert reader.post(f"/settings/api-keys/{listed['id']}/delete").status == 303
    assert key.call("GET", "/v1/me").status == 401


def test_a_stored_hash_is_not_a_key(alice: Person, services: AllServices) -> None:
    with services.database.reading() as db:
        digest = db.scalar(text("SELECT token_hash FROM api_keys WHERE token = :token"), token=alice.token)

    assert replace(alice, token=bytes(digest).hex()).call("GET", "/v1/me").status == 401


@pytest.mark.parametrize(("field", "value"), [("scope", "root"), ("expires_at", "2020-01-01"), ("expires_at", "soon")])
def test_the_page_shows_what_is_wrong_next_to_the_field(field: str, value: str, reader: Visitor) -> None:
    reader.page("/settings/api-keys")
    wrong: dict[str, Any] = {"description": "Kept", field: value}
    answer = reader.post("/settings/api-keys", **wrong)

    page = answer.body.decode()
    assert answer.status == 400
    assert f'id="error-{field}"' in page
    assert 'value="Kept"' in page


def test_a_key_has_its_requests_of_a_minute_and_then_waits() -> None:
    with contextlib.closing(KeyQuotas(2)) as quotas:
        assert quotas.take(1, 100.0) == Quota(2, 1, 60)
        assert quotas.take(1, 130.5) == Quota(2, 0, 30)
        with pytest.raises(KeyThrottled) as refused:
            quotas.take(1, 159.9)
        assert (refused.value.quota.remaining, refused.value.quota.reset_s) == (0, 1)
        assert quotas.take(2, 159.9).remaining == 1
        assert quotas.take(1, 160.0) == Quota(2, 1, 60)


@pytest.mark.one_engine
def test_an_operator_may_limit_the_requests_of_a_key(databases: Databases, tmp_path: Path) -> None:
    with databases.migrated() as url, running_service(url, tmp_path, api_key_rate_limit="1") as running:
        person = Cast(running).person("alice")
        first = person.call("GET", "/v1/nothing")
        refused = person.call("GET", "/v1/me")
        by_password = call(running.url, "GET", "/v1/me", headers=basic(person.user.username))

    assert (first.status, first.headers["ratelimit"]) == (404, '"key";r=0;t=60')
    assert first.headers["ratelimit-policy"] == '"key";q=1;w=60'
    assert code_of(refused) == (429, "too-many-requests")
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert refused.headers["ratelimit"] == f'"key";r=0;t={refused.headers["retry-after"]}'
    assert (by_password.status, "ratelimit" in by_password.headers) == (200, False)


def test_processes_count_the_requests_of_a_key_together() -> None:
    with contextlib.closing(KeyQuotas(3)) as quotas:
        assert children.run_once(lambda: quotas.take(1, 100.0).remaining) == 2

        assert quotas.take(1, 101.0) == Quota(3, 1, 59)


def test_keys_with_the_same_place_are_counted_separately() -> None:
    with contextlib.closing(KeyQuotas(2)) as quotas:
        quotas.take(7, 100.0)
        quotas.take(7 + MAX_WINDOWS, 100.0)

        assert quotas.take(7, 101.0).remaining == 0
        assert quotas.take(7 + MAX_WINDOWS, 101.0).remaining == 0


@pytest.mark.one_engine
def test_the_limit_of_a_key_is_the_same_with_two_web_processes(databases: Databases, tmp_path: Path) -> None:
    limits = {"api_key_rate_limit": "5", "web_workers": "2"}
    with databases.migrated() as url, running_service(url, tmp_path, **limits) as running:
        person = Cast(running).person("alice")
        # Each request has a connection of its own, which one of the two accepts.
        answers = [person.call("GET", "/v1/me").status for _ in range(30)]

    assert (answers.count(200), answers.count(429)) == (5, 25)


def test_without_a_limit_no_header_speaks_of_one(alice: Person) -> None:
    assert not {"ratelimit", "ratelimit-policy"} & alice.call("GET", "/v1/me").headers.keys()
