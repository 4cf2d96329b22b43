"""The context of one request of a browser, signed in or not, and the values that page handlers return."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.times import Instant
from tidings.domain.accounts.events import Method, Origin
from tidings.domain.accounts.users import User, with_page_defaults
from tidings.http.event_stream import EVENT_STREAM
from tidings.http.requests import Request
from tidings.media.policy import MediaKind, MediaPolicy
from tidings.media.proxy import MediaProxy
from tidings.services import Services
from tidings.services.accounts.grants import Grant
from tidings.services.accounts.sessions import SignedIn
from tidings.web import cookies, security
from tidings.web.cookies import Cookie
from tidings.web.devices import Device
from tidings.web.language import Language, _, language_of_account, language_of_header
from tidings.web.sidebar import CategoryOrder, Sidebar, SidebarState


class PageResponse(Struct, frozen=True):
    """A page to render from a template."""

    template: str
    """Path below `templates/`; that of a slice begins with the slice's name."""
    values: dict[str, Any] = {}
    """Added to the values that every page has (`rendering`)."""
    status: int = 200
    problem: InvalidInput | None = None
    """The error of a form; the field macros show it next to the field that it names."""
    headers: dict[str, str] = {}
    frames_own: bool = False
    """Whether the page shows another page of ours in a frame."""
    has_secret: bool = False
    """Browsers do not store the page, so their Back button does not show it either."""


class Redirect(Struct, frozen=True):
    """A redirect to one of our pages."""

    path: str
    """Below the base path, with query and fragment."""
    notice: str = ""
    """A message that the next page shows."""
    undo: int = 0
    """The moment to give to `services.entries.read_marker.undo`, for the undo button next to the notice; 0 for none."""
    entries: tuple[int, ...] = ()
    """Which of the entries that a script has named have changed."""
    headers: dict[str, str] = {}


class SignInRequired(Exception):
    """The page needs a session, or the user has to prove again who they are.

    redirect: leads to the sign-in page, which leads back to this page afterwards.
    """

    def __init__(self, redirect: Redirect) -> None:
        super().__init__(redirect.path)
        self.redirect = redirect


class SiteConfig(Struct, frozen=True):
    """The URLs of the service."""

    base_path: str
    """Empty, or without a slash at its end."""
    base_url: str
    """With scheme and host."""
    is_secure: bool
    player_hosts: frozenset[str] = frozenset()
    """Hosts whose frames entries may show, in addition to the built-in players."""

    def cookie(self, request: Request, name: str) -> str:
        """Return the value of one of our cookies, "" if it was not sent. name: one of the names in `cookies`."""
        return request.cookies.get(cookies.cookie_name(name, self.base_path, is_secure=self.is_secure), "")

    def cookies_like(self, request: Request, name: str) -> dict[str, str]:
        """Return our cookies whose names begin with a name, without the prefix that browsers enforce."""
        prefix = cookies.cookie_name("", self.base_path, is_secure=self.is_secure)
        begin = prefix + name
        return {key.removeprefix(prefix): value for key, value in request.cookies.items() if key.startswith(begin)}


