"""Uses links that make an account or sign in: guessed, used, expired, withdrawn, and with values of the attacker."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from abuse import client, pages
from abuse.attempts import Attempt, Result
from abuse.people import Person, administrator, browser, person
from abuse.service import Service
from abuse.testbed import Testbed

INVITATIONS = "/users/invitations"
AT_ONCE = 6
SUCCEEDS_IF = "an account is made"
SIGNS_IN_IF = "the attacker is signed in"


def run(testbed: Testbed) -> Iterator[Result]:
    service = testbed.shared
    admin = administrator(service)
    admin.sign_in()
    if not _register(service, _invite(admin)):
        raise RuntimeError("an invitation makes no account")
    yield from _guesses(testbed, service, admin)
    yield from _used_and_ended(service, admin)
    yield _own_role(service, admin)
    yield from _inviters(service, admin)
    yield from _sign_in_links(service)
    yield _kept_pages(admin)


def _invite(admin: Person, **values: str) -> str:
    """Return the path of a new invitation."""
    found = re.search(r"/invitation/[\w-]+", admin.fill(INVITATIONS, **values).text)
    if found is None:
        raise RuntimeError("the page shows no link")
    return found[0]


def _register(service: Service, path: str, *, name: str = "", **more: str) -> Person | None:
    """Make an account with a link. Returns its user, None if that is refused. more: further fields of the form."""
    visitor = browser(service)
    form = next(iter(pages.forms(visitor.get(path).text, path)), None)
    if form is None:
        return None
    visitor.name, visitor.password = name or f"u{secrets.token_hex(5)}", f"pw-{secrets.token_hex(8)}"
    fields = {"username": visitor.name, "password": visitor.password, "repeated": visitor.password}
    visitor.submit(form, **fields, **more)
    return visitor if visitor.is_signed_in else None


def _guesses(testbed: Testbed, service: Service, admin: Person) -> Iterator[Result]:
    path = _invite(admin)
    token = path.rpartition("/")[2]
    guesses = {
        "a part of it": token[:-1], "something after it": token + "A", "other letters": token.swapcase(),
        "its digest": hashlib.sha256(token.encode()).hexdigest(), "the number of its row": "1", "a wildcard": "%25",
        "another wildcard": "_" * len(token), "nothing": "", "a quote": "'%20OR%20'1'='1",
    }  # fmt: skip
    for name, guess in testbed.choose(guesses.items(), 3):
        attempt = Attempt(f"guessed link: {name}", "opens a link that is nearly right", "the form or an account")
        pages_ = [
            client.request(service, "GET", f"/{kind}/{guess}", headers={"X-Forwarded-For": "198.51.100.9"})
            for kind in ("invitation", "sign-in/link")
        ]
        seen = [page.status for page in pages_ if page.status == 200 and pages.forms(page.text)]
        yield Result(attempt, f"{seen}" if seen else "")


def _used_and_ended(service: Service, admin: Person) -> Iterator[Result]:
    used = _invite(admin)
    _register(service, used)
    yield _made("used link", "registers again with a link that was used", _register(service, used))

    path = _invite(admin)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        made = [one for one in pool.map(lambda _: _register(service, path), range(AT_ONCE)) if one]
    attempt = Attempt("one link at once", f"registers {AT_ONCE} times before the first is answered", "several accounts")
    yield Result(attempt, f"{len(made)} accounts" if len(made) > 1 else "")

    path = _invite(admin)
    # Its form was opened in time.
    visitor = browser(service)
    form = pages.forms(visitor.get(path).text, path)[0]
    service.change("UPDATE account_links SET expires_at = 1")
    fields = {"username": f"u{secrets.token_hex(5)}", "password": "long-enough-1", "repeated": "long-enough-1"}
    visitor.submit(form, **fields)
    expired = visitor if visitor.is_signed_in else _register(service, path)
    yield _made("expired link", "registers with a link whose day is over", expired)

    path = _invite(admin)
    page = admin.get(INVITATIONS).text
    delete = next(form for form in pages.forms(page, INVITATIONS) if form.action.endswith("/delete"))
    admin.submit(delete)
    yield _made("withdrawn link", "registers with a link that was withdrawn", _register(service, path))


def _made(name: str, tries: str, user: Person | None) -> Result:
    return Result(Attempt(name, tries, SUCCEEDS_IF), f"{user.name} has an account" if user else "")


def _own_role(service: Service, admin: Person) -> Result:
    path = _invite(admin, max_feeds="1", max_entries="2", max_megabytes="3")
    wanted = {
        "is_admin": "1",
        "role": "admin",
        "max_feeds": "0",
        "max_entries": "",
        "max_megabytes": "0",
        "limits": "{}",
    }
    user = _register(service, path, **wanted)
    attempt = Attempt(
        "own role and limits",
        "sends a role and limits with the registration",
        "the account has other ones than invited",
    )
    if user is None:
        return Result(attempt, not_tried="the registration was refused")
    limits = user.made("GET", f"/v1/users/{user.made('GET', '/v1/me')['id']}/limits")
    kept = (limits["max_feeds"], limits["max_entries"], limits["max_megabytes"])
    is_admin = user.made("GET", "/v1/me")["is_admin"]
    return Result(attempt, f"admin {is_admin}, limits {kept}" if is_admin or kept != (1, 2, 3) else "")


def _inviters(service: Service, admin: Person) -> Iterator[Result]:
    stranger = person(service)
    stranger.sign_in()
    form = next(form for form in pages.forms(admin.get(INVITATIONS).text, INVITATIONS) if form.action == INVITATIONS)
    token = next(form.values["csrf"] for form in pages.forms(stranger.get("/settings").text) if "csrf" in form.values)
    answer = stranger.submit(form, csrf=token)
    attempt = Attempt("invitation by a user", "someone who is no administrator invites", "a link")
    yield Result(attempt, "a link" if re.search(r"/invitation/[\w-]{20}", answer.text) else "")

    for name, method, body in (
        ("whose role was taken", "PUT", {"is_admin": False}),
        ("who was removed", "DELETE", None),
    ):
        other = person(service, is_admin=True)
        other.sign_in()
        path = _invite(other, is_admin="1")
        admin.made(method, f"/v1/users/{other.id}", body)
        tries = f"an administrator {name} uses an invitation that they have kept"
        yield _made(f"invitation of one {name}", tries, _register(service, path))


def _sign_in_links(service: Service) -> Iterator[Result]:
    victim = person(service)

    def link() -> str:
        found = re.search(r"/sign-in/link/[\w-]+", service.command("user", "reset", victim.name, "--link"))
        if found is None:
            raise RuntimeError("the command prints no link")
        return found[0]

    def use(path: str) -> Person:
        visitor = browser(service)
        for form in pages.forms(visitor.get(path).text, path)[:1]:
            visitor.submit(form)
        return visitor

    path = link()
    first = use(path)
    if not first.is_signed_in:
        raise RuntimeError("a link does not sign in")
    yield _signed_in("used link that signs in", "opens a link that was used", use(path))
    before = dict(first.cookies)
    first.fill("/settings", "/sign-out")
    first.cookies = before
    yield _signed_in("used link after signing out", "opens the link after its user has signed out", use(path))
    yield _signed_in("session that was signed out", "sends the cookies of a session that has ended", first)

    older, newer = link(), link()
    yield _signed_in("older link", "opens a link in whose place another one was made", use(older))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        inside = [one for one in pool.map(lambda _: use(newer), range(AT_ONCE)) if one.is_signed_in]
    attempt = Attempt(
        "one link that signs in at once", f"opens it {AT_ONCE} times at the same time", "several sessions"
    )
    yield Result(attempt, f"{len(inside)} sessions" if len(inside) > 1 else "")

    path = link()
    service.change("UPDATE account_links SET expires_at = 1")
    yield _signed_in("expired link that signs in", "opens a link whose hour is over", use(path))

    path = link()
    crossed = path.replace("/sign-in/link/", "/invitation/")
    yield _made("link that signs in as an invitation", "registers with it", _register(service, crossed))


def _signed_in(name: str, tries: str, visitor: Person) -> Result:
    return Result(Attempt(name, tries, SIGNS_IN_IF), "signed in" if visitor.is_signed_in else "")


def _kept_pages(admin: Person) -> Result:
    answer = admin.fill(INVITATIONS)
    attempt = Attempt("kept page", "goes back to the page with a link after signing out", "the browser may keep it")
    return Result(attempt, "" if "no-store" in answer.header("Cache-Control") else "it may be kept")
