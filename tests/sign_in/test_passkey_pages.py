"""Passkeys on the pages: added, named, used and removed, with an authenticator in software."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from sqlalchemy import update

from loopback.authenticator import NORMAL, SYNCABLE, SYNCED, USER_PRESENT, Authenticator
from support.people import Cast, HttpResponse, Person
from support.running import RunningService
from support.visitors import Visitor
from tidings.base.times import HOUR
from tidings.services.accounts import passwords
from tidings.storage.accounts import users
from tidings.storage.schema import sessions

BASE_PATH = "/reader"
NEW = "/settings/sign-in/passkeys/new"
SIGN_IN = "/sign-in/passkey"
OVERVIEW = "/settings/sign-in"


def device(person: Person, **more: Any) -> Authenticator:
    origin = person.service.environment["TIDINGS_BASE_URL"].removesuffix(BASE_PATH)
    return Authenticator(origin, credential_id=f"of {person.id} {len(more)}".encode(), **more)


def add(reader: Visitor, authenticator: Authenticator, name: str = "") -> HttpResponse:
    reader.page(NEW)
    options = json.loads(reader.page(f"{NEW}/options"))
    return reader.post(NEW, name=name, answer=authenticator.create(options))


def passkey_id(reader: Visitor) -> int:
    found = re.search(rf"{OVERVIEW}/passkeys/(\d+)", reader.page(OVERVIEW))
    assert found
    return int(found[1])


def sign_in(service: RunningService, authenticator: Authenticator, **fields: Any) -> tuple[Visitor, HttpResponse]:
    visitor = Visitor(service, base_path=BASE_PATH)
    visitor.page(SIGN_IN)
    options = json.loads(visitor.page(f"{SIGN_IN}/options"))
    return visitor, visitor.post(SIGN_IN, {"answer": authenticator.get(options), **fields})


def test_a_passkey_signs_in_without_a_name_and_leads_to_the_wanted_page(
    guarded_alice: Person, guarded_reader: Visitor
) -> None:
    phone = device(guarded_alice)
    assert add(guarded_reader, phone, "My phone").status == 303
    listed = guarded_reader.page(OVERVIEW)
    assert "My phone" in listed
    assert "never used" in listed

    visitor, answer = sign_in(guarded_alice.service, phone, next="/starred")

    assert (answer.status, answer.headers["location"]) == (303, f"{BASE_PATH}/starred")
    assert "never used" not in visitor.page(OVERVIEW)
    assert any("tidings_session" in one for one in answer.cookies)


def test_the_sign_in_page_offers_passkeys(guarded_service: RunningService) -> None:
    page = Visitor(guarded_service, base_path=BASE_PATH).page("/sign-in?next=/starred")

    assert f'action="{BASE_PATH}{SIGN_IN}"' in page
    assert "js/passkeys.js" in page


@pytest.mark.parametrize("path", [SIGN_IN, NEW])
def test_without_a_script_nothing_is_answered_and_the_page_says_why(guarded_reader: Visitor, path: str) -> None:
    answer = guarded_reader.post(path, answer="")

    assert answer.status == 400
    assert "Passkeys need JavaScript" in answer.body.decode()


@pytest.mark.parametrize(
    ("authenticator", "said"),
    [
        ({"flags": USER_PRESENT}, "PIN, finger or face"),
        ({"origin": "http://localhost:1"}, "open http://localhost"),
    ],
)
def test_the_page_says_what_to_do_about_a_passkey_that_is_refused(
    guarded_alice: Person, guarded_reader: Visitor, authenticator: dict[str, Any], said: str
) -> None:
    phone = device(guarded_alice)
    add(guarded_reader, phone)
    for name, value in authenticator.items():
        setattr(phone, name, value)

    visitor, answer = sign_in(guarded_alice.service, phone)

    assert answer.status == 400
    assert said in html.unescape(answer.body.decode())
    assert visitor.get(OVERVIEW).status == 303


def test_an_answer_works_once_and_in_one_browser(guarded_alice: Person, guarded_reader: Visitor) -> None:
    phone = device(guarded_alice)
    add(guarded_reader, phone)
    browser, other = (Visitor(guarded_alice.service, base_path=BASE_PATH) for _ in range(2))
    for one in (browser, other):
        one.page(SIGN_IN)
    answer = phone.get(json.loads(browser.page(f"{SIGN_IN}/options")))

    elsewhere = other.post(SIGN_IN, answer=answer)
    cookies, token = dict(browser.cookies), browser.token
    first = browser.post(SIGN_IN, answer=answer)
    browser.cookies, browser.token = cookies, token
    second = browser.post(SIGN_IN, answer=answer)

    assert [elsewhere.status, first.status, second.status] == [400, 303, 400]
    assert "took too long" in elsewhere.body.decode()
    assert "used before" in second.body.decode()


def test_a_removed_passkey_is_not_known(guarded_alice: Person, guarded_reader: Visitor) -> None:
    phone = device(guarded_alice)
    add(guarded_reader, phone)
    number = passkey_id(guarded_reader)

    assert guarded_reader.post(f"{OVERVIEW}/passkeys/{number}", name="Old phone").status == 303
    assert "Old phone" in guarded_reader.page(f"{OVERVIEW}/passkeys/{number}")
    assert guarded_reader.post(f"{OVERVIEW}/passkeys/{number}", name=" ").status == 400
    assert guarded_reader.post(f"{OVERVIEW}/passkeys/{number}/remove").status == 303
    _, answer = sign_in(guarded_alice.service, phone)

    assert answer.status == 400
    assert "not known here" in answer.body.decode()
    assert "sign-in refused" in guarded_alice.service.log
    assert guarded_reader.get(f"{OVERVIEW}/passkeys/{number}").status == 404


def test_a_passkey_is_not_added_twice_nor_with_the_options_of_another_user(
    guarded_alice: Person, guarded_reader: Visitor
) -> None:
    phone = device(guarded_alice)
    add(guarded_reader, phone)
    bob = Visitor(guarded_alice.service, Cast(guarded_alice.service).person("bob"), BASE_PATH)
    bob.sign_in()
    options = json.loads(guarded_reader.page(f"{NEW}/options"))

    again = add(guarded_reader, phone)
    stolen = add(bob, phone)
    foreign = bob.post(NEW, answer=device(guarded_alice, count=0).create(options))

    assert [again.status, stolen.status, foreign.status] == [400, 400, 400]
    assert "added before" in again.body.decode()
    assert "took too long" in foreign.body.decode()
    assert len(set(re.findall(rf"{OVERVIEW}/passkeys/\d+", guarded_reader.page(OVERVIEW)))) == 1


def test_changes_need_a_recent_sign_in(guarded_alice: Person, guarded_reader: Visitor) -> None:
    add(guarded_reader, device(guarded_alice))
    number = passkey_id(guarded_reader)
    grow_old(guarded_alice)

    assert guarded_reader.get(OVERVIEW).status == 200
    posts = [
        NEW, f"{OVERVIEW}/passkeys/{number}", f"{OVERVIEW}/passkeys/{number}/remove", f"{OVERVIEW}/app",
        f"{OVERVIEW}/app/remove", f"{OVERVIEW}/passkey-step", f"{OVERVIEW}/recovery-codes",
    ]  # fmt: skip
    answers = [guarded_reader.get(path) for path in (NEW, f"{NEW}/options", f"{OVERVIEW}/app")]
    answers += [guarded_reader.post(path, back=OVERVIEW) for path in posts]

    assert [answer.status for answer in answers] == [303] * len(answers)
    assert all("/sign-in?confirm=1&next=/settings" in answer.headers["location"] for answer in answers)
    assert passkey_id(guarded_reader) == number


def test_without_a_password_the_last_passkey_stays(guarded_alice: Person, guarded_reader: Visitor) -> None:
    add(guarded_reader, device(guarded_alice), "Phone")
    number = passkey_id(guarded_reader)
    with guarded_alice.service.services.database.writing() as db:
        users.change(db, guarded_alice.id, password_hash=passwords.unusable_hash())

    answer = guarded_reader.post(f"{OVERVIEW}/passkeys/{number}/remove")

    assert answer.status == 400
    assert "last way into the account" in answer.body.decode()
    assert passkey_id(guarded_reader) == number


def test_the_page_says_whether_a_passkey_is_copied_and_whether_it_works_alone(
    guarded_alice: Person, guarded_reader: Visitor
) -> None:
    add(guarded_reader, device(guarded_alice, flags=NORMAL | SYNCABLE | SYNCED))
    assert "copied to your other devices" in guarded_reader.page(OVERVIEW)
    add(guarded_reader, device(guarded_alice, flags=USER_PRESENT, count=0))
    page = guarded_reader.page(OVERVIEW)

    assert "on one device only" in page
    assert "second step only" in page
    assert "Passkeys belong to the name localhost" in page


def test_where_passkeys_cannot_work_the_page_says_why(reader: Visitor) -> None:
    """The other service has the default address, 127.0.0.1."""
    assert "127.0.0.1 is an address" in reader.page(OVERVIEW)
    assert "Add passkey" not in reader.page(OVERVIEW)
    assert "127.0.0.1 is an address" in reader.page(NEW)
    assert reader.get(f"{NEW}/options").status == 400
    assert reader.post(NEW, answer="{}").status == 400
    assert "passkey" not in Visitor(reader.service).page("/sign-in").lower()
    assert "127.0.0.1 is an address" in Visitor(reader.service).page(SIGN_IN)
    assert Visitor(reader.service).get(f"{SIGN_IN}/options").status == 400


def test_a_passkey_of_another_user_does_not_exist(guarded_alice: Person, guarded_reader: Visitor) -> None:
    add(guarded_reader, device(guarded_alice))
    number = passkey_id(guarded_reader)
    bob = Visitor(guarded_alice.service, Cast(guarded_alice.service).person("bob"), BASE_PATH)
    bob.sign_in()
    path = f"{OVERVIEW}/passkeys/{number}"

    assert [bob.get(path).status, bob.post(path, name="x").status, bob.post(f"{path}/remove").status] == [404] * 3
    assert passkey_id(guarded_reader) == number


def grow_old(person: Person) -> None:
    """Let an hour pass since the last sign-in of a user."""
    services = person.service.services
    with services.database.writing() as db:
        db.run(
            update(sessions)
            .where(sessions.c.user_id == person.id)
            .values(authenticated_at=sessions.c.authenticated_at - HOUR)
        )
