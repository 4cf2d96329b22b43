"""Requests every route and resource as a user without permission.

Operations come from the service's own OpenAPI document, pages and forms from crawling, so new ones are tried without
being listed here.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from abuse import client, pages
from abuse.attempts import Attempt, Result
from abuse.client import HttpResponse
from abuse.owned_resources import OwnedResources, create_resources, example
from abuse.people import Person, administrator, person
from abuse.testbed import Testbed

CHANGED = "the answer shows something of the owner, or something of the owner is different afterwards"
# Paths that only an administrator may call.
RESERVED = ("/v1/users", "/v1/audit", "/v1/invitations", "/v1/instance")
UNSAFE = ("post", "put", "patch", "delete")
# Bodies and queries with ids of another user, the owner.
FOREIGN_IDS: tuple[tuple[str, str, str, str], ...] = (
    ("status of an entry", "PUT", "/v1/entries", '{"entry_ids": [%(entry_id)d], "status": "read"}'),
    ("star of an entry", "PUT", "/v1/entries", '{"entry_ids": [%(entry_id)d], "starred": true}'),
    ("new feed in a category", "POST", "/v1/feeds", '{"feed_url": "%(url)s", "category_id": %(category_id)d}'),
    ("feed moved into a category", "PUT", "/v1/feeds/%(own_feed)d", '{"category_id": %(category_id)d}'),
    ("feed moved into a category object", "PUT", "/v1/feeds/%(own_feed)d", '{"category": {"id": %(category_id)d}}'),
    ("entries of a category", "GET", "/v1/entries?category_id=%(category_id)d", ""),
    ("entries of a feed", "GET", "/v1/entries?feed_id=%(feed_id)d", ""),
    ("entries of a user", "GET", "/v1/entries?user_id=%(user_id)d", ""),
    ("entries after one", "GET", "/v1/entries?after_entry_id=0", ""),
    ("ids of entries", "GET", "/v1/entries/ids", ""),
    ("search", "GET", "/v1/entries?search=%(mark)s", ""),
    ("entry of a feed through one's own feed", "GET", "/v1/feeds/%(own_feed)d/entries/%(entry_id)d", ""),
    ("entry of a feed through its feed", "GET", "/v1/feeds/%(feed_id)d/entries/%(entry_id)d", ""),
    ("import into a feed", "POST", "/v1/feeds/%(feed_id)d/entries/import", '{"url": "http://a.example/", "title": "x"}'),
    ("many feeds switched off", "POST", "/v1/feeds/bulk", '{"feed_ids": [%(feed_id)d], "action": "disable"}'),
    ("many feeds deleted", "POST", "/v1/feeds/bulk", '{"feed_ids": [%(feed_id)d], "action": "delete"}'),
    ("many feeds moved into a category", "POST", "/v1/feeds/bulk",
     '{"feed_ids": [%(own_feed)d], "action": "move", "category_id": %(category_id)d}'),
    ("health of feeds of a category", "GET", "/v1/feeds/health?category_id=%(category_id)d", ""),
    ("marked above an entry", "PUT", "/v1/entries/mark-as-read", '{"range": "above", "entry_id": %(entry_id)d}'),
    ("a feed marked as read", "PUT", "/v1/entries/mark-as-read?feed_id=%(feed_id)d", '{"range": "all"}'),
    ("share links", "GET", "/v1/share-links", ""),
    ("file in one's own queue", "POST", "/v1/queue", '{"enclosure_id": %(enclosure_id)d}'),
    ("owner in the body", "POST", "/v1/categories", '{"title": "mine", "user_id": %(user_id)d}'),
    ("make oneself administrator", "PUT", "/v1/users/%(own_user)d", '{"is_admin": true}'),
    ("password of another", "PUT", "/v1/users/%(user_id)d", '{"password": "taken over"}'),
    ("new administrator", "POST", "/v1/users", '{"username": "evil", "password": "evil1234", "is_admin": true}'),
)  # fmt: skip

# Names that look like "a%s", or are the same in another form of Unicode.
SIMILAR_NAMES: tuple[tuple[str, str], ...] = (
    ("Cyrillic a", "\N{CYRILLIC SMALL LETTER A}%s"),
    ("Greek alpha", "\N{GREEK SMALL LETTER ALPHA}%s"),
    ("Cherokee", "\N{CHEROKEE LETTER GO}%s"),
    ("zero width space", "a\N{ZERO WIDTH SPACE}%s"),
    ("zero width joiner", "a\N{ZERO WIDTH JOINER}%s"),
    ("right-to-left mark", "\N{RIGHT-TO-LEFT MARK}a%s"),
    ("soft hyphen", "a\N{SOFT HYPHEN}%s"),
    ("blank at the end", "a%s "),
    ("no-break space", "a%s\N{NO-BREAK SPACE}"),
    ("fullwidth", "\N{FULLWIDTH LATIN SMALL LETTER A}%s"),
    ("mathematical", "\N{MATHEMATICAL BOLD SMALL A}%s"),
    ("circled", "\N{CIRCLED LATIN SMALL LETTER A}%s"),
    ("capital", "A%s"),
)


def run(testbed: Testbed) -> Iterator[Result]:
    service = testbed.shared
    alice, bob = (
        create_resources(service, testbed.publisher),
        create_resources(service, testbed.publisher, with_delivery=False),
    )
    document = client.request(service, "GET", "/v1/openapi.json").json()
    operations = [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in ("get", *UNSAFE)
    ]
    closed = [each for each in operations if each[2].get("security") != []]
    yield from _anonymous(testbed, closed, alice)
    yield from _strangers(testbed, closed, alice, bob.owner)
    yield from _foreign_ids(testbed, alice, bob)
    yield from _pages(testbed, alice, bob.owner)
    yield from _administration(testbed, closed, bob.owner)
    yield from _similar_names(testbed)
    yield from _revoked(testbed)


def _path(path: str, alice: OwnedResources) -> str:
    return re.sub(
        r"\{(\w+)\}", lambda match: str(alice.ids.get(match[1], 1 if match[1].endswith("_id") else "webhook")), path
    )


def _anonymous(testbed: Testbed, operations: list[Any], alice: OwnedResources) -> Iterator[Result]:
    pretended = {
        "without credentials": {},
        "with a wrong password": client.basic(alice.owner.name, "wrong"),
        "with an empty password": client.basic(alice.owner.name, ""),
        "with a made-up key": {"X-Auth-Token": "0" * 64},
        "with a header that names the user": {"X-Forwarded-User": alice.owner.name, "Remote-User": alice.owner.name},
    }
    for number, (method, path, operation) in enumerate(testbed.choose(operations, 3)):
        # More wrong passwords would be refused by the throttle.
        chosen = (
            pretended
            if number == 0
            else {"without credentials": {}, "with a made-up key": pretended["with a made-up key"]}
        )
        for how, headers in chosen.items():
            attempt = Attempt(f"{how}: {method.upper()} {path}", "a stranger calls it", "any answer but 401")
            body = example(operation)
            answer = client.request(testbed.shared, method.upper(), _path(path, alice), headers=headers, body=body)
            yield Result(attempt, "" if answer.status == 401 else f"{answer.status} {answer.text[:200]}")


def _strangers(testbed: Testbed, operations: list[Any], alice: OwnedResources, bob: Person) -> Iterator[Result]:
    """Call operations with ids of another user; check the response and the owner's resources."""
    with_ids = [each for each in operations if re.search(r"\{\w+_id\}", each[1])]
    for method, path, operation in testbed.choose(with_ids, 5):
        attempt = Attempt(f"stranger: {method.upper()} {path}", "another user calls it with ids of the owner", CHANGED)
        before = alice.snapshot()
        answer = bob.api(method.upper(), _path(path, alice), example(operation))
        leaked = "" if answer.status < 500 else f"{answer.status} {answer.text[:200]}"
        if method != "get" and answer.status < 300 and "mark-all-as-read" not in path:
            leaked = f"{answer.status} {answer.text[:200]}"
        yield Result(attempt, leaked or _seen(answer, alice) or _changed(before, alice))


