"""Sends requests that a page of another site makes a signed-in browser send (CSRF).

Forms are found by crawling the pages, operations in the OpenAPI document. All are sent with the headers that a browser
adds to a cross-site request (Fetch Metadata, Origin: fetch.spec.whatwg.org), and some by Chromium itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from html import escape
from urllib.parse import urlencode

from abuse import client, pages
from abuse.attempts import Attempt, Result
from abuse.browser import ChromiumMissing, chromium
from abuse.owned_resources import OwnedResources, create_resources, example
from abuse.people import Person, administrator
from abuse.testbed import Testbed

_ELSEWHERE = "https://evil.example"
FORM_SUCCEEDS_IF = "any response but a refusal (4xx)"
API_SUCCEEDS_IF = "any response but 403: the request was processed"

# What is wrong with a form: name, changes to its token (None: left out), headers.
FORM_VARIANTS: tuple[tuple[str, str | None, Mapping[str, str]], ...] = (
    ("without token", None, {}),
    ("empty token", "", {}),
    ("made-up token", "0" * 40, {}),
    ("token of another", "other", {}),
    ("cross-site", "own", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Origin": _ELSEWHERE}),
    ("same-site", "own", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"}),
    ("foreign origin", "own", {"Origin": _ELSEWHERE}),
    ("origin with our name in front", "own", {"Origin": "http://%HOST.evil.example"}),
    ("origin with another port", "own", {"Origin": "http://%NAME:1"}),
)
FORM_KINDS = ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x")
# Cross-site requests that a browser with cached Basic credentials sends without a preflight.
API_VARIANTS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("cross-site form", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Content-Type": "text/plain"}),
    ("same-site form", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Content-Type": "text/plain"}),
    ("cross-site no-cors", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Content-Type": "text/plain"}),
    ("same-site no-cors", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}),
    ("cross-site without type", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Content-Type": ""}),
    ("foreign origin, text", {"Origin": _ELSEWHERE, "Content-Type": "text/plain"}),
    ("foreign origin, text with a parameter", {"Origin": _ELSEWHERE, "Content-Type": "text/plain; charset=utf-8"}),
    ("foreign origin, text in capitals", {"Origin": _ELSEWHERE, "Content-Type": "TEXT/Plain"}),
    ("foreign origin, form", {"Origin": _ELSEWHERE, "Content-Type": "application/x-www-form-urlencoded"}),
    ("foreign origin, multipart", {"Origin": _ELSEWHERE, "Content-Type": "multipart/form-data; boundary=x"}),
    ("null origin, text", {"Origin": "null", "Content-Type": "text/plain"}),
    ("null origin, form", {"Origin": "null", "Content-Type": "application/x-www-form-urlencoded"}),
)


def run(testbed: Testbed) -> Iterator[Result]:
    alice = create_resources(testbed.shared, testbed.publisher, with_delivery=False)
    bob = create_resources(testbed.shared, testbed.publisher, with_delivery=False)
    alice.owner.sign_in()
    bob.owner.sign_in()
    yield from _forms(testbed, alice.owner, bob.owner)
    yield from _sign_in(testbed)
    yield from _api(testbed, alice)
    yield from _cors(testbed, alice)
    yield from _in_chromium(testbed, alice.owner)


def _token(user: Person) -> str:
    return next(form.values["csrf"] for form in pages.forms(user.get("/categories").text) if "csrf" in form.values)


def _forms(testbed: Testbed, alice: Person, bob: Person) -> Iterator[Result]:
    forms: dict[str, pages.Form] = {}
    for path, html in pages.walk(alice, max_pages=15 if testbed.short else 200).items():
        for form in pages.forms(html, path):
            forms.setdefault(re.sub(r"\d+", "N", form.action), form)
    tokens = {"own": _token(alice), "other": _token(bob)}
    for number, form in enumerate(testbed.choose(sorted(forms), 3)):
        kinds = FORM_KINDS if not testbed.short else FORM_KINDS[number % 3 : number % 3 + 1]
        for variant, token, headers in FORM_VARIANTS:
            for kind in kinds:
                yield _form(alice, forms[form], variant, tokens.get(token or "", token), headers, kind)


def _form(
    alice: Person, form: pages.Form, variant: str, token: str | None, headers: Mapping[str, str], kind: str
) -> Result:
    values = {**form.values, "csrf": token or ""}
    if token is None:
        del values["csrf"]
    host = f"{alice.service.host}:{alice.service.port}"
    sent = {name: value.replace("%HOST", host).replace("%NAME", alice.service.host) for name, value in headers.items()}
    name = f"form {variant}, {kind.partition(';')[0]}: {re.sub(r'[0-9]+', 'N', form.action)}"
    cookies = dict(alice.cookies)
    answer = alice.post(form.action, _body(values, kind), kind, sent)
    # Without a session all later requests would be refused.
    alice.cookies.update(cookies)
    evidence = "" if 400 <= answer.status < 500 else f"{answer.status} {answer.text[:200]}"
    return Result(Attempt(name, f"a form of a page, {variant}", FORM_SUCCEEDS_IF), evidence)


def _body(values: Mapping[str, str], kind: str) -> bytes:
    if kind.startswith("multipart"):
        parts = "".join(
            f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in values.items()
        )
        return f"{parts}--x--\r\n".encode()
    if kind == "text/plain":
        return "".join(f"{name}={value}\r\n" for name, value in values.items()).encode()
    return urlencode(values).encode()


def _sign_in(testbed: Testbed) -> Iterator[Result]:
    """Sign a victim in as another user, without having loaded the form."""
    victim, attacker = Person(testbed.shared, "", ""), administrator(testbed.shared)
    values = {"username": attacker.name, "password": attacker.password}
    for kind in FORM_KINDS:
        answer = victim.post("/sign-in", _body(values, kind), kind, {"Origin": _ELSEWHERE})
        through = any("session" in name for name in victim.cookies) or answer.status < 400
        attempt = Attempt(f"sign-in, {kind.partition(';')[0]}", "the sign-in form from elsewhere", "a session begins")
        yield Result(attempt, f"{answer.status} {victim.cookies}" if through else "")


def _api(testbed: Testbed, alice: OwnedResources) -> Iterator[Result]:
    document = client.request(testbed.shared, "GET", "/v1/openapi.json").json()
    operations = [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in ("post", "put", "patch", "delete")
    ]
    head = administrator(testbed.shared)
    for method, path, operation in testbed.choose(operations, 2):
        for variant, headers in API_VARIANTS:
            # Nobody has these ids: a processed request gets 404, and nothing is lost.
            address = re.sub(r"\{\w+_id\}", "999999999", path).replace("{integration}", "webhook")
            body = example(operation) or b""
            answer = client.request(
                testbed.shared,
                method.upper(),
                address,
                headers={**head.basic, **headers},
                body=b"" if "flush" in path else body,
            )
            attempt = Attempt(
                f"api {variant}: {method.upper()} {path}", "with cached Basic credentials", API_SUCCEEDS_IF
            )
            yield Result(attempt, "" if answer.status == 403 else f"{answer.status} {answer.text[:150]}")


def _cors(testbed: Testbed, alice: OwnedResources) -> Iterator[Result]:
    """Check whether a page of another site may read responses to requests with the browser's credentials (CORS)."""
    for path in ("/v1/me", "/v1/entries", "/unread"):
        for origin in (_ELSEWHERE, "null", f"http://{testbed.shared.host}.evil.example"):
            requested = {
                "Origin": origin,
                "Access-Control-Request-Method": "PUT",
                "Access-Control-Request-Headers": "authorization",
            }
            for method, headers in (
                ("GET", {**alice.owner.basic, **alice.owner.cookie_header, "Origin": origin}),
                ("OPTIONS", requested),
            ):
                answer = client.request(testbed.shared, method, path, headers=headers)
                allowed = answer.header("Access-Control-Allow-Origin")
                through = allowed in (origin, "null") or answer.header("Access-Control-Allow-Credentials") == "true"
                attempt = Attempt(
                    f"cors {method} {path} from {origin}", "with an Origin", "the origin is allowed to read"
                )
                yield Result(attempt, f"Access-Control-Allow-Origin: {allowed}" if through else "")


