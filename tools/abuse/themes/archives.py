"""Imports archives of a stranger into accounts, by the API and on the page, and asks what they have taken over."""

from __future__ import annotations

import io
import json
import re
import secrets
import time
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from abuse import pages
from abuse.attempts import Attempt, Result
from abuse.people import Person, person
from abuse.testbed import Testbed

TAKEN_OVER: Final = "the setting of the stranger is in the account, although nobody asked for it"
UNCLEAR: Final = "the import crashes, or says that something went wrong"
FOREIGN: Final = "https://stranger.example/"
# Settings of the account; the account protects itself first.
SETTINGS: Final[Mapping[str, Any]] = {
    "custom_js": "document.title='taken over'",
    "stylesheet": "body{background:url(https://stranger.example/)}",
    "external_font_hosts": "fonts.stranger.example",
    "block_filter_entry_rules": "EntryTitle=.*",
    "keep_filter_entry_rules": "EntryTitle=nothing",
    "allow_account_password_in_apps": True,
    "proxies_pictures": False,
    "saves_starred": True,
}
PROTECTED: Final = {"allow_account_password_in_apps": False, "proxies_pictures": True}
FEED_SETTINGS: Final[Mapping[str, Any]] = {
    "webhook_url": FOREIGN,
    "apprise_service_urls": "json://stranger.example",
    "ntfy_enabled": True,
    "pushover_enabled": True,
    "proxy_url": "http://stranger.example:3128",
    "allow_self_signed_certificates": True,
}
# A new integration, and one that the account has at another address.
INTEGRATIONS: Final[Mapping[str, Any]] = {
    "webhook": {"enabled": True, "url": FOREIGN},
    "linkding": {"enabled": True, "url": FOREIGN, "token": "theirs"},
}
# What an attacker may send instead of the names of parts; none of these names a part.
APPLY: Final = ("", "security", "ALL", "everything", "none,all", "settings\0", "*", "true")
NESTED: Final = ("settings.json", "integrations.json", "manifest.json", "feeds.jsonl", "categories.jsonl")
_DEPTHS: Final = (200, 950, 5_000, 200_000)


def run(testbed: Testbed) -> Iterator[Result]:
    for apply in testbed.choose(APPLY, 2):
        yield from _by_api(testbed, apply)
    yield from _on_the_page(testbed)
    yield from _security_with_all(testbed)
    yield from _nested(testbed)


def _by_api(testbed: Testbed, apply: str) -> Iterator[Result]:
    user = _protected(testbed)
    query = urlencode({"apply": apply})
    answer = user.api("POST", f"/v1/import/archive?{query}", _archive(SETTINGS, FEED_SETTINGS, INTEGRATIONS))
    if answer.status == 202:
        _wait(user)
    for name, evidence in _taken_over(user).items():
        yield Result(Attempt(f"apply={apply!r}: {name}", "the archive of a stranger by the API", TAKEN_OVER), evidence)


def _on_the_page(testbed: Testbed) -> Iterator[Result]:
    """Upload on the page without an answer, with another one's question, and with an answer that ticks nothing."""
    user, other = _protected(testbed), _protected(testbed)
    for one in (user, other):
        one.sign_in()
    _upload(user)
    attempt = Attempt("page: no answer", "an upload that nobody has answered", TAKEN_OVER)
    yield Result(attempt, "; ".join(filter(None, _taken_over(user).values())))
    started_at = re.search(r'name="started_at" value="([0-9]+)"', _page(user))
    asked = {"started_at": started_at[1] if started_at else "0"}
    _answer(other, asked | {"scripts": "1", "rules": "1", "integrations": "1"})
    attempt = Attempt("page: the answer of another user", "the question of another account", TAKEN_OVER)
    yield Result(attempt, "; ".join(filter(None, [*_taken_over(user).values(), *_taken_over(other).values()])))
    _answer(user, asked)
    for name, evidence in _taken_over(user).items():
        yield Result(Attempt(f"page, nothing ticked: {name}", "the archive of a stranger", TAKEN_OVER), evidence)


def _security_with_all(testbed: Testbed) -> Iterator[Result]:
    """Ask for everything: what protects the account stays."""
    user = _protected(testbed)
    user.made("POST", "/v1/import/archive?apply=all", _archive(SETTINGS, FEED_SETTINGS, {}))
    _wait(user)
    found = _taken_over(user)
    for name in (*PROTECTED, "feed: allow_self_signed_certificates"):
        yield Result(Attempt(f"apply='all': {name}", "everything of an archive", TAKEN_OVER), found[name])