def _foreign_ids(testbed: Testbed, alice: OwnedResources, bob: OwnedResources) -> Iterator[Result]:
    url = testbed.publisher.serve("/another.xml", '<rss version="2.0"><channel><title>a</title></channel></rss>')
    values = {**alice.ids, "mark": alice.mark, "url": url, "own_feed": bob.ids["feed_id"], "own_user": bob.owner.id}
    for name, method, path, body in testbed.choose(FOREIGN_IDS, 5):
        attempt = Attempt(f"foreign id: {name}", f"{method} {path} {body}", CHANGED)
        before = alice.snapshot()
        answer = bob.owner.api(method, path % values, (body % values).encode() if body else None)
        evidence = _seen(answer, alice) or _changed(before, alice)
        if bob.owner.made("GET", "/v1/me")["is_admin"]:
            evidence = "became an administrator"
        if name == "new administrator" and answer.status != 403:
            evidence = f"{answer.status} {answer.text[:200]}"
        yield Result(attempt, evidence)


def _pages(testbed: Testbed, alice: OwnedResources, bob: Person) -> Iterator[Result]:
    """Request every page and form of the owner as another user and without a session."""
    alice.owner.sign_in()
    bob.sign_in()
    owned_pages = pages.walk(alice.owner, max_pages=25 if testbed.short else 300)
    token = next(form.values["csrf"] for form in pages.forms(bob.get("/categories").text) if "csrf" in form.values)
    own = [path for path, html in owned_pages.items() if alice.mark in html and re.search(r"\d", path)]
    nobody = Person(testbed.shared, "", "")
    for path in testbed.choose(owned_pages, 3):
        attempt = Attempt(f"page without session: {path}", "a stranger opens it", "something of the owner is shown")
        yield Result(attempt, _seen(nobody.get(path), alice))
    for path in testbed.choose(own, 3):
        attempt = Attempt(f"page of another: {path}", "another user opens it", "something of the owner is shown")
        yield Result(attempt, _seen(bob.get(path), alice))
    for form in testbed.choose(_forms_with_ids(owned_pages, alice), 3):
        attempt = Attempt(f"form of another: {form.action}", "another user sends it with a token of their own", CHANGED)
        before = alice.snapshot()
        # The form of one's own account returns the name that was sent.
        sent = {name: bob.name if name == "username" else value for name, value in form.values.items()}
        answer = bob.post(form.action, urlencode({**sent, "csrf": token}).encode())
        yield Result(attempt, _seen(answer, alice) or _changed(before, alice))


