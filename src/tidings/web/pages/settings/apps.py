"""Connect an app: choose it, and see the address, the name and the password to enter, as text and as QR codes."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from msgspec import Struct

from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.domain.accounts.api_keys import description_key
from tidings.domain.accounts.api_passwords import name_key
from tidings.domain.accounts.rights import KeyScope, Rights
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.storage.accounts import api_keys
from tidings.web.context import PageResponse, RequestContext
from tidings.web.language import _
from tidings.web.pages.settings.client_apps import APPS, BY_SLUG, OTHERS, ClientApi, ClientApp
from tidings.web.qr_codes import qr_code

routes = Routes()

PATH = "/settings/apps"
# Shown in a configuration file until there is a password.
_PLACEHOLDER = "…"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class NewSecret(Struct, frozen=True):
    """A password or a key that was just created."""

    name: str
    """Its name in the list of passwords or keys."""
    text: str

    def __repr__(self) -> str:
        return f"NewSecret({self.name!r})"


@routes.get(PATH)
def show_apps() -> PageResponse:
    return PageResponse("settings/apps.html", {"title": _("Connect an app"), "apps": APPS, "others": OTHERS})


@routes.get(PATH + "/{app}")
def show_app(context: RequestContext, app: str) -> PageResponse:
    return _page(context, _app(app))


@routes.post(PATH + "/{app}")
def make_secret(context: RequestContext, services: Services, app: str) -> PageResponse:
    """Make a password, or a key, for an app. It is shown on this page only, so there is no redirect."""
    chosen = _app(app)
    try:
        created = (
            _new_key(context, services, chosen) if _takes_key(chosen) else _new_password(context, services, chosen)
        )
    except InvalidInput as error:
        return _page(context, chosen, problem=error)
    return _page(context, chosen, created)


def _app(slug: str) -> ClientApp:
    if slug not in BY_SLUG:
        raise NotFound(msg("There is no app {name} in the list.", name=repr(slug[:60])))
    return BY_SLUG[slug]


def _takes_key(app: ClientApp) -> bool:
    return app.api is ClientApi.MINIFLUX


def _new_key(context: RequestContext, services: Services, app: ClientApp) -> NewSecret:
    with services.reading() as db:
        taken = {description_key(one.description) for one in api_keys.list_all(db, context.caller.id)}
    created = services.accounts.api_keys.create(
        context.caller,
        _free_name(app.name, taken),
        context.origin,
        rights=Rights(KeyScope.MANAGE),
        is_token_kept=False,
        needs_icon_object=app.needs_icon_object,
    )
    assert created.token is not None
    return NewSecret(created.description, created.token)


def _new_password(context: RequestContext, services: Services, app: ClientApp) -> NewSecret:
    taken = {name_key(one.name) for one in services.accounts.api_passwords.list_all(context.caller.id)}
    created = services.accounts.api_passwords.create(context.caller, _free_name(app.name, taken), context.origin)
    return NewSecret(created.stored.name, created.password)


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return the name of the app, with a number if there is one of that name. taken: keys of names."""
    names = [name, *(f"{name} {number}" for number in range(2, len(taken) + 3))]
    return next(one for one in names if description_key(one) not in taken)


def _page(
    context: RequestContext, app: ClientApp, secret: NewSecret | None = None, *, problem: InvalidInput | None = None
) -> PageResponse:
    base_url, username = context.site.base_url, context.caller.username
    address = app.address(base_url)
    known = {
        "title": _("Connect %(app)s", app=app.name),
        "app": app,
        "takes_key": _takes_key(app),
        "is_fever": app.api is ClientApi.FEVER,
        "address": address,
        "config": app.fill_config(base_url, username, secret.text if secret else _PLACEHOLDER),
        "made": secret,
        "address_code": qr_code(address),
        "secret_code": qr_code(secret.text) if secret else "",
        "is_local": urlsplit(base_url).hostname in _LOOPBACK,
    }
    return PageResponse(
        "settings/app.html", known, status=400 if problem else 200, problem=problem, has_secret=secret is not None
    )
