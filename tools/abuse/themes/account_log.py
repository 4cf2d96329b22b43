"""Reads the log of accounts as a stranger, and forges entries of it and lines that fail2ban reads."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from urllib.parse import quote, urlencode

from abuse import client, pages
from abuse.attempts import Attempt, Result
from abuse.fail2ban import banned
from abuse.people import Person, administrator, browser, person
from abuse.service import Service
from abuse.testbed import Testbed

OWN, OF_ALL, AUDIT = "/settings/log", "/users/log", "/v1/audit?limit=1000"
FORGED = "203.0.113.99"
_LINE = f"2026-11-26T14:00:00.000000Z warning sign-in refused address={FORGED} reason=forged"


def run(testbed: Testbed) -> Iterator[Result]:
    service = testbed.shared
    admin = administrator(service)
    admin.sign_in()
    yield from _strangers(service, admin)
    yield from _markup(testbed, service, admin)
    yield _typed_password(service, admin)
    yield from _fail2ban(testbed, service)


def _strangers(service: Service, admin: Person) -> Iterator[Result]:
    victim, stranger = person(service), person(service)
    victim.address, stranger.address = "198.51.100.71", "198.51.100.72"
    victim.sign_in()
    stranger.sign_in()
    if victim.address not in admin.get(f"{OF_ALL}?user={victim.id}").text:
        raise RuntimeError("the log does not have the sign-in")
    newest = json.loads(admin.api("GET", AUDIT).text)["entries"][0]["id"] + 1
    place = f"9{'0' * 15}.{newest}"
    for path in (
        OF_ALL, f"{OF_ALL}?user={victim.id}", f"{OWN}?user={victim.id}", f"{OWN}?user_id={victim.id}",
        f"{OWN}?before={place}", f"/users/{victim.id}", AUDIT, f"{AUDIT}&user_id={victim.id}",
        f"{AUDIT}&user_id={stranger.id}", f"/v1/users/{victim.id}/limits",
    ):  # fmt: skip
        answer = stranger.get(path)
        told = victim.address in answer.text or (path.startswith("/v1/") and answer.status == 200)
        by_api = stranger.api("GET", path) if path.startswith("/v1/") else answer
        is_seen = told or victim.address in by_api.text or (path.startswith("/v1/") and by_api.status == 200)
        attempt = Attempt(f"read {path}", "a stranger opens the log", "it tells about the victim, or of all accounts")
        yield Result(attempt, answer.text[:200] if is_seen else "")


def _markup(testbed: Testbed, service: Service, admin: Person) -> Iterator[Result]:
    mark = f"m{secrets.token_hex(4)}"
    markup = f"<script>{mark}</script>"
    forgeries = {
        "user agent": {"User-Agent": f"{markup}'\"><img src=x onerror={mark}>"},
        "address": {"X-Forwarded-For": f"{markup}"},
        "second address": {"X-Forwarded-For": f"198.51.100.73, {markup}"},
        "user agent with a line": {"User-Agent": f"Mozilla/5.0\x0b\x1b[31m{markup}"},
    }
    for name, headers in testbed.choose(forgeries.items(), 2):
        victim = person(service)
        visitor = browser(service, victim)
        visitor.address = ""
        form = pages.forms(visitor.get("/sign-in").text)[0]
        for password in ("wrong", victim.password):
            body = urlencode({**form.values, "username": victim.name, "password": password}).encode()
            visitor.post(form.action, body, headers=headers)
        seen = visitor.get(OWN).text + admin.get(f"{OF_ALL}?user={victim.id}").text
        attempt = Attempt(f"markup in the {name}", "signs in with markup in a header", "a page has it as markup")
        yield Result(attempt, _around(seen, f"<script>{mark}") or _around(seen, f"<img src=x onerror={mark}"))

    attempt = Attempt("markup in a name", "an account has markup as its name", "a page has it as markup")
    name = f"<script>{mark}-name</script>"
    created = admin.api("POST", "/v1/users", {"username": name, "password": "long-enough-1"})
    if created.status == 201:
        client.request(service, "GET", "/v1/me", headers=client.basic(name, "wrong"))
    seen = admin.get(OF_ALL).text + admin.get("/users").text
    yield Result(attempt, _around(seen, f"<script>{mark}-name"))


def _around(text: str, part: str) -> str:
    place = text.find(part)
    return text[max(0, place - 100) : place + 100] if place >= 0 else ""


def _typed_password(service: Service, admin: Person) -> Result:
    """Type a password into the field of the name, as people do."""
    typed = f"my-password-{secrets.token_hex(6)}"
    visitor = browser(service)
    visitor.fill("/sign-in", username=typed, password="x")
    client.request(service, "GET", "/v1/me", headers=client.basic(typed, "x"))
    seen = admin.get(OF_ALL).text + admin.api("GET", AUDIT).text
    attempt = Attempt("password as a name", "reads what someone has typed as a name by mistake", "the log has it")
    return Result(attempt, _around(seen, typed))


def _fail2ban(testbed: Testbed, service: Service) -> Iterator[Result]:
    """Let lines about another address be written. The attacker's own address is in each of them, and may be banned."""
    lines = {
        "line in a name": _LINE,
        "line break in a name": f"x\n{_LINE}",
        "carriage return in a name": f"x\r{_LINE}",
        "other line breaks in a name": f"x\u2028{_LINE}\x85{_LINE}\x0b{_LINE}\x0c{_LINE}",
        "end of a value in a name": f'x" suppressed=0\n{_LINE}',
        "JSON in a name": f'","address":"{FORGED}","event":"sign-in refused","level":"warning","reason":"',
        "address in front of a name": f"address={FORGED} reason=",
    }
    formats = {"text": service} if testbed.short else {"text": service, "JSON": testbed.service(log_format="json")}
    for log_format, logging in formats.items():
        for name, forged in testbed.choose(lines.items(), 3):
            wrong = _wrong_lines(logging, forged)
            tries = f"is refused with a name that looks like a line of the log, which is written as {log_format}"
            yield Result(Attempt(f"{name}, {log_format}", tries, "another address is banned"), wrong)
    before = len(service.log)
    visitor = browser(service)
    visitor.address = f"{FORGED} reason=x"
    visitor.fill("/sign-in", username="nobody", password="wrong")
    banned_for = [line for line in service.log[before:].splitlines() if banned(line) == FORGED]
    attempt = Attempt("forged address", "a client behind the proxy sends an address with more text", "it is banned")
    yield Result(attempt, banned_for[0] if banned_for else "")


def _wrong_lines(service: Service, name: str) -> str:
    """Be refused with this name in every way that takes one. Returns a line for which another address is banned."""
    before, visitor = len(service.log), browser(service)
    printable = "".join(letter for letter in name if " " <= letter <= "~")
    headers = {"X-Forwarded-For": visitor.address, "User-Agent": printable}
    visitor.fill("/sign-in", username=name, password="wrong")
    client.request(service, "GET", "/v1/me", headers={**client.basic(name, "wrong"), **headers})
    for path in (f"/accounts/ClientLogin?Email={quote(name)}&Passwd=wrong", f"/invitation/{quote(name)}"):
        client.request(service, "GET", path, headers=headers)
    written = service.log[before:].splitlines()
    if visitor.address not in map(banned, written):
        raise RuntimeError("no refused sign-in was found in the log")
    return next((line for line in written if banned(line) not in ("", visitor.address)), "")