def _nested(testbed: Testbed) -> Iterator[Result]:
    user = person(testbed.shared)
    for name in testbed.choose(NESTED, 2):
        for depth in testbed.choose(_DEPTHS, 2):
            deep = '{"format":"tidings-archive","version":1,"number":1,"title":"a","settings":' + "[" * depth
            content = _archive({}, {}, {}, **{name: deep + "]" * depth + "}"})
            user.api("POST", "/v1/import/archive", content)
            state = _wait(user)
            said = state["error_message"]
            through = state["state"] not in ("done", "failed") or "went wrong" in said
            attempt = Attempt(f"{name} nested {depth} deep", "members that are nested without end", UNCLEAR)
            yield Result(attempt, f"{state['state']}: {said}" if through else "")


def _protected(testbed: Testbed) -> Person:
    """Return a user who protects the account, and whose linkding is at an address of their own."""
    user = person(testbed.shared)
    user.made("PUT", f"/v1/users/{user.id}", dict(PROTECTED))
    own = {"enabled": True, "url": "https://links.example.org/", "token": "mine"}
    user.made("PUT", "/v1/integrations", {"linkding": own})
    return user


def _taken_over(user: Person) -> dict[str, str]:
    """Return by setting what of the stranger is in the account, "" where nothing is."""
    me, feeds = user.made("GET", "/v1/me"), user.made("GET", "/v1/feeds")
    integrations = user.made("GET", "/v1/integrations")
    found = {name: repr(value) if me[name] == value else "" for name, value in SETTINGS.items()}
    for name, value in FEED_SETTINGS.items():
        of_feeds = [feed[name] for feed in feeds if feed.get(name) == value]
        found[f"feed: {name}"] = repr(of_feeds) if of_feeds else ""
    for name in INTEGRATIONS:
        stored = integrations[name]
        is_on = stored["enabled"] and stored["url"] == FOREIGN
        found[f"integration: {name}"] = repr(stored) if is_on else ""
    found["the integration that was there"] = "" if integrations["linkding"]["enabled"] else "switched off"
    return found


def _upload(user: Person) -> None:
    boundary = f"border{secrets.token_hex(8)}"
    parts = {"csrf": _token(user), "source": "tidings"}
    body = b"".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in parts.items()
    )
    body += (
        f'--{boundary}\r\nContent-Disposition: form-data; name="archive"; filename="a.zip"\r\n'
        "Content-Type: application/zip\r\n\r\n"
    ).encode()
    body += _archive(SETTINGS, FEED_SETTINGS, INTEGRATIONS) + f"\r\n--{boundary}--\r\n".encode()
    user.post("/feeds/import/archive", body, f"multipart/form-data; boundary={boundary}")
    _wait(user)


def _answer(user: Person, fields: Mapping[str, str]) -> None:
    user.post("/feeds/import/answer", urlencode({"csrf": _token(user), **fields}).encode())
    if user.api("GET", "/v1/import/archive").status == 200:
        _wait(user)


def _page(user: Person) -> str:
    return user.get("/feeds/import").text


def _token(user: Person) -> str:
    return next(form.values["csrf"] for form in pages.forms(_page(user)) if "csrf" in form.values)


def _wait(user: Person) -> dict[str, Any]:
    """Return the state of the import once it does not run any more."""
    state: dict[str, Any] = {}
    for _ in range(600):
        state = user.made("GET", "/v1/import/archive")
        if state["state"] not in ("waiting", "running"):
            break
        time.sleep(0.1)
    return state


def _archive(
    settings: Mapping[str, Any], feed_settings: Mapping[str, Any], integrations: Mapping[str, Any], **members: str
) -> bytes:
    """Return an archive with one feed. members: the content of some members instead, by name."""
    feed = {"number": 1, "category": "a", "feed_url": "https://feeds.example.org/", "settings": dict(feed_settings)}
    lines: dict[str, list[Any]] = {"categories.jsonl": [{"title": "a"}], "feeds.jsonl": [feed]}
    lines |= {name: [] for name in ("labels.jsonl", "entries.jsonl", "deleted_entries.jsonl")}
    manifest = {
        "format": "tidings-archive", "version": 1, "application": "Tidings", "created_at": "2026-01-01T00:00:00Z",
        "username": "stranger", "has_secrets": True, "counts": {name: len(of) for name, of in lines.items()},
    }  # fmt: skip
    content = {name: "".join(json.dumps(line) + "\n" for line in of) for name, of in lines.items()}
    content |= {"settings.json": json.dumps(settings), "integrations.json": json.dumps(integrations)}
    content |= {"manifest.json": json.dumps(manifest)}
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as target:
        for name, text in {**content, **members}.items():
            target.writestr(name, text)
    return written.getvalue()
