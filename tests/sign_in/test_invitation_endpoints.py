"""Invitations that administrators make with the API."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from support.people import Person
from support.running import RunningService
from support.visitors import Visitor


def test_an_invitation_is_made_listed_used_and_gone(service: RunningService, charlie: Person) -> None:
    body = {"note": f"Dora of {charlie.id}", "max_feeds": 2, "max_entries": 0}
    path = urlsplit(charlie.post("/v1/invitations", body)["url"]).path

    (listed,) = [one for one in charlie.get("/v1/invitations") if one["note"] == body["note"]]

    assert listed["invited_by"] == charlie.user.username
    assert (listed["is_admin"], listed["max_feeds"], listed["max_entries"], listed["max_megabytes"]) == (
        False,
        2,
        0,
        None,
    )
    name = f"{charlie.user.username}-dora"
    guest = Visitor(service)
    guest.page(path)
    guest.post(path, username=name, password="a long walk", repeated="a long walk")
    created = charlie.get(f"/v1/users/{name}")
    assert charlie.get(f"/v1/users/{created['id']}/limits")["max_feeds"] == 2
    assert listed["id"] not in [one["id"] for one in charlie.get("/v1/invitations")]


@pytest.mark.one_engine
def test_an_invitation_is_withdrawn(service: RunningService, charlie: Person) -> None:
    path = urlsplit(charlie.post("/v1/invitations", {})["url"]).path
    invitation = charlie.get("/v1/invitations")[0]["id"]

    charlie.delete(f"/v1/invitations/{invitation}")

    assert charlie.call("DELETE", f"/v1/invitations/{invitation}").status == 404
    assert Visitor(service).get(path).status == 404


@pytest.mark.one_engine
@pytest.mark.parametrize(("name", "value"), [("note", "x" * 201), ("max_feeds", -1), ("max_megabytes", 2**31)])
def test_wrong_values_are_named(name: str, value: object, charlie: Person) -> None:
    refused = charlie.call("POST", "/v1/invitations", {name: value})

    assert (refused.status, refused.error.partition(":")[0]) == (400, name)


@pytest.mark.one_engine
def test_only_administrators_invite_and_see_invitations(alice: Person) -> None:
    for method in ("GET", "POST"):
        assert alice.call(method, "/v1/invitations", {}).status == 403
