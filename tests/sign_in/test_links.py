"""Invitations, and links that sign in once."""

from __future__ import annotations

import re

import pytest

from support.people import PASSWORD, Person
from support.running import RunningService
from support.visitors import Visitor
from tidings.base.errors import NotFound
from tidings.base.times import DAY, HOUR, Instant
from tidings.domain.accounts.events import Origin
from tidings.engine.database import Database
from tidings.services.accounts.users import Users
from tidings.services.clock import system_clock
from tidings.services.listeners import Listeners
from tidings.sign_in.limits_model import Limits
from tidings.sign_in.links import AccountLinks
from tidings.storage.accounts import users
from tidings.wiring.services import AllServices

HERE = Origin("192.0.2.1")


@pytest.fixture
def admin(service: RunningService, charlie: Person) -> Visitor:
    admin = Visitor(service, charlie)
    admin.sign_in()
    return admin


def invite(admin: Visitor, **fields: str) -> str:
    """Return the path of the link that the page shows."""
    admin.page("/users/invitations")
    answer = admin.post("/users/invitations", fields)
    assert answer.status == 200, answer.body
    assert answer.headers["cache-control"] == "no-store"
    found = re.search(r"(/invitation/[\w-]+)<", answer.body.decode())
    assert found
    return found[1]


def test_who_is_invited_chooses_a_name_and_is_signed_in(
    service: RunningService, admin: Visitor, charlie: Person, alice: Person
) -> None:
    path, name = invite(admin, note="Dora", max_feeds="2"), f"{alice.user.username}-dora"
    guest = Visitor(service)
    assert "Create your account" in guest.page(path)

    assert guest.post(path, username=name, password="a long walk", repeated="a short one").status == 400
    assert guest.post(path, username=alice.user.username, password=PASSWORD, repeated=PASSWORD).status == 400
    answer = guest.post(path, username=name, password="a long walk", repeated="a long walk")

    assert answer.headers["location"] == "/"
    assert guest.get("/unread").status == 200
    created = charlie.get(f"/v1/users/{name}")
    assert created["is_admin"] is False
    assert charlie.get(f"/v1/users/{created['id']}/limits")["max_feeds"] == 2
    used = Visitor(service).get(path)
    assert used.status == 404
    assert "This link was used" in used.body.decode()


@pytest.mark.parametrize(
    ("accepted", "zone", "expected"),
    [
        ("pt-BR,pt;q=0.9,en;q=0.5", "America/Sao_Paulo", ("pt_BR", "America/Sao_Paulo")),
        ("zh-CN", "Asia/Calcutta", ("zh_CN", "Asia/Calcutta")),
        ("de", "", ("de_DE", "UTC")),
        ("en-GB,de;q=0.5", "Moon/Sea of Rains", ("en_US", "UTC")),
    ],
)
def test_a_new_account_begins_with_the_language_and_the_time_zone_of_the_browser(
    service: RunningService, admin: Visitor, alice: Person, accepted: str, zone: str, expected: tuple[str, str]
) -> None:
    path, name = invite(admin), f"{alice.user.username}-new"
    guest = Visitor(service)
    guest.page(path)
    sent = {"username": name, "password": PASSWORD, "repeated": PASSWORD, "timezone": zone}

    assert guest.post(path, sent, headers={"Accept-Language": accepted}).status == 303

    created = service.services.accounts.users.find(name)
    assert (created.language, created.timezone) == expected


def test_an_invitation_can_be_withdrawn(service: RunningService, admin: Visitor) -> None:
    path = invite(admin, note="Someone else")
    found = re.search(r"/users/invitations/(\d+)/delete", admin.page("/users/invitations"))
    assert found

    assert admin.post(found[0]).status == 303
    assert admin.post(found[0]).status == 404
    assert Visitor(service).get(path).status == 404


def test_wrong_limits_of_an_invitation_are_shown_next_to_the_field(admin: Visitor) -> None:
    admin.page("/users/invitations")
    answer = admin.post("/users/invitations", max_feeds="many")

    assert answer.status == 400
    assert 'id="error-max_feeds"' in answer.body.decode()
    assert "<details open>" in answer.body.decode()


def test_who_is_signed_in_reads_that_the_new_account_takes_its_place(admin: Visitor, charlie: Person) -> None:
    assert f"signed in as {charlie.user.username}:" in admin.page(invite(admin))


def test_unknown_links_are_refused_and_counted(service: RunningService, charlie: Person) -> None:
    guest = Visitor(service)
    guest.get("/sign-in")

    assert guest.post("/invitation/unknown", username="x", password=PASSWORD).status == 404
    assert guest.post("/sign-in/link/unknown").status == 404
    newest = charlie.get("/v1/audit?kind=refused&method=link&limit=1")["entries"][0]
    assert (newest["detail"], newest["address"]) == ("unknown link", guest.address)


def test_a_link_of_the_command_line_signs_in_once(
    service: RunningService, services: AllServices, alice: Person
) -> None:
    void = services.sign_in.links.make_sign_in(alice.user.username)
    path = f"/sign-in/link/{services.sign_in.links.make_sign_in(alice.user.username)}"
    guest = Visitor(service)

    assert Visitor(service).get(f"/sign-in/link/{void}").status == 404
    assert alice.user.username in guest.page(path)
    assert guest.post(path).headers["location"] == "/settings/security"
    assert alice.user.username in guest.page("/settings/security")
    assert Visitor(service).get(path).status == 404


def test_links_end_with_their_time(database: Database) -> None:
    now = [Instant(1_700_000_000_000_000)]
    links = AccountLinks(database, lambda: now[0], Listeners())
    charlie = Users(database, lambda: now[0]).create("charlie", PASSWORD, is_admin=True)
    invitation = links.invite(charlie, HERE, note="", is_admin=False, limits=Limits())
    sign_in = links.make_sign_in("charlie")

    now[0] = Instant(now[0] + HOUR)
    with pytest.raises(NotFound):
        links.use_sign_in(sign_in)
    assert links.invitation(invitation) is not None
    now[0] = Instant(now[0] + DAY)
    with pytest.raises(NotFound):
        links.accept(invitation, "dora", PASSWORD, HERE)
    assert links.invitations() == []


@pytest.mark.parametrize("change", ["demote", "remove"])
def test_invitations_end_with_the_role_of_their_administrator(database: Database, change: str) -> None:
    links, accounts = AccountLinks(database, system_clock, Listeners()), Users(database, system_clock)
    charlie, dora = (accounts.create(name, PASSWORD, is_admin=True) for name in ("charlie", "dora"))
    kept = links.invite(charlie, HERE, note="", is_admin=True, limits=Limits())
    assert links.invitation(kept) is not None

    with database.writing() as db:
        if change == "demote":
            users.change(db, charlie.id, is_admin=False)
        else:
            users.remove(db, charlie.id)

    assert links.invitation(kept) is None
    assert links.invitations() == []
    with pytest.raises(NotFound):
        links.accept(kept, "emil", PASSWORD, HERE)
    assert accounts.find(dora.username).is_admin