class RequestContext:
    """What handlers and templates need of a request; loaded on use. signed_in: None without a session."""

    def __init__(
        self,
        request: Request,
        services: Services,
        site: SiteConfig,
        signed_in: SignedIn | None,
        address: str,
        *,
        media_proxy: MediaProxy,
    ):
        self.request = request
        self.services = services
        self.media_proxy = media_proxy
        self.site = site
        self.signed_in = signed_in
        self.address = address
        self.now: Instant = services.clock()
        self.device = Device.read(self.cookie(cookies.DEVICE))
        self.new_cookies: dict[str, Cookie] = {}
        # Where a user has to go who has passed the first step of a sign-in, None for the sign-in page.
        self.second_step: Redirect | None = None
        # Whether the page is a copy for reading without a connection.
        self.is_copy = False

    @property
    def caller(self) -> User:
        """The signed-in user. Only for pages that require a session."""
        assert self.user is not None
        return self.user

    @property
    def grant(self) -> Grant:
        """What let the request in."""
        assert self.signed_in is not None
        return Grant(self.signed_in.user.id, session_id=self.signed_in.session.id)

    @cached_property
    def origin(self) -> Origin:
        """Where the request comes from, and how its user signed in."""
        session = self.signed_in.session if self.signed_in else None
        first = session.method.partition("+")[0] if session else ""
        return Origin.of_request(self.address, self.request.user_agent, Method.read(first))

    @cached_property
    def user(self) -> User | None:
        """The signed-in user, with the defaults of pages where nothing was chosen."""
        return with_page_defaults(self.signed_in.user) if self.signed_in else None

    @cached_property
    def media_policy(self) -> MediaPolicy:
        """Which media of articles are loaded through this service."""
        is_wanted = self.user is not None and self.user.proxies_pictures
        return self.media_proxy.policy.with_wish(for_all=is_wanted)

    def media_address(self, url: str, kind: MediaKind) -> str:
        """Return the address from which a page loads a picture, audio or video: the publisher's, or one of ours."""
        if not self.media_policy.applies_to(url, kind, on_https=self.site.is_secure):
            return url
        return self.url(self.media_proxy.path(url, kind))

    def prepare_copy(self) -> None:
        """Make the page readable without a connection: links and pictures lead to this service as far as possible.

        The notice and its undo button stay for the page that the user sees next.
        """
        self.user = msgspec.structs.replace(self.caller, always_open_external_links=False)
        self.media_policy = self.media_proxy.policy.with_wish(for_all=True)
        self.notice = self.undo = ""
        self.is_copy = True

    @cached_property
    def language(self) -> Language:
        if self.user:
            return language_of_account(self.user.language)
        return self.accepted_language

    @property
    def accepted_language(self) -> Language:
        """The language that the browser asks for, whoever is signed in."""
        return language_of_header(self.request.headers.get("accept-language", ""))

    @cached_property
    def csrf(self) -> str:
        """The CSRF token that forms of this page send."""
        if self.signed_in:
            return security.csrf_token(self.cookie(cookies.SESSION))
        for token in self._visitor_cookies.values():
            return security.csrf_token(token)
        token = security.new_token()
        # A script that is led to the sign-in page does not show its form. Over plain http, browsers do not say who
        # asks.
        if self.request.headers.get("sec-fetch-mode", "navigate") == "navigate":
            self.set_cookie(f"{cookies.VISITOR}_{token[:8]}", token)
        return security.csrf_token(token)

    def accepts_token(self, sent: str) -> bool:
        """Return whether a form has a CSRF token of this browser."""
        if self.signed_in:
            return security.is_valid_token(sent, self.csrf)
        return any(security.is_valid_token(sent, security.csrf_token(one)) for one in self._visitor_cookies.values())

    @property
    def _visitor_cookies(self) -> dict[str, str]:
        return self.site.cookies_like(self.request, cookies.VISITOR)

    def forget_visitor(self) -> None:
        """Remove the cookies of the forms of signing in."""
        for name in self._visitor_cookies:
            self.set_cookie(name, "", lasts_s=0)

    @cached_property
    def sidebar(self) -> Sidebar:
        """Lists, feeds and counts, loaded on first use. A handler that changes something must do so before."""
        sidebar = Sidebar(self.services, self.caller, CategoryOrder.read(self.cookie(cookies.ORDER)))
        # Scripts that ask for counts ask whether anyone reads or not.
        if sidebar.order and not self.wants_json:
            self.set_cookie(cookies.ORDER, sidebar.order.packed(), lasts_s=cookies.ORDER_LASTS_S)
        return sidebar

    @cached_property
    def sidebar_state(self) -> SidebarState:
        return SidebarState.read(self.cookie(cookies.SIDEBAR))

    @cached_property
    def notice(self) -> str:
        """The notice that the previous page left; shown once."""
        packed = self.cookie(cookies.NOTICE)
        if packed:
            self.set_cookie(cookies.NOTICE, "", lasts_s=0)
        return cookies.unpack(packed)

    @cached_property
    def undo(self) -> str:
        """The moment that the undo button next to the notice sends; "" when there is none."""
        parameters = self.cookie(cookies.UNDO)
        if parameters:
            self.set_cookie(cookies.UNDO, "", lasts_s=0)
        return parameters if parameters.isascii() and parameters.isdigit() else ""

    @property
    def is_part(self) -> bool:
        """Whether one of our scripts asks only for the part of the page that changes from entry to entry."""
        return "tidings-part" in self.request.headers

    @property
    def wants_json(self) -> bool:
        """Whether one of our scripts sent the request: it gets JSON instead of a redirect."""
        return self.request.headers.get("accept", "") == "application/json"

    @property
    def wants_events(self) -> bool:
        """Whether the request is for a stream of events, as browsers send it."""
        return self.request.headers.get("accept", "") == EVENT_STREAM

    @cached_property
    def path(self) -> str:
        """The path of this page with its query: where forms return to."""
        query = self.request.query_string
        return quote(self.request.path, safe="/:@!$&'()*+,;=~") + (f"?{query}" if query else "")

    def url(self, path: str, /, **query: Any) -> str:
        """Return the URL of one of our pages. Parameters that are None or "" are left out."""
        parameters = {name: value for name, value in query.items() if value not in (None, "")}
        if parameters:
            before, hash_, fragment = path.partition("#")
            path = f"{before}{'&' if '?' in before else '?'}{urlencode(parameters)}{hash_}{fragment}"
        return self.site.base_path + path

    def path_of(self, url: str) -> str:
        """Return the path below the base path of a URL that `url` returned: where forms return to."""
        return url.removeprefix(self.site.base_path)

    def cookie(self, name: str) -> str:
        return self.site.cookie(self.request, name)

    def set_cookie(self, name: str, value: str, *, lasts_s: int | None = None) -> None:
        """Set a cookie with the response. lasts_s: None until the browser is closed, 0 to remove it."""
        self.new_cookies[name] = Cookie(name, value, lasts_s)


def signed_out(context: RequestContext) -> Redirect:
    """Remove the cookies of a session that has ended, and the stored pages, which the Back button would show."""
    context.set_cookie(cookies.SESSION, "", lasts_s=0)
    context.set_cookie(cookies.SHARED, "", lasts_s=0)
    return Redirect("/sign-in", notice=_("You are signed out."), headers={"Clear-Site-Data": '"cache"'})
