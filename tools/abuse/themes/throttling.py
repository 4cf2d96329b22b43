"""Guesses passwords: how many guesses are verified, and who is locked out.

An attempt succeeds if all of its guesses are verified within the time; a busy machine makes that less likely, never
more. Addresses come in X-Forwarded-For from a trusted proxy, as behind a reverse proxy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from abuse import client, pages
from abuse.attempts import Attempt, Result
from abuse.client import HttpResponse
from abuse.people import Person, person
from abuse.service import Service
from abuse.testbed import Testbed

GUESSES, WITHIN_S = 24, 8
# Names of each kind whose time is measured.
TIMED = 24
OWNER, GUESSERS = "203.0.113.20", 24
SUCCEEDS_IF = f"{GUESSES} guesses are verified within {WITHIN_S} s"


@dataclass(frozen=True)
class Guessing:
    """address: of guess N, with %d or %x for N; alternating spellings are separated by |. same_name: whether all guesses are for one name. by_form: else by the API.

    concurrency: how many guesses are sent at the same time.
    """

    name: str
    tries: str
    address: str
    same_name: bool = True
    by_form: bool = False
    concurrency: int = 2


GUESSINGS = (
    Guessing("one name, one address", "many passwords on one name", "203.0.113.7"),
    Guessing("one name, one address, by form", "many passwords on one name", "203.0.113.8", by_form=True),
    Guessing("one name, one address, at once", "all guesses are sent before the first is answered", "203.0.113.13", concurrency=GUESSES),
    Guessing("one name, one IPv6 network", "each guess from another address of one /64", "2600:3c00:1:2::%x"),
    Guessing("one name, one IPv6 network, by form", "each guess from another address of one /64", "2600:3c00:1:3::%x", by_form=True),
    Guessing("one name, mapped address", "an address written as IPv4 and as mapped IPv6 by turns", "203.0.113.9|::ffff:203.0.113.9|::FFFF:cb00:7109"),
    Guessing("one name, spelled addresses", "one IPv6 address, spelled differently", "2600:3c00:1:4:0:0:0:1|2600:3C00:1:4::1|2600:3c00:0001:0004::0001|2600:3c00:1:4::0.0.0.1"),
    Guessing("one name, many networks", "each guess from another network", "198.51.%d.1"),
    Guessing("many names, one address", "one password on many names", "203.0.113.10", same_name=False),
    Guessing("many names, one address, by form", "one password on many names", "203.0.113.11", same_name=False, by_form=True),
)  # fmt: skip


def run(testbed: Testbed) -> Iterator[Result]:
    service = testbed.shared
    for guessing in testbed.choose(GUESSINGS, 1):
        names = (
            [person(service).name] * GUESSES if guessing.same_name else [f"nobody{number}" for number in range(GUESSES)]
        )
        yield Result(Attempt(guessing.name, guessing.tries, SUCCEEDS_IF), _guess(service, guessing, names))
    yield _enumeration(service)
    if not testbed.short:
        yield _timing(service)
        yield _spelled_names(service)
        yield _foreign_proxy(testbed)
        yield from _owner(service)


def _guess(service: Service, guessing: Guessing, names: list[str]) -> str:
    """Return evidence if every guess was verified in time, else ""."""
    begun = time.monotonic()

    def one(number: int) -> bool:
        if time.monotonic() > begun + WITHIN_S:
            return False
        spellings = guessing.address.split("|")
        address = spellings[number % len(spellings)]
        address = address % number if "%" in address else address
        try:
            return _looked_at(service, names[number], address, guessing.by_form)
        except OSError:
            return False

    with ThreadPoolExecutor(guessing.concurrency) as pool:
        looked_at = list(pool.map(one, range(GUESSES)))
    took = time.monotonic() - begun
    return f"{sum(looked_at)} guesses in {took:.1f} s" if all(looked_at) and took < WITHIN_S else ""


def _looked_at(service: Service, name: str, address: str, by_form: bool) -> bool:
    headers = {"X-Forwarded-For": address}
    if not by_form:
        answer = client.request(
            service, "GET", "/v1/me", headers={**client.basic(name, "guessed"), **headers}, timeout_s=WITHIN_S
        )
        return answer.status == 401 and not answer.header("Retry-After")
    visitor = Person(service, name, "guessed")
    form = pages.forms(visitor.get("/sign-in", headers).text)[0]
    body = urlencode({**form.values, "username": name, "password": "guessed"}).encode()
    all_headers = {**visitor.cookie_header, **headers, "Content-Type": pages.URLENCODED}
    answer = client.request(service, "POST", form.action, headers=all_headers, body=body, timeout_s=WITHIN_S)
    return answer.status in (400, 401, 403)


def _spelled_names(service: Service) -> Result:
    """Guess one name in several spellings: it is the same account, and must have one limit."""
    owner = person(service)
    spelled = [_spelling(owner.name, number) for number in range(GUESSES)]
    guessing = Guessing("one name, spelled differently", "capitals by turns", "203.0.113.12")
    return Result(Attempt(guessing.name, guessing.tries, SUCCEEDS_IF), _guess(service, guessing, spelled))


def _spelling(name: str, number: int) -> str:
    return "".join(letter.upper() if number >> index & 1 else letter for index, letter in enumerate(name))


def _foreign_proxy(testbed: Testbed) -> Result:
    """Send X-Forwarded-For from a peer that is not a trusted proxy."""
    attempt = Attempt("forged addresses", "each guess with another X-Forwarded-For from an untrusted peer", SUCCEEDS_IF)
    service = testbed.service(trusted_reverse_proxy_networks="10.0.0.0/8")
    names = [person(service).name] * GUESSES
    return Result(attempt, _guess(service, Guessing("", "", "198.51.%d.1"), names))


def _owner(service: Service) -> Iterator[Result]:
    """Guess with many clients the owner's password while the owner signs in: from their address, and from others."""
    owner = person(service)
    owner.sign_in({"X-Forwarded-For": OWNER})
    known = Person(service, owner.name, owner.password, owner.id, dict(owner.cookies))
    known.cookies = {name: value for name, value in known.cookies.items() if "session" not in name}
    attempt = Attempt(
        "owner locked out",
        f"{GUESSERS} guessers from the address of the owner",
        "a browser that signed in before is refused",
    )
    yield Result(attempt, _locked_out(service, owner, OWNER, lambda: known.sign_in({"X-Forwarded-For": OWNER})))
    for name, sign_in in (
        ("browser", lambda other: other.sign_in({"X-Forwarded-For": "203.0.113.22"})),
        ("app", lambda other: _basic(other, [f"203.0.113.{number}" for number in range(23, 29)])),
    ):
        other = person(service)
        attempt = Attempt(
            f"owner locked out of a new {name}",
            f"{GUESSERS} guessers from one address, the owner from another",
            f"a {name} that has not signed in before is refused",
        )
        yield Result(attempt, _locked_out(service, other, "203.0.113.21", partial(sign_in, other)))


