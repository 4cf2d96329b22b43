"""The pages of administrators, which other users cannot open."""

from __future__ import annotations

import pytest

from support.people import PASSWORD, Cast, Person
from support.running import RunningService
from support.visitors import Visitor

NOT_FOR_ALL = ("/users", "/users/new", "/users/1", "/instance")


@pytest.fixture
def admin(service: RunningService, charlie: Person) -> Visitor:
    """Charlie, signed in."""
    admin = Visitor(service, charlie)
    admin.sign_in()
    return admin


@pytest.mark.parametrize("path", NOT_FOR_ALL)
def test_other_users_are_refused(reader: Visitor, path: str) -> None:
    answer = reader.get(path)

    assert answer.status == 403
    assert "Only an administrator" in answer.body.decode()
    assert 'href="/users"' not in reader.page("/settings")


def test_other_users_cannot_change_accounts(reader: Visitor, bob: Person) -> None:
    reader.page("/settings")

    assert reader.post(f"/users/{bob.id}", username="robert").status == 403
    assert reader.post(f"/users/{bob.id}/delete").status == 403
    assert reader.post("/users/new", username="mallory", password=PASSWORD).status == 403
    assert bob.get("/v1/me")["username"] == bob.user.username


def test_an_administrator_creates_an_account_and_its_owner_can_sign_in(
    service: RunningService, admin: Visitor, cast: Cast
) -> None:
    name = cast.person("dora").user.username + "-2"
    admin.page("/users/new")
    listed = admin.follow(admin.post("/users/new", username=name, password="a long walk"))
    assert f">{name}<" in listed

    visitor = Visitor(service)
    visitor.get("/sign-in")
    assert visitor.post("/sign-in", username=name, password="a long walk").headers["location"] == "/"


def test_errors_of_an_account_form_are_shown_next_to_their_fields(admin: Visitor, bob: Person) -> None:
    admin.page("/users/new")
    answer = admin.post("/users/new", username="a b", password=PASSWORD)
    assert answer.status == 400
    assert 'id="error-username"' in answer.body.decode()
    assert 'value="a b"' in answer.body.decode()

    taken = admin.post("/users/new", username=bob.user.username, password=PASSWORD)
    assert "There is already a user called" in taken.body.decode()
    assert 'id="error-password"' in admin.post("/users/new", username="dora-x", password="x").body.decode()


def test_an_administrator_can_promote_rename_and_sign_out_a_user(
    admin: Visitor, alice: Person, reader: Visitor
) -> None:
    admin.page(f"/users/{alice.id}")
    name = alice.user.username + "-new"
    assert admin.post(f"/users/{alice.id}", username=name, is_admin="1", password="a new horse").status == 303

    me = alice.get("/v1/me")
    assert (me["username"], me["is_admin"]) == (name, True)
    assert reader.get("/unread").status == 303


def test_an_administrator_who_gives_up_the_role_is_redirected(admin: Visitor, charlie: Person, cast: Cast) -> None:
    cast.person("carol", is_admin=True)
    admin.page(f"/users/{charlie.id}")
    answer = admin.post(f"/users/{charlie.id}", username=charlie.user.username)

    assert answer.headers["location"] == "/settings"
    assert admin.get("/users").status == 403


def test_an_administrator_can_delete_other_accounts_only(admin: Visitor, charlie: Person, bob: Person) -> None:
    admin.page(f"/users/{bob.id}")
    listed = admin.follow(admin.post(f"/users/{bob.id}/delete"))
    assert f'href="/users/{bob.id}"' not in listed
    assert bob.call("GET", "/v1/me").status == 401
    assert admin.get(f"/users/{bob.id}").status == 404
    assert admin.get("/users/2147483000").status == 404

    own = admin.post(f"/users/{charlie.id}/delete")
    assert own.status == 400
    assert "You cannot delete your own account" in own.body.decode()
    assert "/delete" not in admin.page(f"/users/{charlie.id}")


def test_the_instance_page_shows_the_status(admin: Visitor) -> None:
    page = admin.page("/instance")

    assert "PostgreSQL" in page or "SQLite" in page
    assert "Checked within the hour" in page


@pytest.mark.parametrize("number", ["0", "2147483648", "9223372036854775807", "99999999999999999999", "x", "%00"])
def test_unknown_ids_are_404(admin: Visitor, number: str) -> None:
    admin.page("/settings")

    for path in (f"/users/{number}", f"/settings/deliveries/{number}", f"/settings/deliveries/{number}/body"):
        assert admin.get(path).status == 404, path
    for path in (
        f"/users/{number}",
        f"/users/{number}/delete",
        f"/settings/api-keys/{number}/delete",
        f"/settings/api-passwords/{number}/delete",
    ):
        assert admin.post(path, username="x").status == 404, path
    for path in (f"/settings/sessions/{number}/end", f"/settings/deliveries/{number}/redeliver"):
        assert admin.post(path).status == 404, path
    assert admin.get(f"/settings/deliveries?before={number}&state={number}").status in (200, 400)