def _forms_with_ids(found: dict[str, str], alice: OwnedResources) -> list[pages.Form]:
    """Return a form for each action that contains an id, deletions last."""
    forms: dict[str, pages.Form] = {}
    for path, html in found.items():
        for form in pages.forms(html, path):
            if re.search(r"\d", form.action) or any(value.isdigit() for value in form.values.values()):
                forms.setdefault(form.action, form)
    return sorted(forms.values(), key=lambda form: "delete" in form.action)


def _administration(testbed: Testbed, operations: list[Any], bob: Person) -> Iterator[Result]:
    """Call operations of administrators as another user."""
    reserved = [each for each in operations if each[1].startswith(RESERVED) and "{" not in each[1]]
    for method, path, operation in reserved:
        attempt = Attempt(
            f"not an administrator: {method.upper()} {path}", "a plain user calls it", "any answer but 403"
        )
        answer = bob.api(method.upper(), path, example(operation))
        yield Result(attempt, "" if answer.status == 403 else f"{answer.status} {answer.text[:200]}")
    head = administrator(testbed.shared)
    head.sign_in()
    # A form of the last attempts may have signed bob out.
    bob.sign_in()
    hidden = set(pages.links(head.get("/settings").text)) - set(pages.links(bob.get("/settings").text))
    for path in sorted({"/instance", *hidden}):
        attempt = Attempt(f"page for administrators: {path}", "a plain user opens it", "it is shown")
        yield Result(attempt, _if_200(bob.get(path)))


