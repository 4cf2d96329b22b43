"""The pages as a surface: sessions, forms, templates.

    route ─► origin ─► session ─► body ─► token of the form ─► handler ─► template
    404/405   403      sign in                  403

`tidings.http.surface` runs these steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from starlette.responses import HTMLResponse, PlainTextResponse, Response

from tidings.base.errors import Forbidden, InvalidInput, TidingsError
from tidings.base.messages import msg
from tidings.base.times import SECOND
from tidings.domain.accounts.events import Method, Origin
from tidings.domain.accounts.sessions import SESSION_LIFETIME
from tidings.domain.accounts.users import User
from tidings.http import binding, forms
from tidings.http.binding import Call
from tidings.http.endpoints import Endpoint
from tidings.http.password_gate import PasswordGate
from tidings.http.requests import Network, Request
from tidings.http.responses import empty, json
from tidings.http.surface import BUSY, BUSY_RETRY_AFTER_S, Surface
from tidings.media.policy import MediaKind
from tidings.media.proxy import MediaProxy
from tidings.services import Services
from tidings.services.accounts.grants import Grant
from tidings.services.accounts.sessions import SignedIn
from tidings.sign_in.proxy import ProxySignIn, is_of_proxy
from tidings.web import cookies, security
from tidings.web.assets import Assets
from tidings.web.context import PageResponse, Redirect, RequestContext, SignInRequired, SiteConfig
from tidings.web.error_pages import error_page
from tidings.web.language import _, use_language
from tidings.web.pages.pwa import HEADER, copies_name
from tidings.web.rendering import Renderer
from tidings.web.settings_menu import MenuItem
from tidings.web.sign_in_session import SIGN_IN, begin_session, form_field, page_of, sign_in_path

# Enough for a form. Endpoints that accept files set their own limit.
SMALL_BODY = 2**20

_BROKEN = "Something went wrong on our side; the log of the server has the details."
# Pages belong to one user: no shared cache may store them, and browsers revalidate them each time, except when the user
# goes back.
_PRIVATE = {"Cache-Control": "private, no-cache"}
# Pages with a secret, and all pages on a shared device.
_NOT_STORED = {"Cache-Control": "no-store"}


class Pages(Surface[RequestContext]):
    """The surface that serves the pages.

    templates: folders of the slices, by the first part of the names of their templates.
    trusted: proxies whose X-Forwarded-For header is used. proxy_sign_in: for a proxy that signs users in.
    """

    body_limit = SMALL_BODY
    compressed = "text/"

    def __init__(
        self,
        services: Services,
        slices: Mapping[type, object],
        endpoints: Iterable[Endpoint],
        site: SiteConfig,
        assets: Assets,
        *,
        templates: Mapping[str, Path],
        settings_menu: Sequence[MenuItem],
        media_proxy: MediaProxy,
        proxy_sign_in: ProxySignIn | None = None,
        gate: PasswordGate,
        max_concurrency: int,
        trusted: Sequence[Network] = (),
    ) -> None:
        sources = {
            RequestContext: lambda call: call.context,
            User: lambda call: call.context.caller,
            Origin: lambda call: call.context.origin,
            Grant: lambda call: call.context.grant,
            Services: lambda _call: services,
            Assets: lambda _call: assets,
            PasswordGate: lambda _call: gate,
            **binding.constants(slices),
        }
        super().__init__(endpoints, sources, name="pages", max_concurrency=max_concurrency)
        self._services = services
        self._media_proxy = media_proxy
        self._site = site
        self._trusted = trusted
        self._proxy_sign_in = proxy_sign_in
        self._renderer = Renderer(assets, site.base_path, folders=templates, settings_menu=settings_menu)
        self._release = assets.fingerprint

    def identify(self, request: Request, endpoint: Endpoint | None) -> RequestContext:
        token = self._site.cookie(request, cookies.SESSION)
        signed_in = self._services.accounts.sessions.recognise(token) if token else None
        context = self._context(request, signed_in, request.address(self._trusted))
        if signed_in and signed_in.is_renewed:
            # On a shared device the cookie ends with the browser.
            lasts_s = None if context.cookie(cookies.SHARED) else SESSION_LIFETIME // SECOND
            context.set_cookie(cookies.SESSION, token, lasts_s=lasts_s)
        if self._proxy_sign_in is not None and endpoint is not None:
            return self._identified_by_proxy(self._proxy_sign_in, context, endpoint)
        return context

    def _identified_by_proxy(self, proxy: ProxySignIn, context: RequestContext, endpoint: Endpoint) -> RequestContext:
        """Return the context of the user whom the proxy names. It decides, whoever was signed in. Raises Forbidden."""
        name, signed_in = proxy.name_in(context.request), context.signed_in
        if not name:
            is_without = signed_in is not None and is_of_proxy(signed_in.session)
            return self._context(context.request, None, context.address) if is_without else context
        # What is public does not need a session, and may be requested by what keeps no cookies.
        if (signed_in and proxy.names(name, signed_in.user)) or (endpoint.is_public and endpoint.path != SIGN_IN):
            return context
        redirect = begin_session(context, proxy.user(name, context.origin), Method.PROXY, next_path=page_of(context))
        if cookies.SESSION not in context.new_cookies:
            context.signed_in, context.second_step = None, redirect
            return context
        token = context.new_cookies[cookies.SESSION].value
        identified = self._context(context.request, self._services.accounts.sessions.recognise(token), context.address)
        identified.new_cookies = context.new_cookies
        identified.csrf = security.csrf_token(token)
        return identified

    def limit(self, call: Call[RequestContext]) -> int:
        """Return how many bytes of the body are read.

        0 for a form that is refused anyway; more than SMALL_BODY only for signed-in users.
        """
        if self._form_error(call) is not None:
            return 0
        return SMALL_BODY if call.context.signed_in is None else super().limit(call)

    def uploader(self, call: Call[RequestContext]) -> int:
        """Return 0, so that nothing is received, for forms that are refused anyway."""
        return 0 if self._form_error(call) or call.context.signed_in is None else call.context.caller.id

    def check_request(self, call: Call[RequestContext]) -> None:
        context, endpoint = call.context, call.endpoint
        if context.signed_in is None and not endpoint.is_public:
            raise SignInRequired(context.second_step or _to_sign_in(context))
        if endpoint.admin and not context.caller.is_admin:
            raise Forbidden(msg("Only an administrator may see this."))
        if endpoint.method == "POST":
            if form_error := self._form_error(call) or call.request.body_error:
                raise form_error
            if not context.accepts_token(form_field(context, security.TOKEN_FIELD)):
                raise Forbidden(msg("This form is too old. Nothing was changed: open the page again, then repeat."))

    def refuse(self, request: Request) -> Response:  # noqa: ARG002
        # In English, since looking up the user's language would have to wait as well.
        return PlainTextResponse(BUSY, 503, {"Retry-After": str(BUSY_RETRY_AFTER_S)})

    def handling_context(self, context: RequestContext) -> AbstractContextManager[None]:
        return use_language(context.language)

    def render(self, call: Call[RequestContext], result: Any) -> Response:
        return self._response(call.context, result)

    def render_error(self, error: Exception, request: Request, context: RequestContext | None) -> Response:
        context = context or self._context(request, None, "")
        with use_language(context.language):
            result = error.redirect if isinstance(error, SignInRequired) else error_page(error, context)
            try:
                return self._response(context, result)
            except Exception as broken:  # noqa: BLE001 - the template itself has failed, and the error template may fail too
                error_page(broken, context)
                return PlainTextResponse(_BROKEN, 500)

    def _context(self, request: Request, signed_in: SignedIn | None, address: str) -> RequestContext:
        return RequestContext(request, self._services, self._site, signed_in, address, media_proxy=self._media_proxy)

    def _form_error(self, call: Call[RequestContext]) -> TidingsError | None:
        """Return why a form is refused before its body is read, or None."""
        if security.is_cross_site(call.request, self._site.base_url):
            return Forbidden(msg("This form was sent from another site. Nothing was changed."))
        if forms.kind_of(call.request) == forms.MULTIPART and not (
            call.endpoint.accepts_files or call.endpoint.accepts_upload
        ):
            return InvalidInput(msg("This form takes no files: send it as application/x-www-form-urlencoded."))
        return None

    def _response(self, context: RequestContext, result: PageResponse | Redirect | Response) -> Response:
        if isinstance(result, Redirect):
            response = _redirected(context, result)
        elif isinstance(result, PageResponse):
            response = self._page(context, result)
        else:
            response = result
        for cookie in context.new_cookies.values():
            cookie.add_to(response, self._site.base_path, is_secure=self._site.is_secure)
        return response

    def _page(self, context: RequestContext, page: PageResponse) -> Response:
        hosts = context.user.external_font_hosts if context.user else ""
        body = self._renderer.html(page, context)
        policy = context.media_policy
        own = policy.covers_all(MediaKind.IMAGE)
        sounds = policy.covers_all(MediaKind.AUDIO) and policy.covers_all(MediaKind.VIDEO)
        headers = {
            **security.page_headers(
                hosts, self._site.player_hosts, own_pictures=own, own_sounds=sounds, own_frames=page.frames_own
            ),
            **(_NOT_STORED if page.has_secret or context.cookie(cookies.SHARED) else _PRIVATE),
            HEADER: copies_name(context, self._release),
            **page.headers,
        }
        return HTMLResponse(body, page.status, headers)


def _redirected(context: RequestContext, redirect: Redirect) -> Response:
    if context.wants_json:
        fields = {
            "to": context.url(redirect.path),
            "notice": redirect.notice,
            "undo": str(redirect.undo or ""),
            "entries": redirect.entries,
        }
        return json(fields, headers={**_PRIVATE, **redirect.headers})
    if context.wants_events:
        # It would follow the redirect and complain of a page. This ends the stream (HTML Standard, section 9.2.3).
        return empty(204, _PRIVATE)
    if redirect.notice and redirect.undo:
        context.set_cookie(cookies.UNDO, str(redirect.undo), lasts_s=60)
    if redirect.notice:
        context.set_cookie(cookies.NOTICE, cookies.pack(redirect.notice), lasts_s=60)
    return empty(303, {"Location": context.url(redirect.path), **_PRIVATE, **redirect.headers})


def _to_sign_in(context: RequestContext) -> Redirect:
    """Return the redirect to the sign-in page. It leads back to this page, or to the page that contains the form."""
    notice = _("Your session has ended: sign in and try again.") if context.request.method == "POST" else ""
    return Redirect(sign_in_path(page_of(context)), notice=notice)
