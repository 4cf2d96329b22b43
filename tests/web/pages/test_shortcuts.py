"""Users choose the keys of pages: what the settings page, the pages and the API make of it."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from sqlalchemy import update

from support.people import Person
from support.visitors import Visitor
from tidings.domain.accounts.shortcuts import DEFAULT_SHORTCUTS
from tidings.storage.schema.people import users
from tidings.web.shortcuts import FIXED, LABELS


def table(page: str) -> dict[str, str]:
    """Return command by key, as the script reads them."""
    (keys,) = re.findall(r' data-keys="([^"]*)"', page)
    return dict(pair.split(" ") for pair in re.findall(r"\S+ \S+", html.unescape(keys)))


def typed(page: str) -> dict[str, str]:
    found = re.findall(r'<input id="keys-\w+" name="(\w+)" type="text" value="([^"]*)"', page)
    return {name: html.unescape(value) for name, value in found}


def send(reader: Visitor, status: int = 303, **changes: Any) -> str:
    """Send the form as a browser does, with some fields changed."""
    fields: dict[str, Any] = typed(reader.page("/settings/shortcuts")) | changes
    answer = reader.post("/settings/shortcuts", **fields)
    assert answer.status == status
    return answer.body.decode()


def test_every_command_has_words() -> None:
    assert set(LABELS) == set(DEFAULT_SHORTCUTS) | set(FIXED)


def test_pages_have_the_default_keys_at_first(reader: Visitor) -> None:
    keys = table(reader.page("/unread"))

    assert (keys["j"], keys["gu"], keys["/"], keys["ArrowRight"]) == ("next", "unread", "search", "next")


def test_a_key_is_changed_added_and_removed(reader: Visitor, alice: Person) -> None:
    send(reader, star="*", next="j n → x", mark_all="")

    keys = table(reader.page("/unread"))
    assert (keys["*"], keys["x"], keys["j"]) == ("star", "next", "next")
    assert not {"f", "A"} & keys.keys()
    assert alice.get("/v1/me")["shortcuts"] == "next j n ArrowRight x\nstar *\nmark_all"
    shown = reader.page("/keys")
    assert "<kbd>*</kbd>" in shown
    assert "Mark all as read" not in shown


def test_the_default_keys_come_back(reader: Visitor, alice: Person) -> None:
    send(reader, star="*", next="x")

    page = send(reader, 200, default="star")
    assert (typed(page)["star"], typed(page)["next"]) == ("f", "x")
    assert alice.get("/v1/me")["shortcuts"]
    send(reader, 303, **{"all-defaults": "1"})
    assert alice.get("/v1/me")["shortcuts"] == ""


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"star": "m"}, "m is already used for: Mark as read or unread"),
        ({"star": "g"}, "g is already used for: Unread"),
        ({"star": "jx"}, "jx is already used for: Next"),
        ({"star": "Enter"}, "Enter cannot be chosen as a key."),
        ({"star": "Escape"}, "Escape cannot be chosen as a key."),
        ({"star": "\U0001f600"}, "cannot be chosen as a key."),
        ({"help": ""}, "The help needs a key."),
        ({"star": "1 2 3 4 5 6"}, "At most 5 keys."),
    ],
)
def test_keys_that_cannot_be_used_are_said_and_kept_in_their_fields(
    reader: Visitor, alice: Person, changes: dict[str, Any], told: str
) -> None:
    page = send(reader, 400, save="0", **changes)

    assert told in html.unescape(page).replace("\u2068", "").replace("\u2069", "")
    assert changes.items() <= typed(page).items()
    assert typed(page)["save"] == "0"
    assert alice.get("/v1/me")["shortcuts"] == ""


def test_the_api_refuses_them_too(alice: Person) -> None:
    for text in ("star m", "star Enter", "dance x", "help"):
        answer = alice.put(f"/v1/users/{alice.id}", {"shortcuts": text}, status=400)
        assert "error_message" in answer, text
    changed = alice.put(f"/v1/users/{alice.id}", {"shortcuts": "star *\nnext j n ArrowRight"}, status=201)
    assert changed["shortcuts"] == "star *"


def test_a_chosen_key_wins_over_a_default(reader: Visitor, alice: Person) -> None:
    # As after an upgrade that brings a command with a key that is taken.
    with alice.service.services.database.writing() as db:
        db.run(update(users).where(users.c.id == alice.id).values(shortcuts="star j"))

    keys = table(reader.page("/unread"))
    assert (keys["j"], keys["n"]) == ("star", "next")


def test_buttons_show_the_keys_of_the_user(reader: Visitor, alice: Person) -> None:
    send(reader, add_feed="N", search="")
    page = reader.page("/unread")

    assert 'title="Add feed (N)" aria-keyshortcuts="Shift+N"' in page
    assert 'title="Search"' in page
    alice.put(f"/v1/users/{alice.id}", {"keyboard_shortcuts": False}, status=201)
    page = reader.page("/unread")
    assert "aria-keyshortcuts" not in page
    assert "data-keys" not in page


def test_arrows_change_sides_where_pages_run_from_right_to_left(reader: Visitor, alice: Person) -> None:
    alice.put(f"/v1/users/{alice.id}", {"language": "ar_SA"}, status=201)

    assert table(reader.page("/unread"))["ArrowLeft"] == "next"
    assert typed(reader.page("/settings/shortcuts"))["next"] == "j n ←"
    send(reader, star="*")
    assert alice.get("/v1/me")["shortcuts"] == "star *"


def test_bob_keeps_his_keys(reader: Visitor, bob: Person) -> None:
    send(reader, star="*")

    assert bob.get("/v1/me")["shortcuts"] == ""