def _basic(owner: Person, addresses: Sequence[str]) -> None:
    """Sign in by the API from several addresses. Raises RuntimeError if the owner is refused at one of them."""

    def one(address: str) -> HttpResponse:
        return client.request(owner.service, "GET", "/v1/me", headers={**owner.basic, "X-Forwarded-For": address})

    with ThreadPoolExecutor(len(addresses)) as pool:
        for answer in pool.map(one, addresses):
            if answer.status != 200:
                raise RuntimeError(f"{answer.status} {answer.text[:200]}")


def _locked_out(service: Service, owner: Person, guessers: str, sign_in: Callable[[], object]) -> str:
    """Return evidence if the owner cannot sign in while others guess."""
    stop = time.monotonic() + 12

    def guess(number: int) -> None:
        while time.monotonic() < stop:
            try:
                _looked_at(service, owner.name, guessers, by_form=number % 2 == 0)
            except OSError:
                continue

    with ThreadPoolExecutor(GUESSERS) as pool:
        running = [pool.submit(guess, number) for number in range(GUESSERS)]
        time.sleep(5)
        try:
            sign_in()
            evidence = ""
        except (RuntimeError, OSError) as error:
            evidence = str(error)[:200]
        for each in running:
            each.result()
    return evidence


def _timing(service: Service) -> Result:
    """Compare the processor time of wrong passwords for known and for unknown names, which other processes do not affect."""
    known = [person(service).name for _ in range(TIMED)]
    unknown = [f"nobody-{name}" for name in known]
    for name in (known[0], unknown[0]):
        _looked_at(service, name, "203.0.113.40", by_form=False)
    spent: dict[str, float] = {}
    for kind, names in (("known", known), ("unknown", unknown)):
        before = service.processor_s()
        for number, name in enumerate(names[1:]):
            _looked_at(service, name, f"203.0.113.{50 + number}", by_form=False)
        spent[kind] = service.processor_s() - before
    attempt = Attempt(
        "names found out by time",
        "measures how long wrong passwords take",
        "twice as long for names that exist or do not",
    )
    few, many = sorted(spent.values())
    return Result(attempt, str(spent) if many > 2 * few + 0.1 else "")


def _enumeration(service: Service) -> Result:
    """Compare the responses to a wrong password for a known and an unknown name."""
    differences = []
    for name in (person(service).name, "nobody-of-this-name"):
        visitor = Person(service, name, "guessed")
        form = pages.forms(visitor.get("/sign-in", {"X-Forwarded-For": "203.0.113.30"}).text)[0]
        answer = visitor.post(
            form.action,
            urlencode({**form.values, "username": name, "password": "guessed"}).encode(),
            headers={"X-Forwarded-For": "203.0.113.30"},
        )
        text = answer.text.replace(name, "NAME")
        for value in form.values.values():
            text = text.replace(value, "") if value else text
        differences.append((answer.status, "is-invalid" in text, len(text)))
    attempt = Attempt(
        "names found out", "signs in with a name that exists, and with one that does not", "the answers differ"
    )
    return Result(attempt, str(differences) if differences[0] != differences[1] else "")
