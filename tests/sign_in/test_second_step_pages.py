"""The second step of a sign-in, and setting it up, on pages without script."""

from __future__ import annotations

import json
import re
import time

from pyotp import TOTP

from sign_in.test_passkey_pages import BASE_PATH, OVERVIEW, add, device
from support.people import PASSWORD, HttpResponse, Person, basic, call
from support.visitors import Visitor
from tidings.sign_in.services import SignInServices

APP = f"{OVERVIEW}/app"
STEP = "/sign-in/second-step"
SET_UP = "/sign-in/set-up"


def shown_secret(page: str) -> str:
    found = re.search(r'name="secret" value="([A-Z2-7]+)"', page)
    assert found
    return found[1]


def shown_codes(page: str) -> list[str]:
    found = re.search(r'<pre id="recovery-codes"[^>]*>([^<]*)</pre>', page)
    return found[1].split() if found else []


def set_up(reader: Visitor) -> tuple[TOTP, list[str]]:
    """Set up an app in the settings. The code of now is used up."""
    app = TOTP(shown_secret(reader.page(APP)))
    answer = reader.post(APP, secret=app.secret, code=app.now())
    assert answer.status == 200, answer.body.decode()
    assert answer.headers["cache-control"] == "no-store"
    return app, shown_codes(answer.body.decode())


