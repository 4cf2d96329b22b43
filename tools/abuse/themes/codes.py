"""Gets past the second step of a sign-in with the password alone: by codes, and by pages that are opened without one.

Guesses count as in `throttling`: an attempt succeeds if all of them are verified within the time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from pyotp import TOTP

from abuse import client, pages
from abuse.attempts import Attempt, Result
from abuse.client import HttpResponse
from abuse.people import Person, browser, person
from abuse.service import Service
from abuse.testbed import Testbed
from abuse.themes.passkeys import add, device_of
from abuse.themes.throttling import GUESSES, SUCCEEDS_IF, WITHIN_S

APP, STEP, SET_UP = "/settings/sign-in/app", "/sign-in/second-step", "/sign-in/set-up"
AT_ONCE = 6
SIGNS_IN_IF = "the attacker is signed in"
PAGES = (
    "/",
    "/unread",
    "/settings",
    "/settings/sign-in",
    APP,
    "/settings/log",
    "/feeds/export",
    "/users",
    "/search?q=a",
)


class Guarded:
    """A user with an authenticator app. codes: the recovery codes."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.owner = person(service)
        self.owner.sign_in()
        page = self.owner.get(APP)
        self.app = TOTP(_secret(page.text))
        # The code of the step before, so that those of this one and the next are left.
        shown = self.owner.fill(APP, secret=self.app.secret, code=self.code(-1)).text
        self.codes = re.findall(r"\b[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{5}\b", shown)
        if not self.codes:
            raise RuntimeError("an app cannot be set up")

    def code(self, steps: int = 0) -> str:
        """Return the code of now, or of some steps later."""
        return self.app.generate_otp(int(time.time()) // 30 + steps)

    def first_step(self, at: Person | None = None) -> Person:
        """Return a browser whose user has typed the right password."""
        visitor = at or browser(self.service, self.owner)
        visitor.fill("/sign-in", username=self.owner.name, password=self.owner.password)
        if visitor.get(STEP).status != 200:
            raise RuntimeError("no second step is asked for")
        return visitor

    def second_step(self, code: str, visitor: Person | None = None) -> Person:
        visitor = visitor or self.first_step()
        _send_code(visitor, code)
        return visitor


def run(testbed: Testbed) -> Iterator[Result]:
    service = testbed.service(base_url="http://localhost:{port}")
    if not (victim := Guarded(service)).second_step(victim.code()).is_signed_in:
        raise RuntimeError("a right code does not sign in")
    yield from _guesses(testbed, service)
    yield from _used_codes(service)
    yield from _foreign_codes(service)
    yield from _without_code(service)
    yield from _enrolments(service)


def _secret(page: str) -> str:
    found = re.search(r'name="secret" value="([A-Z2-7]+)"', page)
    if found is None:
        raise RuntimeError("the page shows no key")
    return found[1]


def _send_code(visitor: Person, code: str) -> HttpResponse:
    form = next((form for form in pages.forms(visitor.get(STEP).text, STEP) if "code" in form.values), None)
    return visitor.submit(form, code=code) if form else visitor.get(STEP)


def _guesses(testbed: Testbed, service: Service) -> Iterator[Result]:
    guessings = (
        ("codes from one browser", "many codes after one password", 1, "198.51.100.1", "%06d"),
        ("codes from many browsers", "the password is typed again for each code", GUESSES, "198.51.100.2", "%06d"),
        ("codes from many networks", "each code comes from another network", GUESSES, "", "%06d"),
        ("recovery codes", "many recovery codes after one password", 1, "198.51.100.3", "aaaaa-bbbbb-%05d"),
    )
    for name, tries, browsers, address, form in testbed.choose(guessings, 1):
        victim = Guarded(service)
        visitors = [victim.first_step() for _ in range(browsers)]
        for visitor in visitors:
            visitor.address = address or visitor.address
        yield Result(Attempt(name, tries, SUCCEEDS_IF), _guess(visitors, form))


def _guess(visitors: list[Person], form: str) -> str:
    """Return evidence if every guess was verified in time, else ""."""
    begun = time.monotonic()
    forms = [
        next(one for one in pages.forms(visitor.get(STEP).text, STEP) if "code" in one.values) for visitor in visitors
    ]

    def is_verified(number: int) -> bool:
        if time.monotonic() > begun + WITHIN_S:
            return False
        index = number % len(visitors)
        try:
            return visitors[index].submit(forms[index], code=form % number).status in (303, 400)
        except OSError:
            return False

    with ThreadPoolExecutor(2) as pool:
        verified = list(pool.map(is_verified, range(GUESSES)))
    took = time.monotonic() - begun
    return f"{sum(verified)} guesses in {took:.1f} s" if all(verified) and took < WITHIN_S else ""


def _used_codes(service: Service) -> Iterator[Result]:
    victim = Guarded(service)
    code = victim.code()
    victim.second_step(code)
    yield _signed_in("used code", "types a code that was seen while it was typed", victim.second_step(code))

    victim = Guarded(service)
    victim.second_step(victim.code(1))
    yield _signed_in("code before the used one", "types an earlier code", victim.second_step(victim.code()))
    yield _signed_in("code of later", "types a code of the time to come", victim.second_step(victim.code(4)))

    victim = Guarded(service)
    waiting, code = [victim.first_step() for _ in range(AT_ONCE)], victim.code()
    yield _at_once("one code at once", waiting, code)
    victim = Guarded(service)
    waiting = [victim.first_step() for _ in range(AT_ONCE)]
    yield _at_once("one recovery code at once", waiting, victim.codes[0])
    for name, code in (("used recovery code", victim.codes[0]), ("used one, in capitals", victim.codes[0].upper())):
        yield _signed_in(name, "types a recovery code that was used", victim.second_step(code))

    pending = victim.first_step()
    before = dict(pending.cookies)
    victim.second_step(victim.codes[1], pending)
    pending.fill("/settings", "/sign-out")
    pending.cookies = before
    yield _signed_in(
        "used first step", "goes on from a password that was typed before", victim.second_step(victim.codes[2], pending)
    )


def _at_once(name: str, waiting: list[Person], code: str) -> Result:
    with ThreadPoolExecutor(len(waiting)) as pool:
        list(pool.map(lambda visitor: _send_code(visitor, code), waiting))
    inside = sum(visitor.is_signed_in for visitor in waiting)
    attempt = Attempt(name, f"types one code in {len(waiting)} browsers at the same time", "several are signed in")
    return Result(attempt, f"{inside} sessions" if inside > 1 else "")


def _foreign_codes(service: Service) -> Iterator[Result]:
    victim, attacker = Guarded(service), Guarded(service)
    for name, code in (("code", attacker.code()), ("recovery code", attacker.codes[0])):
        tries = f"types a {name} of the attacker's account after the victim's password"
        yield _signed_in(f"{name} of another account", tries, victim.second_step(code))

    device = device_of(service)
    add(attacker.owner, device)
    visitor = victim.first_step()
    victims = device_of(service)
    add(victim.owner, victims)
    options = visitor.get(f"{STEP}/options").json()
    form = next(form for form in pages.forms(visitor.get(STEP).text, STEP) if "answer" in form.values)
    visitor.submit(form, answer=device.get(options))
    yield _signed_in("passkey of another account", "uses the attacker's passkey after the victim's password", visitor)

    # The answer of a first step: a device that is touched signs it without its user being verified.
    options = browser(service).get("/sign-in/passkey/options").json()
    visitor = victim.first_step()
    visitor.submit(form, csrf=_csrf(visitor), answer=victims.get(options))
    yield _signed_in("challenge of the first step", "answers it with a challenge of the sign-in page", visitor)


def _csrf(visitor: Person) -> str:
    return next(form.values["csrf"] for form in pages.forms(visitor.get(STEP).text) if "csrf" in form.values)


def _without_code(service: Service) -> Iterator[Result]:
    victim = Guarded(service)
    visitor = victim.first_step()
    opened = [path for path in PAGES if visitor.get(path).status == 200]
    attempt = Attempt("pages without the second step", "opens pages after the password", "a page is shown")
    yield Result(attempt, ", ".join(opened))

    token = visitor.cookies.get("tidings_pending", "")
    visitor.cookies["tidings_session"] = token
    yield _signed_in("first step as a session", "sends its cookie as that of a session", visitor)

    basic, name, password = victim.owner.basic, victim.owner.name, victim.owner.password
    for way, path, headers in (
        ("HTTP Basic", "/v1/me", basic),
        ("Google Reader", f"/accounts/ClientLogin?Email={name}&Passwd={password}", {}),
        ("API key", "/v1/me", {"X-Auth-Token": token}),
        ("Basic on a page", "/settings", basic),
    ):
        answer = client.request(service, "GET", path, headers={**headers, "X-Forwarded-For": "198.51.100.4"})
        attempt = Attempt(f"{way} without the second step", "sends the password of the account", "it is accepted")
        yield Result(attempt, f"{answer.status}" if answer.status == 200 else "")

    found = re.search(r"/sign-in/link/[\w-]+", service.command("user", "reset", name, "--link"))
    if found is None:
        raise RuntimeError("the command prints no link")
    visitor = browser(service)
    visitor.fill(found[0])
    yield _signed_in("link without the second step", "opens a link that signs in", visitor)


def _enrolments(service: Service) -> Iterator[Result]:
    victim = Guarded(service)
    own = TOTP("A" * 32)
    visitor = victim.first_step()
    form = next(iter(pages.forms(visitor.get(SET_UP).text, SET_UP)), None)
    values = {"secret": own.secret, "code": own.now()}
    form = form or pages.Form(SET_UP, "post", pages.URLENCODED, {"csrf": _csrf(visitor)})
    visitor.submit(form, **values)
    yield _signed_in(
        "second app after the password", "sets up an app of the attacker's instead of the victim's", visitor
    )

    visitor = victim.first_step()
    visitor.submit(pages.Form(APP, "post", pages.URLENCODED, {"csrf": _csrf(visitor), **values}))
    signed_in = victim.second_step(own.generate_otp(int(time.time()) // 30 + 1))
    yield _signed_in("app of a stranger", "sets up an app on the settings page after the password", signed_in)

    stranger = person(service)
    stranger.sign_in()
    stranger.fill(APP, **values, user_id=str(victim.owner.id), username=victim.owner.name)
    signed_in = victim.second_step(own.generate_otp(int(time.time()) // 30 + 1))
    yield _signed_in("app for another account", "sets up an app with the victim's name in the form", signed_in)

    owner = victim.owner
    token = next(form.values["csrf"] for form in pages.forms(owner.get("/settings").text) if "csrf" in form.values)
    service.change("UPDATE sessions SET authenticated_at = 1 WHERE user_id = ?", owner.id)
    for path in (f"{APP}/remove", "/settings/sign-in/recovery-codes", APP):
        owner.submit(pages.Form(path, "post", pages.URLENCODED, {"csrf": token, **values}))
    attempt = Attempt(
        "session left open", "changes the second factor in a session whose user signed in long ago", "it is changed"
    )
    try:
        is_kept = victim.second_step(victim.codes[-1]).is_signed_in and owner.get(APP).status != 200
    except RuntimeError:  # no second step is asked for
        is_kept = False
    yield Result(attempt, "" if is_kept else "changed")


def _signed_in(name: str, tries: str, visitor: Person) -> Result:
    return Result(Attempt(name, tries, SIGNS_IN_IF), "signed in" if visitor.is_signed_in else "")
