"""What happens to accounts is in their log, and a flood of refused sign-ins does not fill it."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from support.people import PASSWORD, Person, basic, call
from support.running import RunningService
from support.visitors import Visitor
from tidings.base.times import DAY, Instant
from tidings.domain.accounts.events import AccountEvent, EventKind, Method, Origin
from tidings.engine.database import Database
from tidings.services.accounts.users import Users
from tidings.services.clock import system_clock
from tidings.sign_in import account_log, log_words
from tidings.sign_in.account_log import REFUSALS_OF_NOBODY, REFUSALS_OF_USER, AccountLog
from tidings.sign_in.account_log_store import LogFilter, LogPlace
from tidings.sign_in.tables import account_log as table


@pytest.fixture
def admin(service: RunningService, charlie: Person) -> Visitor:
    admin = Visitor(service, charlie)
    admin.sign_in()
    return admin


def kinds(administrator: Person, user: Person) -> list[tuple[str, str, str]]:
    """Return kind, method and detail of what happened to a user, the newest first."""
    found = administrator.get("/v1/audit", user_id=user.id)["entries"]
    return [(one["kind"], one["method"], one["detail"]) for one in found]


def test_a_user_sees_who_signed_in_and_who_was_refused(service: RunningService, alice: Person) -> None:
    visitor = Visitor(service, alice)
    visitor.sign_in(password="wrong horse")
    visitor.sign_in()
    page = visitor.page("/settings/log")

    assert page.index("Signed in") < page.index("Refused") < page.index("wrong name or password")
    assert visitor.address in page


def test_changes_are_logged_with_who_made_them(
    service: RunningService, alice: Person, charlie: Person, admin: Visitor
) -> None:
    visitor = Visitor(service, alice)
    visitor.sign_in()
    visitor.post("/settings/api-keys", description="Phone")
    alice.post("/v1/api-passwords", {"name": "Reeder"})
    visitor.post("/settings/security", current=PASSWORD, password="a long walk", repeated="a long walk")
    admin.page("/users")
    admin.post(f"/users/{alice.id}", username=alice.user.username, is_admin="1")

    found = charlie.get("/v1/audit", user_id=alice.id)["entries"]
    assert [(one["kind"], one["method"], one["actor"]) for one in found][:5] == [
        ("user_changed", "password", charlie.user.username),
        ("password_changed", "password", ""),
        ("api_password_created", "api_key", ""),
        ("api_key_created", "password", ""),
        ("signed_in", "password", ""),
    ]
    assert [one["detail"] for one in found][:4] == ["is_admin: true", "", "Reeder", "Phone"]


@pytest.mark.parametrize(("name", "shown"), [("alice", True), ("hunter2", False)])
def test_a_name_that_nobody_has_is_not_stored(
    service: RunningService, alice: Person, charlie: Person, name: str, shown: bool
) -> None:
    """It may be a password in the wrong field."""
    typed = alice.user.username if shown else name
    call(service.url, "GET", "/v1/me", headers=basic(typed, "wrong"))

    newest = charlie.get("/v1/audit", kind="refused", limit=1)["entries"][0]
    assert newest["username"] == (typed if shown else "")
    assert newest["user_id"] == (alice.id if shown else None)


def test_sign_ins_of_scripts_share_a_row(service: RunningService, alice: Person, charlie: Person) -> None:
    for _ in range(2):
        assert call(service.url, "GET", "/v1/me", headers=basic(alice.user.username)).status == 200

    assert [kind for kind, _, _ in kinds(charlie, alice)].count("signed_in") == 1


def test_only_administrators_read_the_log_of_all(service: RunningService, alice: Person) -> None:
    assert alice.call("GET", "/v1/audit").status == 403
    visitor = Visitor(service, alice)
    visitor.sign_in()
    assert visitor.get("/users/log").status == 403


def test_the_log_of_all_can_be_filtered(admin: Visitor, alice: Person, bob: Person) -> None:
    for person in (alice, bob):
        person.post("/v1/api-passwords", {"name": f"App of {person.user.username}"})

    both = admin.page("/users/log")
    of_alice = admin.page(f"/users/log?user={alice.id}")
    refused = admin.page("/users/log?kind=refused")

    assert all(f"App of {one.user.username}" in both for one in (alice, bob))
    assert f"App of {alice.user.username}" in of_alice
    assert f"App of {bob.user.username}" not in of_alice
    assert "App of" not in refused


@pytest.mark.parametrize(
    "query", ["kind=other", "method=magic", "limit=0", "limit=1001", "before=x", "before=1", "before=1.x"]
)
def test_what_the_log_does_not_know_is_refused(charlie: Person, query: str) -> None:
    answer = charlie.call("GET", f"/v1/audit?{query}")

    assert answer.status == 400
    assert query.partition("=")[0] in answer.error


def test_pages_of_the_log_follow_each_other(alice: Person, charlie: Person) -> None:
    for number in range(5):
        alice.post("/v1/api-passwords", {"name": f"App {number}"})
    seen: list[str] = []
    before = ""
    while True:
        page = charlie.get("/v1/audit", user_id=alice.id, kind="api_password_created", limit=2, before=before)
        seen += [one["detail"] for one in page["entries"]]
        if page["next"] is None:
            break
        before = page["next"]

    assert seen == [f"App {number}" for number in (4, 3, 2, 1, 0)]


def refused(user_id: int | None, address: str, now: Instant) -> AccountEvent:
    return AccountEvent(
        kind=EventKind.REFUSED, at=now, user_id=user_id, username="alice", detail="wrong name or password",
        origin=Origin(address, "", Method.PASSWORD),
    )  # fmt: skip


def test_a_flood_of_refused_sign_ins_has_a_bounded_number_of_rows(database: Database) -> None:
    alice, now = Users(database, system_clock).create("alice", PASSWORD), Instant(system_clock() // DAY * DAY)
    with database.writing() as db:
        for number in range(600):
            for user_id in (alice.id, None):
                account_log.record(db, refused(user_id, f"198.51.{number // 250}.{number % 250}", now))
        rows = {
            user_id: db.scalar(select(func.count()).where(table.c.user_id.is_not_distinct_from(user_id)))
            for user_id in (alice.id, None)
        }
    found, _ = AccountLog(database).page(LogFilter(user_id=alice.id), before=None, limit=100)

    assert rows[alice.id] <= REFUSALS_OF_USER
    assert rows[None] <= REFUSALS_OF_NOBODY
    assert sum(one.times for one in found) == 600
    assert all(one.has_several_addresses for one in found)


def test_entries_are_removed_after_ninety_days(database: Database) -> None:
    now = Instant(system_clock())
    with database.writing() as db:
        account_log.record(db, refused(None, "192.0.2.1", Instant(now - 91 * DAY)))
        account_log.record(db, refused(None, "192.0.2.1", Instant(now - 89 * DAY)))
        assert account_log.remove_expired(db, now, 100) == 1
    found, more = AccountLog(database).page(LogFilter(), before=None, limit=10)

    assert len(found) == 1
    assert more is None


def test_a_place_in_the_log_survives_being_written() -> None:
    place = LogPlace(Instant(17), 4)

    assert LogPlace.read(str(place)) == place


def test_an_account_that_is_removed_takes_its_log_along(cast_of: Person, charlie: Person) -> None:
    name = cast_of.user.username
    charlie.delete(f"/v1/users/{cast_of.id}")

    assert charlie.get("/v1/audit", user_id=cast_of.id)["entries"] == []
    newest = charlie.get("/v1/audit", limit=1)["entries"][0]
    assert (newest["kind"], newest["username"], newest["actor"]) == ("user_removed", name, charlie.user.username)


@pytest.fixture
def cast_of(bob: Person) -> Person:
    """Someone who is removed."""
    return bob


def test_every_kind_and_method_has_words() -> None:
    assert log_words.KINDS.keys() == set(EventKind)
    assert log_words.METHODS.keys() == set(Method)


@pytest.mark.parametrize(
    ("kind", "detail", "words"),
    [
        (EventKind.USER_CHANGED, "is_admin: true, by groups of the provider", "Administrator: yes, by groups of"),
        (EventKind.USER_CHANGED, "max_feeds: 1200, max_entries: 0", "Feeds: at most 1,200, Entries: without limit"),
        (EventKind.REFUSED, "unknown link", "link was used, or is too old"),
        (EventKind.REFUSED, "aud is wrong", "aud is wrong"),
        (EventKind.API_KEY_CREATED, "unknown link", "unknown link"),
    ],
)
def test_details_are_shown_in_words_unless_a_user_wrote_them(kind: EventKind, detail: str, words: str) -> None:
    assert log_words.detail_in_words(kind, detail).startswith(words)


@pytest.mark.one_engine
def test_users_read_what_happened_to_their_own_account(service: RunningService, alice: Person, bob: Person) -> None:
    Visitor(service, alice).sign_in()
    Visitor(service, bob).sign_in()
    bob.post("/v1/api-keys", {"description": "Phone"})

    seen = alice.get("/v1/me/audit")["entries"]

    assert {one["user_id"] for one in seen} == {alice.id}
    assert seen[0]["kind"] == "signed_in"
    assert bob.get("/v1/me/audit", kind="signed_in", limit=1)["entries"][0]["user_id"] == bob.id
    assert alice.call("GET", "/v1/me/audit?kind=lost").status == 400
    assert alice.get("/v1/me/audit", user_id=bob.id)["entries"] == seen