def next_code(app: TOTP) -> str:
    """Return the code of the next step, which is accepted already: that of this one was used to set up the app."""
    return app.generate_otp(int(time.time()) // 30 + 1)


def first_step(person: Person, next_path: str = "") -> Visitor:
    visitor = Visitor(person.service, person, BASE_PATH)
    visitor.page("/sign-in")
    answer = visitor.post("/sign-in", username=person.user.username, password=PASSWORD, next=next_path)
    assert (answer.status, answer.headers["location"]) == (303, f"{BASE_PATH}{STEP}")
    assert visitor.get("/unread").status == 303
    visitor.page(STEP)
    return visitor


def is_signed_in(visitor: Visitor) -> bool:
    return visitor.get("/unread").status == 200


def test_a_code_of_the_app_follows_the_password_and_works_once(guarded_alice: Person, guarded_reader: Visitor) -> None:
    app, codes = set_up(guarded_reader)
    assert len(set(codes)) == 10
    visitor = first_step(guarded_alice, "/starred")
    code = next_code(app)

    wrong = visitor.post(STEP, code="000000" if code != "000000" else "000001")
    right = visitor.post(STEP, code=f" {code[:3]} {code[3:]}")
    again = first_step(guarded_alice).post(STEP, code=code)

    assert (wrong.status, right.status, again.status) == (400, 303, 400)
    assert right.headers["location"] == f"{BASE_PATH}/starred"
    assert is_signed_in(visitor)
    assert "This code is not right" in again.body.decode()
    assert "wrong code" in guarded_alice.service.log


def test_a_recovery_code_replaces_the_app_once(guarded_alice: Person, guarded_reader: Visitor) -> None:
    _, codes = set_up(guarded_reader)
    visitor = first_step(guarded_alice)

    assert visitor.post(STEP, code=codes[3].upper().replace("-", " ")).status == 303
    assert first_step(guarded_alice).post(STEP, code=codes[3]).status == 400
    assert "9 are left" in visitor.page(OVERVIEW)
    fresh = shown_codes(visitor.post(f"{OVERVIEW}/recovery-codes").body.decode())
    assert first_step(guarded_alice).post(STEP, code=codes[4]).status == 400
    assert first_step(guarded_alice).post(STEP, code=fresh[4]).status == 303


def test_the_first_step_opens_nothing_but_the_second(guarded_alice: Person, guarded_reader: Visitor) -> None:
    set_up(guarded_reader)
    visitor = first_step(guarded_alice)

    assert visitor.get(OVERVIEW).status == 303
    assert visitor.post(SET_UP, secret="A" * 32, code=TOTP("A" * 32).now()).status == 400
    assert visitor.post(STEP, code="").status == 400
    assert visitor.post(STEP, code="123456", csrf="").status == 403
    assert not is_signed_in(visitor)
    stranger = Visitor(guarded_alice.service, base_path=BASE_PATH)
    stranger.page("/sign-in")
    for path in (STEP, SET_UP):
        assert stranger.get(path).headers["location"] == f"{BASE_PATH}/sign-in"
        assert stranger.post(path, code="123456").headers["location"] == f"{BASE_PATH}/sign-in"


def test_codes_cannot_be_guessed_quickly(guarded_alice: Person, guarded_reader: Visitor) -> None:
    set_up(guarded_reader)
    visitor = first_step(guarded_alice)

    answers: list[HttpResponse] = []
    while len(answers) < 20 and (not answers or answers[-1].status == 400):
        answers.append(visitor.post(STEP, code=f"{len(answers):06}"))

    assert answers[-1].status == 429
    assert int(answers[-1].headers["retry-after"]) > 20


def test_an_app_is_confirmed_by_a_code_and_can_be_switched_off(guarded_alice: Person, guarded_reader: Visitor) -> None:
    secret = shown_secret(guarded_reader.page(APP))
    wrong = guarded_reader.post(APP, secret=secret, code="12345")
    assert (wrong.status, shown_secret(wrong.body.decode())) == (400, secret)
    assert guarded_reader.post(APP, secret="AAAA", code="123456").status == 400
    assert guarded_reader.post(f"{APP}/remove").status == 400
    set_up(guarded_reader)

    assert guarded_reader.post(f"{APP}/remove").status == 303

    visitor = Visitor(guarded_alice.service, guarded_alice, BASE_PATH)
    assert visitor.sign_in().headers["location"] == f"{BASE_PATH}/"
    assert guarded_reader.post(f"{OVERVIEW}/recovery-codes").status == 400


def test_apps_need_an_api_password_or_a_key_instead_of_the_password(
    guarded_alice: Person, guarded_reader: Visitor
) -> None:
    url, name = guarded_alice.service.url, guarded_alice.user.username
    path = f"{BASE_PATH}/v1/me"
    assert call(url, "GET", path, headers=basic(name)).status == 200
    set_up(guarded_reader)

    refused = call(url, "GET", path, headers=basic(name))

    assert refused.status == 401
    assert "API password" in refused.error
    assert call(url, "GET", path, headers={"X-Auth-Token": guarded_alice.token}).status == 200
    app_password = guarded_alice.service.services.accounts.api_passwords.create(guarded_alice.user, "phone").password
    for password, status in ((PASSWORD, 401), (app_password, 200)):
        body = f"Email={name}&Passwd={password.replace(' ', '+')}".encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        assert call(url, "POST", f"{BASE_PATH}/accounts/ClientLogin", body, headers).status == status


def test_a_passkey_can_follow_the_password(guarded_alice: Person, guarded_reader: Visitor) -> None:
    key = device(guarded_alice, flags=1)
    assert guarded_reader.post(f"{OVERVIEW}/passkey-step", asks="1").status == 400
    add(guarded_reader, key)
    codes = shown_codes(guarded_reader.post(f"{OVERVIEW}/passkey-step", asks="1").body.decode())
    visitor = first_step(guarded_alice)
    options = json.loads(visitor.page(f"{STEP}/options"))
    assert len(options["allowCredentials"]) == 1

    assert visitor.post(STEP, answer=key.get(options)).status == 303
    assert first_step(guarded_alice).post(STEP, code=codes[0]).status == 303
    bob = device(guarded_alice, count=7)
    stranger = first_step(guarded_alice)
    assert stranger.post(STEP, answer=bob.get(json.loads(stranger.page(f"{STEP}/options")))).status == 400
    assert guarded_reader.post(f"{OVERVIEW}/passkey-step").status == 303
    assert Visitor(guarded_alice.service, guarded_alice, BASE_PATH).sign_in().headers["location"] == f"{BASE_PATH}/"


def test_removing_the_last_passkey_ends_the_step_that_asks_for_it(
    guarded_alice: Person, guarded_reader: Visitor
) -> None:
    add(guarded_reader, device(guarded_alice, flags=1))
    guarded_reader.post(f"{OVERVIEW}/passkey-step", asks="1")
    number = re.search(rf"{OVERVIEW}/passkeys/(\d+)", guarded_reader.page(OVERVIEW))
    assert number
    assert "nothing else is asked for then" in guarded_reader.page(f"{OVERVIEW}/passkeys/{number[1]}")

    guarded_reader.post(f"{OVERVIEW}/passkeys/{number[1]}/remove")

    assert Visitor(guarded_alice.service, guarded_alice, BASE_PATH).sign_in().headers["location"] == f"{BASE_PATH}/"


def test_an_administrator_sets_up_a_second_factor_before_the_session_begins(guarded_charlie: Person) -> None:
    charlie = guarded_charlie
    visitor = Visitor(charlie.service, charlie, BASE_PATH)
    answer = visitor.sign_in("/users")
    assert answer.headers["location"] == f"{BASE_PATH}{SET_UP}"
    assert visitor.get("/users").status == 303
    path = f"{BASE_PATH}/v1/users"
    assert call(charlie.service.url, "GET", path, headers=basic(charlie.user.username)).status == 401
    assert call(charlie.service.url, "GET", path, headers={"X-Auth-Token": charlie.token}).status == 200
    secret = shown_secret(visitor.page(SET_UP))

    assert visitor.post(SET_UP, secret=secret, code="123").status == 400
    done = visitor.post(SET_UP, secret=secret, code=TOTP(secret).now())

    assert done.status == 200
    assert len(shown_codes(done.body.decode())) == 10
    assert f'href="{BASE_PATH}/users"' in done.body.decode()
    assert visitor.get("/users").status == 200
    assert first_step(charlie).post(STEP, code=next_code(TOTP(secret))).status == 303


def test_a_reset_removes_all_second_factors(guarded_alice: Person, guarded_reader: Visitor) -> None:
    set_up(guarded_reader)
    add(guarded_reader, device(guarded_alice))
    services = guarded_alice.service.services

    with services.database.writing() as db:
        assert services.of(SignInServices).factors.reset(db, guarded_alice.user) == 2

    assert Visitor(guarded_alice.service, guarded_alice, BASE_PATH).sign_in().headers["location"] == f"{BASE_PATH}/"
