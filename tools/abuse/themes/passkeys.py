"""Signs in with answers of passkeys that are wrong in one way each, and adds passkeys to accounts of others.

Source: W3C Web Authentication Level 3, sections 7.1 and 7.2, and its security considerations (section 13).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from typing import Any

from abuse import pages
from abuse.attempts import Attempt, Result
from abuse.people import Person, browser, person
from abuse.service import Service
from abuse.testbed import Testbed
from loopback.authenticator import USER_PRESENT, USER_VERIFIED, Authenticator

NEW, OVERVIEW, SIGN_IN = "/settings/sign-in/passkeys/new", "/settings/sign-in", "/sign-in/passkey"
SIGNS_IN_IF = "the attacker is signed in"
ADDED_IF = "the account has another passkey"

# Answers to a sign-in with a passkey that the attacker has not got, or whose user is not there.
Forge = Callable[[Authenticator, dict[str, Any]], str]


def run(testbed: Testbed) -> Iterator[Result]:
    # Browsers offer passkeys on this host without https.
    service = testbed.service(base_url="http://localhost:{port}")
    victim, device = _owner(service)
    if not _sign_in(service, device).is_signed_in:
        raise RuntimeError("a passkey does not sign in")
    yield from _forged_answers(testbed, service, device)
    yield from _counters(service)
    yield from _challenges(service, victim, device)
    yield _other_users(service, device)
    yield from _registrations(service, victim, device)


def device_of(service: Service, **more: Any) -> Authenticator:
    """Return a new device in a browser that is at the service."""
    return Authenticator(f"http://localhost:{service.port}", credential_id=secrets.token_bytes(16), **more)


def _owner(service: Service, **more: Any) -> tuple[Person, Authenticator]:
    """Return a user who is signed in, and a device with a passkey. Raises RuntimeError if it cannot be added."""
    owner, device = person(service), device_of(service, **more)
    owner.sign_in()
    add(owner, device)
    if not passkeys_of(owner):
        raise RuntimeError("a passkey cannot be added")
    return owner, device


def add(owner: Person, device: Authenticator, answer: str = "") -> None:
    """Add a passkey. answer: another one than the device gives."""
    owner.get(NEW)
    options = owner.get(f"{NEW}/options")
    owner.fill(NEW, answer=answer or device.create(options.json()))


def passkeys_of(owner: Person) -> list[str]:
    """Return the paths of the user's passkeys."""
    return sorted(
        {path for path in pages.links(owner.get(OVERVIEW).text) if path.startswith(f"{OVERVIEW}/passkeys/")} - {NEW}
    )


def _options(visitor: Person) -> dict[str, Any]:
    visitor.get(SIGN_IN)
    options: dict[str, Any] = visitor.get(f"{SIGN_IN}/options").json()
    return options


def _sign_in(service: Service, device: Authenticator, forge: Forge | None = None) -> Person:
    visitor = browser(service)
    options = _options(visitor)
    visitor.fill(SIGN_IN, answer=forge(device, options) if forge else device.get(options))
    return visitor


def _forged_answers(testbed: Testbed, service: Service, device: Authenticator) -> Iterator[Result]:
    def from_page(origin: str) -> Forge:
        return lambda device, options: device.get(options, origin=origin)

    def with_flags(flags: int) -> Forge:
        def forge(device: Authenticator, options: dict[str, Any]) -> str:
            device.flags, before = flags, device.flags
            answer = device.get(options)
            device.flags = before
            return answer

        return forge

    def unsigned(device: Authenticator, options: dict[str, Any]) -> str:
        answer = json.loads(device.get(options))
        answer["response"]["signature"] = ""
        return json.dumps(answer)

    def foreign_key(device: Authenticator, options: dict[str, Any]) -> str:
        copy = Authenticator(device.origin, credential_id=device.credential_id, user_handle=device.user_handle)
        return copy.get(options)

    ours = f"http://localhost:{service.port}"
    forgeries: tuple[tuple[str, Forge], ...] = (
        ("foreign origin", from_page("https://evil.example")),
        ("origin with another port", from_page("http://localhost:1")),
        ("origin with another scheme", from_page(ours.replace("http:", "https:"))),
        ("origin below ours", from_page(ours.replace("localhost", "evil.localhost"))),
        ("origin with ours in front", from_page(f"{ours}.evil.example")),
        ("empty origin", from_page("")),
        ("foreign relying party", lambda device, options: device.get(options, rp_id="evil.example")),
        ("relying party below ours", lambda device, options: device.get(options, rp_id="evil.localhost")),
        ("made-up challenge", lambda device, options: device.get(options, challenge="A" * 75)),
        ("empty challenge", lambda device, options: device.get(options, challenge="")),
        ("answer for making one", lambda device, options: device.get(options, type="webauthn.create")),
        ("user not verified", with_flags(USER_PRESENT)),
        ("user not present", with_flags(USER_VERIFIED)),
        ("nobody there", with_flags(0)),
        ("without signature", unsigned),
        ("key of the attacker", foreign_key),
    )
    for name, forge in testbed.choose(forgeries, 4):
        visitor = _sign_in(service, device, forge)
        yield _signed_in(name, "signs in with an answer that proves nothing", visitor)


