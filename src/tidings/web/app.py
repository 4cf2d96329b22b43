"""The pages as a surface: sessions, forms, templates.

    route ─► origin ─► session ─► body ─► token of the form ─► handler ─► template
    404/405   403      sign in                  403

How a request gets from one to the next stands in `tidings.http.surface`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import quote

from starlette.responses import HTMLResponse, PlainTextResponse, Response

from tidings.domain.accounts.sessions import SESSION_LIFETIME
from tidings.domain.accounts.users import User
from tidings.domain.errors import Forbidden, InvalidInput, TidingsError
from tidings.domain.messages import msg
from tidings.domain.times import SECOND
from tidings.http import forms
from tidings.http.binding import Call
from tidings.http.endpoints import Endpoint
from tidings.http.requests import Network, Request
from tidings.http.responses import empty, json
from tidings.http.surface import Surface
from tidings.services import Services
from tidings.web import cookies, security
from tidings.web.assets import Assets
from tidings.web.context import PageResponse, Redirect, RequestContext, SiteConfig
from tidings.web.error_pages import page_of
from tidings.web.language import _, speaking
from tidings.web.rendering import Renderer

# Enough for a form; a page that takes files says how much.
SMALL_BODY = 2**20

_BROKEN = "Something went wrong on our side; the log of the server has the details."
# Of one user: not for a cache that others share, and asked for again each time.
_PRIVATE = {"Cache-Control": "private, no-cache"}


class SignInRequired(Exception):
    """redirect: to the sign-in page, and from there back."""

    def __init__(self, redirect: Redirect) -> None:
        super().__init__(redirect.path)
        self.redirect = redirect


class Pages(Surface[RequestContext]):
    """trusted: proxies whose X-Forwarded-For is believed."""

    body_limit = SMALL_BODY
    compressed = "text/"

    def __init__(
        self,
        services: Services,
        endpoints: Iterable[Endpoint],
        home: SiteConfig,
        assets: Assets,
        *,
        threads: int,
        trusted: Sequence[Network] = (),
    ) -> None:
        sources = {
            RequestContext: lambda call: call.context,
            User: lambda call: call.context.caller,
            Services: lambda _call: services,
        }
        super().__init__(endpoints, sources, name="pages", threads=threads)
        self._services = services
        self._home = home
        self._trusted = trusted
        self._renderer = Renderer(assets, home.base_path)

    def identify(self, request: Request, endpoint: Endpoint | None) -> RequestContext:  # noqa: ARG002
        token = self._home.cookie(request, cookies.SESSION)
        signed_in = self._services.sessions.recognise(token) if token else None
        visit = RequestContext(request, self._services, self._home, signed_in, request.address(self._trusted))
        if signed_in and signed_in.is_renewed:
            visit.set_cookie(cookies.SESSION, token, lasts_s=SESSION_LIFETIME // SECOND)
        return visit

    def limit(self, call: Call[RequestContext]) -> int:
        """Nothing is read of what is refused anyway, and only who is signed in may send more than a form has."""
        if self._complaint(call) is not None:
            return 0
        return SMALL_BODY if call.context.signed_in is None else super().limit(call)

    def accept(self, call: Call[RequestContext]) -> None:
        visit, endpoint = call.context, call.endpoint
        if visit.signed_in is None and not endpoint.is_open:
            raise SignInRequired(_to_sign_in(visit))
        if endpoint.admin and not visit.caller.is_admin:
            raise Forbidden(msg("Only an administrator may see this."))
        if endpoint.method == "POST":
            if complaint := self._complaint(call) or call.request.body_error:
                raise complaint
            if not security.is_genuine(_field(visit, security.TOKEN_FIELD), visit.csrf):
                raise Forbidden(msg("This form is too old. Nothing was changed: open the page again, then repeat."))

    def within(self, context: RequestContext) -> AbstractContextManager[None]:
        return speaking(context.language)

    def render(self, call: Call[RequestContext], result: Any) -> Response:
        return self._response(call.context, result)

    def render_error(self, error: Exception, request: Request, context: RequestContext | None) -> Response:
        visit = context or RequestContext(request, self._services, self._home, None, "")
        with speaking(visit.language):
            result = error.redirect if isinstance(error, SignInRequired) else page_of(error, visit)
            try:
                return self._response(visit, result)
            except Exception as broken:  # noqa: BLE001 - the template itself has failed; so may the one that would tell
                page_of(broken, visit)
                return PlainTextResponse(_BROKEN, 500)

    def _complaint(self, call: Call[RequestContext]) -> TidingsError | None:
        """What is wrong with a form before its body is read."""
        if security.is_from_elsewhere(call.request, self._home.base_url):
            return Forbidden(msg("This form was sent by a page of somebody else. Nothing was changed."))
        if forms.kind_of(call.request) == forms.MULTIPART and not call.endpoint.takes_files:
            return InvalidInput(msg("This form takes no files: send it as application/x-www-form-urlencoded."))
        return None

    def _response(self, visit: RequestContext, result: PageResponse | Redirect | Response) -> Response:
        if isinstance(result, Redirect):
            response = _redirected(visit, result)
        elif isinstance(result, PageResponse):
            response = self._page(visit, result)
        else:
            response = result
        for cookie in visit.new_cookies.values():
            cookie.add_to(response, self._home.base_path, is_secure=self._home.is_secure)
        return response

    def _page(self, visit: RequestContext, page: PageResponse) -> Response:
        hosts = visit.user.external_font_hosts if visit.user else ""
        body = self._renderer.html(page, visit)
        headers = {**security.page_headers(hosts, self._home.player_hosts), **_PRIVATE, **page.headers}
        return HTMLResponse(body, page.status, headers)


def _redirected(visit: RequestContext, redirect: Redirect) -> Response:
    if visit.wants_json:
        told = {"to": visit.url(redirect.path), "notice": redirect.notice, "undo": str(redirect.undo or "")}
        return json(told, headers=_PRIVATE)
    if redirect.notice and redirect.undo:
        visit.set_cookie(cookies.UNDO, str(redirect.undo), lasts_s=60)
    if redirect.notice:
        visit.set_cookie(cookies.NOTICE, cookies.pack(redirect.notice), lasts_s=60)
    return empty(303, {"Location": visit.url(redirect.path), **_PRIVATE})


def _to_sign_in(visit: RequestContext) -> Redirect:
    """And back to the same place afterwards: of a form, to the page that it stands on."""
    if visit.request.method == "POST":
        return Redirect(_with_next(_field(visit, "back")), notice=_("Your session has ended: sign in and try again."))
    return Redirect(_with_next("" if visit.path == "/" else visit.path))


def _with_next(path: str) -> str:
    path = security.own_path(path)
    return f"/sign-in?next={quote(path, safe='/')}" if path else "/sign-in"


def _field(visit: RequestContext, name: str) -> str:
    try:
        return dict(forms.fields(visit.request)).get(name, "")
    except InvalidInput:
        return ""