def _in_chromium(testbed: Testbed, alice: Person) -> Iterator[Result]:
    """Open pages of another site that submit a form, in a browser with a session and cached Basic credentials."""
    head = administrator(testbed.shared)
    user = {"username": "evil", "password": "evil1234", "is_admin": True}
    text = str(user).replace("'", '"').replace("True", "true")
    attacks = {
        "new administrator by text/plain": ("/v1/users", "text/plain", {text[:-1] + ', "google_id": "': '"}'}),
        "new category by text/plain": ("/v1/categories", "text/plain", {'{"title": "evil': '"}'}),
        "new category on the page": ("/categories/add", pages.URLENCODED, {"title": "evil"}),
        "signed out on the page": ("/sign-out", pages.URLENCODED, {}),
    }
    attempts = {
        name: Attempt(f"Chromium: {name}", "a page elsewhere sends a form by itself", "it takes effect")
        for name in attacks
    }
    try:
        with chromium() as browser:
            context = browser.new_context(http_credentials={"username": head.name, "password": head.password})
            page = context.new_page()
            # With this the browser caches the credentials.
            page.goto(f"{testbed.shared.url}/v1/me")
            page.goto(f"{testbed.shared.url}/sign-in")
            page.fill("[name=username]", alice.name)
            page.fill("[name=password]", alice.password)
            page.click("main button")
            page.wait_for_url("**/unread")
            for name, (path, kind, fields) in attacks.items():
                inputs = "".join(
                    f'<input name="{escape(key)}" value="{escape(value)}">' for key, value in fields.items()
                )
                form = f'<form method=post enctype="{kind}" action="{testbed.shared.url}{path}">{inputs}</form>'
                testbed.publisher.serve("/attack", f"{form}<script>document.forms[0].submit()</script>", "text/html")
                # 127.0.0.1 and localhost are different sites.
                with page.expect_response(f"{testbed.shared.url}{path}") as answered, suppress(Exception):
                    page.goto(testbed.publisher.url("/attack").replace("127.0.0.1", "localhost"))
                page.goto(f"{testbed.shared.url}/categories")
                taken = [
                    who.api("GET", "/v1/categories").text + who.api("GET", "/v1/users").text for who in (head, alice)
                ]
                through = "evil" in "".join(taken) or not page.url.endswith("/categories")
                yield Result(attempts[name], f"answered {answered.value.status}, now at {page.url}" if through else "")
            context.close()
    except ChromiumMissing as missing:
        for attempt in attempts.values():
            yield Result(attempt, not_tried=str(missing))
