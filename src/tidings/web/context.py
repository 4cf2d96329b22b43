"""A visit: one request of a browser, by somebody or nobody, and what its handler gives back."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

from msgspec import Struct

from tidings.domain.accounts.users import User
from tidings.domain.errors import InvalidInput
from tidings.domain.times import Instant
from tidings.http.requests import Request
from tidings.services import Services
from tidings.services.accounts.sessions import SignedIn
from tidings.web import cookies, security
from tidings.web.cookies import Cookie
from tidings.web.devices import Device
from tidings.web.language import Language, of_account, of_header
from tidings.web.sidebar import Sidebar


class PageResponse(Struct, frozen=True):
    """template: below `templates/`. values: what it shows, beside what every page knows (`rendering`).

    problem: what was wrong with a form; the macro for fields shows it beside the field that it names.
    """

    template: str
    values: dict[str, Any] = {}
    status: int = 200
    problem: InvalidInput | None = None
    headers: dict[str, str] = {}


class Redirect(Struct, frozen=True):
    """path: of our own, below the base path, with query and fragment. notice: told on the page that comes next.

    undo: what `services.entries.read_state.undo` asks for; a button beside the notice offers it.
    """

    path: str
    notice: str = ""
    undo: int = 0


class SiteConfig(Struct, frozen=True):
    """Where the service lives. base_path: "" or without a slash at its end. base_url: as people type it.

    player_hosts: whose frames entries may show besides those that are always known.
    """

    base_path: str
    base_url: str
    is_secure: bool
    player_hosts: frozenset[str] = frozenset()

    def cookie(self, request: Request, name: str) -> str:
        """Its value, as `cookies` names it; "" when the browser has none."""
        return request.cookies.get(cookies.known_as(name, self.base_path, is_secure=self.is_secure), "")


class RequestContext:
    """signed_in: None for visitors. The rest of what a page needs of its visitor is found when it is asked for."""

    def __init__(
        self, request: Request, services: Services, home: SiteConfig, signed_in: SignedIn | None, address: str
    ):
        self.request = request
        self.services = services
        self.home = home
        self.signed_in = signed_in
        self.address = address
        self.now: Instant = services.clock()
        self.device = Device.read(self.cookie(cookies.DEVICE))
        self.new_cookies: dict[str, Cookie] = {}

    @property
    def caller(self) -> User:
        """For pages that visitors do not get to see."""
        assert self.signed_in is not None
        return self.signed_in.user

    @property
    def user(self) -> User | None:
        return self.signed_in.user if self.signed_in else None

    @cached_property
    def language(self) -> Language:
        if self.user:
            return of_account(self.user.language)
        return of_header(self.request.headers.get("accept-language", ""))

    @cached_property
    def csrf(self) -> str:
        """The token that every form of this browser has to carry."""
        token = self.cookie(cookies.SESSION if self.signed_in else cookies.VISITOR)
        if not token and not self.signed_in:
            token = security.new_token()
            self.set_cookie(cookies.VISITOR, token)
        return security.csrf_token(token)

    @cached_property
    def sidebar(self) -> Sidebar:
        """Asked for the first time it is told how things are then: after a change, not before."""
        return Sidebar.of(self.services, self.caller)

    @cached_property
    def notice(self) -> str:
        """What the page before had to tell; told once."""
        told = self.cookie(cookies.NOTICE)
        if told:
            self.set_cookie(cookies.NOTICE, "", lasts_s=0)
        return cookies.unpack(told)

    @cached_property
    def undo(self) -> str:
        """The moment that the button beside the notice undoes; "" when there is none."""
        given = self.cookie(cookies.UNDO)
        if given:
            self.set_cookie(cookies.UNDO, "", lasts_s=0)
        return given if given.isascii() and given.isdigit() else ""

    @property
    def is_part(self) -> bool:
        """A script of ours asks for what changes from entry to entry, without what stands around it."""
        return "tidings-part" in self.request.headers

    @property
    def wants_json(self) -> bool:
        """A script of ours asks: it does not go where forms lead."""
        return self.request.headers.get("accept", "") == "application/json"

    @cached_property
    def path(self) -> str:
        """Of this page, with its query: where a form comes back to."""
        query = self.request.query_string
        return quote(self.request.path, safe="/:@!$&'()*+,;=~") + (f"?{query}" if query else "")

    def url(self, path: str, /, **query: Any) -> str:
        """The address of a page of ours; parameters that are None or "" are left out."""
        given = {name: value for name, value in query.items() if value not in (None, "")}
        if given:
            before, hash_, fragment = path.partition("#")
            path = f"{before}{'&' if '?' in before else '?'}{urlencode(given)}{hash_}{fragment}"
        return self.home.base_path + path

    def own(self, url: str) -> str:
        """The path below the base path of an address that `url` gave: for forms to come back to."""
        return url.removeprefix(self.home.base_path)

    def cookie(self, name: str) -> str:
        return self.home.cookie(self.request, name)

    def set_cookie(self, name: str, value: str, *, lasts_s: int | None = None) -> None:
        """lasts_s: None as long as the browser is open, 0 to remove it."""
        self.new_cookies[name] = Cookie(name, value, lasts_s)