def _counters(service: Service) -> Iterator[Result]:
    for name, back in (("counter going back", 5), ("counter standing still", 1)):
        _, device = _owner(service, count=40)
        if not _sign_in(service, device).is_signed_in:
            raise RuntimeError("a passkey with a counter does not sign in")
        assert device.count is not None
        device.count -= back
        visitor = _sign_in(service, device)
        yield _signed_in(name, "signs in with a copy of an authenticator, which has counted less", visitor)


def _challenges(service: Service, victim: Person, device: Authenticator) -> Iterator[Result]:
    visitor = browser(service)
    answer = device.get(_options(visitor))
    form = next(form for form in pages.forms(visitor.get(SIGN_IN).text, SIGN_IN) if form.action == SIGN_IN)
    before = dict(visitor.cookies)
    visitor.submit(form, answer=answer)
    if not visitor.is_signed_in:
        raise RuntimeError("an answer does not sign in")
    again = browser(service)
    again.cookies = before
    again.submit(form, answer=answer)
    yield _signed_in("replayed answer", "sends an answer again from the same browser", again)
    elsewhere = browser(service)
    elsewhere.fill(SIGN_IN, answer=answer)
    yield _signed_in("replayed answer elsewhere", "sends a copied answer from another browser", elsewhere)

    first, second = browser(service), browser(service)
    answer = device.get(_options(first))
    second.fill(SIGN_IN, answer=answer)
    yield _signed_in("challenge of another session", "answers a challenge of another browser", second)

    # The victim's device signs something else than a sign-in: a page that makes a passkey gave the challenge.
    third = browser(service)
    making = victim.get(f"{NEW}/options").json()
    third.fill(SIGN_IN, answer=device.get({"rpId": making["rp"]["id"], "challenge": making["challenge"]}))
    yield _signed_in("challenge for making one", "answers a challenge that was made for a new passkey", third)


def _other_users(service: Service, device: Authenticator) -> Result:
    """Sign in with the attacker's own passkey, which names the victim as its user."""
    _, own = _owner(service)
    own.user_handle = device.user_handle
    visitor = _sign_in(service, own)
    return _signed_in("passkey of another user", "answers with an own passkey and the handle of the victim", visitor)


def _registrations(service: Service, victim: Person, device: Authenticator) -> Iterator[Result]:
    attacker = person(service)
    attacker.sign_in()
    attacker.get(NEW)
    options, before = attacker.get(f"{NEW}/options").json(), passkeys_of(victim)
    victim.fill(NEW, answer=device_of(service).create(options))
    yield _added("registration in another's session", "a victim sends the attacker's answer", victim, before)

    before = passkeys_of(attacker)
    add(attacker, Authenticator(device.origin, credential_id=device.credential_id))
    yield _added("id of a credential that is taken", "adds a passkey with the id of the victim's", attacker, before)

    sign_in = browser(service)
    other, challenge = device_of(service), _options(sign_in)["challenge"]
    made = attacker.get(f"{NEW}/options").json() | {"challenge": challenge}
    attacker.fill(NEW, answer=other.create(made))
    yield _added("challenge of a sign-in", "makes a passkey with a challenge that anybody gets", attacker, before)

    answer = other.create(attacker.get(f"{NEW}/options").json(), origin="https://evil.example")
    attacker.fill(NEW, answer=answer)
    yield _added("made on a foreign page", "adds a passkey that was made on a page of another site", attacker, before)

    theirs = passkeys_of(victim)
    token = next(form.values["csrf"] for form in pages.forms(attacker.get(OVERVIEW).text) if "csrf" in form.values)
    for path in theirs:
        attacker.submit(pages.Form(f"{path}/remove", "post", pages.URLENCODED, {"csrf": token}))
        attacker.submit(pages.Form(path, "post", pages.URLENCODED, {"csrf": token, "name": "stolen"}))
    changed = passkeys_of(victim) != theirs or "stolen" in victim.get(OVERVIEW).text
    attempt = Attempt("passkey of another", "renames and removes the victim's passkeys", "one is changed or missing")
    yield Result(attempt, "changed" if changed else "")

    service.change("UPDATE sessions SET authenticated_at = 1 WHERE user_id = ?", attacker.id)
    left = device_of(service)
    options = attacker.get(f"{NEW}/options")
    if options.status == 200:
        attacker.submit(
            pages.Form(NEW, "post", pages.URLENCODED, {"csrf": token, "answer": left.create(options.json())})
        )
    fresh = passkeys_of(attacker) != before
    attempt = Attempt("session left open", "adds a passkey in a session whose user signed in long ago", ADDED_IF)
    yield Result(attempt, "added" if fresh else "")


def _added(name: str, tries: str, owner: Person, before: list[str]) -> Result:
    return Result(Attempt(name, tries, ADDED_IF), "added" if passkeys_of(owner) != before else "")


def _signed_in(name: str, tries: str, visitor: Person) -> Result:
    return Result(Attempt(name, tries, SIGNS_IN_IF), "signed in" if visitor.is_signed_in else "")
