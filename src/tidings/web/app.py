"""The pages, as an ASGI application below the base path (`root_path`).

    static file ─► route ─► session ─► body ─► origin and token of the form ─► handler ─► template
                   404/405  sign in                      403

Everything a plain handler does, the session and the template included, happens in one trip to a thread.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec
import structlog

from tidings import metrics
from tidings.domain.errors import Forbidden, InvalidInput, TidingsError
from tidings.domain.sessions import LASTS
from tidings.domain.times import SECOND
from tidings.http import forms
from tidings.http.compression import compressed
from tidings.http.replies import Reply, Send, respond, text
from tidings.http.requests import Network, Receive, Request
from tidings.http.routes import Match, Table
from tidings.services import Services
from tidings.web import cookies, security
from tidings.web.assets import PREFIX, Assets
from tidings.web.calling import arguments
from tidings.web.failures import page_of, went_wrong
from tidings.web.language import _, speaking
from tidings.web.rendering import Renderer
from tidings.web.routes import SMALL_BODY, Route
from tidings.web.visits import Home, Page, Redirect, Visit

log = structlog.get_logger()

R = TypeVar("R")
Result = Page | Redirect | Reply

HTML = "text/html; charset=utf-8"
_BROKEN = "Something went wrong on our side; the log of the server has the details."
# Somebody's own: not for a cache that others share, and asked for again each time.
_PRIVATE = (("Cache-Control", "private, no-cache"),)


class Pages:
    """trusted: proxies whose X-Forwarded-For is believed."""

    def __init__(
        self,
        services: Services,
        routes: Iterable[Route],
        home: Home,
        *,
        threads: int,
        trusted: Sequence[Network] = (),
    ) -> None:
        self._services = services
        self._table = Table(routes)
        self._home = home
        self._trusted = trusted
        self._assets = Assets()
        self._renderer = Renderer(self._assets, home.base_path)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="pages")

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request = Request(scope, scope["path"])
        reply = self._assets.answer(request) if request.path.startswith(PREFIX) else None
        if reply is None:
            reply = await self._answer(request, receive)
        await respond(send, reply, head=request.method == "HEAD")
        metrics.requested(request.route, request.method, reply.status, time.perf_counter() - started)

    async def _answer(self, request: Request, receive: Receive) -> Reply:
        match = self._table.find(request.method, request.path)
        if match is not None and match.route is not None:
            request.route = match.route.path
            if request.method == "POST":
                await self._read_body(request, receive, match.route)
            if inspect.iscoroutinefunction(match.route.handler):
                return await self._answer_slowly(request, match)
        return await self._in_thread(self._answer_at_once, request, match)

    async def _read_body(self, request: Request, receive: Receive, route: Route) -> None:
        """Only who is signed in may send more than a form has. What is too long is noted, and refused later."""
        limit = route.body_limit
        if limit > SMALL_BODY and await self._in_thread(self._is_stranger, request):
            limit = SMALL_BODY
        try:
            await request.read_body(receive, limit)
        except TidingsError as error:
            request.complaint = error

    def _is_stranger(self, request: Request) -> bool:
        try:
            return self._visit(request).signed_in is None
        except TidingsError:
            return True

    def _answer_at_once(self, request: Request, match: Match[Route] | None) -> Reply:
        visit, result = self._begin(request, match)
        with speaking(visit.language):
            if result is None:
                assert match is not None
                assert match.route is not None
                result = _guarded(visit, lambda: _call(match.route, visit, match.arguments))
            return self._finish(visit, result)

    async def _answer_slowly(self, request: Request, match: Match[Route]) -> Reply:
        """For handlers that talk to the outside: they wait in the event loop."""
        visit, result = await self._in_thread(self._begin, request, match)
        with speaking(visit.language):
            if result is None:
                assert match.route is not None
                try:
                    result = await match.route.handler(**arguments(match.route.handler, visit, match.arguments))
                except Exception as error:  # noqa: BLE001 - each becomes a page
                    result = page_of(error, visit)
        return await self._in_thread(self._finish, visit, result)

    def _begin(self, request: Request, match: Match[Route] | None) -> tuple[Visit, Result | None]:
        """Who it is, and an answer when the handler is not to be asked."""
        try:
            visit = self._visit(request)
        except Exception as error:  # noqa: BLE001
            visit = Visit(request, self._services, self._home, None, "")
            with speaking(visit.language):
                return visit, page_of(error, visit)
        with speaking(visit.language):
            return visit, _guarded(visit, lambda: self._refusal(visit, match))

    def _visit(self, request: Request) -> Visit:
        token = self._home.cookie(request, cookies.SESSION)
        signed_in = self._services.sessions.recognise(token) if token else None
        visit = Visit(request, self._services, self._home, signed_in, request.address(self._trusted))
        if signed_in and signed_in.is_renewed:
            visit.set_cookie(cookies.SESSION, token, lasts_s=LASTS // SECOND)
        return visit

    def _refusal(self, visit: Visit, match: Match[Route] | None) -> Result | None:
        request = visit.request
        if match is None:
            return went_wrong(404)
        if match.route is None:
            allowed = ", ".join(match.allowed)
            return self._reply(visit, went_wrong(405), (("Allow", allowed),))
        if visit.signed_in is None and not match.route.is_open:
            return _to_sign_in(visit)
        if match.route.admin and not visit.caller.is_admin:
            raise Forbidden(_("Only an administrator may see this."))
        if request.complaint is not None:
            raise request.complaint
        if request.method == "POST":
            _ensure_ours(visit)
        return None

    def _finish(self, visit: Visit, result: Result) -> Reply:
        with speaking(visit.language):
            reply = _guarded(visit, lambda: self._reply(visit, result))
            if not isinstance(reply, Reply):
                # The template itself has failed; so may the one that would tell.
                reply = _guarded(visit, lambda: self._reply(visit, reply))
        if not isinstance(reply, Reply):
            reply = text(_BROKEN, 500)
        return _squeezed(visit.request, _with_cookies(visit, reply))

    def _reply(self, visit: Visit, result: Result, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
        if isinstance(result, Reply):
            return result
        if isinstance(result, Redirect):
            if visit.wants_json:
                told = {"to": visit.url(result.path), "notice": result.notice, "undo": str(result.undo or "")}
                return Reply(200, msgspec.json.encode(told), headers=_PRIVATE)
            if result.notice and result.undo:
                visit.set_cookie(cookies.UNDO, str(result.undo), lasts_s=60)
            if result.notice:
                visit.set_cookie(cookies.NOTICE, cookies.pack(result.notice), lasts_s=60)
            return Reply(303, headers=(("Location", visit.url(result.path)), *_PRIVATE))
        hosts = visit.user.external_font_hosts if visit.user else ""
        body = self._renderer.html(result, visit)
        return Reply(
            result.status,
            body,
            HTML,
            (*security.page_headers(hosts, self._home.player_hosts), *_PRIVATE, *result.headers, *headers),
        )

    async def _in_thread(self, function: Callable[..., R], *given: Any) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *given)


def _guarded(visit: Visit, ask: Callable[[], R]) -> R | Page:
    try:
        return ask()
    except Exception as error:  # noqa: BLE001 - each becomes a page
        return page_of(error, visit)


def _call(route: Route | None, visit: Visit, path: dict[str, str]) -> Result:
    assert route is not None
    result: Result = route.handler(**arguments(route.handler, visit, path))
    return result


def _to_sign_in(visit: Visit) -> Redirect:
    """And back to the same place afterwards: of a form, to the page that it stands on."""
    if visit.request.method == "POST":
        return Redirect(_with_next(_field(visit, "back")), notice=_("Your session has ended: sign in and try again."))
    return Redirect(_with_next("" if visit.path == "/" else visit.path))


def _with_next(path: str) -> str:
    from urllib.parse import quote

    path = security.own_path(path)
    return f"/sign-in?next={quote(path, safe='/')}" if path else "/sign-in"


def _ensure_ours(visit: Visit) -> None:
    if security.is_from_elsewhere(visit.request, visit.home.base_url):
        raise Forbidden(_("This form was sent by a page of somebody else. Nothing was changed."))
    if not security.is_genuine(_field(visit, security.TOKEN_FIELD), visit.csrf):
        raise Forbidden(_("This form is too old. Nothing was changed: open the page again, then repeat."))


def _field(visit: Visit, name: str) -> str:
    try:
        return dict(forms.fields(visit.request)).get(name, "")
    except InvalidInput:
        return ""


def _with_cookies(visit: Visit, reply: Reply) -> Reply:
    home = visit.home
    made = [("Set-Cookie", one.header(home.base_path, is_secure=home.is_secure)) for one in visit.new_cookies.values()]
    return Reply(reply.status, reply.body, reply.content_type, (*reply.headers, *made))


def _squeezed(request: Request, reply: Reply) -> Reply:
    accepted = request.headers.get("accept-encoding", "")
    if len(reply.body) <= 1024 or not accepted or not reply.content_type.startswith("text/"):
        return reply
    return compressed(reply, accepted)