def _similar_names(testbed: Testbed) -> Iterator[Result]:
    """Create accounts whose names look like that of another."""
    head, rest = administrator(testbed.shared), f"nna{secrets.token_hex(4)}"
    head.made("POST", "/v1/users", {"username": f"a{rest}", "password": "the real one"})
    for what, pattern in testbed.choose(SIMILAR_NAMES, 3):
        attempt = Attempt(f"similar name: {what}", "creates an account that looks like another one", "it is created")
        answer = head.api("POST", "/v1/users", {"username": pattern % rest, "password": "an impostor"})
        yield Result(attempt, "" if answer.status == 400 else f"{answer.status} {answer.text[:200]}")


def _revoked(testbed: Testbed) -> Iterator[Result]:
    """Use revoked credentials."""
    gone = person(testbed.shared)
    key = gone.made("POST", "/v1/api-keys", {"description": "a"})
    headers = {"X-Auth-Token": key["token"]}
    assert client.request(testbed.shared, "GET", "/v1/me", headers=headers).status == 200
    gone.sign_in()
    stolen = Person(testbed.shared, gone.name, gone.password, gone.id, dict(gone.cookies))
    gone.made("DELETE", f"/v1/api-keys/{key['id']}")
    answer = client.request(testbed.shared, "GET", "/v1/me", headers=headers)
    yield Result(Attempt("deleted key", "an API key that was deleted", "any answer but 401"), _unless_401(answer))
    gone.submit(next(form for form in pages.forms(gone.get("/settings").text) if form.action.endswith("/sign-out")))
    answer = stolen.get("/settings")
    yield Result(
        Attempt("ended session", "the cookie of a session that was ended", "the page is shown"), _if_200(answer)
    )
    gone.sign_in()
    stolen.cookies = dict(gone.cookies)
    administrator(testbed.shared).made("PUT", f"/v1/users/{gone.id}", {"password": "quite another"})
    answer = gone.api("GET", "/v1/me")
    yield Result(Attempt("old password", "a password that was changed", "any answer but 401"), _unless_401(answer))
    gone.password = "quite another"
    gone.cookies.clear()
    gone.sign_in()
    administrator(testbed.shared).api("DELETE", f"/v1/users/{gone.id}")
    yield Result(
        Attempt("deleted user", "the password of a user who was deleted", "any answer but 401"),
        _unless_401(gone.api("GET", "/v1/me")),
    )
    yield Result(
        Attempt("session of a deleted user", "the cookie of a user who was deleted", "the page is shown"),
        _if_200(gone.get("/settings")),
    )


def _unless_401(answer: HttpResponse) -> str:
    return "" if answer.status == 401 else f"{answer.status} {answer.text[:200]}"


def _if_200(answer: HttpResponse) -> str:
    return f"{answer.status} {answer.text[:200]}" if answer.status == 200 else ""


def _seen(answer: HttpResponse, alice: OwnedResources) -> str:
    at = answer.text.find(alice.mark)
    return f"{answer.status} …{answer.text[max(0, at - 80) : at + 80]}…" if at >= 0 and not _is_echo(answer) else ""


def _is_echo(answer: HttpResponse) -> bool:
    """Return whether the response is an empty list; a search page repeats its words, so they are no evidence."""
    return answer.status == 200 and '"total":0' in answer.text


def _changed(before: dict[str, str], alice: OwnedResources) -> str:
    after = alice.snapshot()
    return "; ".join(f"{path}: {after[path][:200]}" for path in before if before[path] != after[path])
