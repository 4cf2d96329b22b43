"""The page of API keys: create, show once, delete."""

from __future__ import annotations

from tidings.base.errors import InvalidInput
from tidings.base.times import Instant, to_local, zone_info
from tidings.domain.accounts.api_keys import parse_expiry, parse_scope
from tidings.domain.accounts.events import Origin
from tidings.domain.accounts.rights import KeyScope, Rights
from tidings.domain.accounts.users import User
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.storage.accounts import api_keys
from tidings.storage.accounts.api_keys import ApiKey
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import N_, _

routes = Routes()

PATH = "/settings/api-keys"


# What a key with a scope may do, as the list and the form say it.
SCOPES = {
    KeyScope.READ: N_("Read"),
    KeyScope.WRITE: N_("Read, mark and label entries"),
    KeyScope.MANAGE: N_("Everything except accounts"),
    KeyScope.ADMIN: N_("Everything, accounts too"),
}


class ApiKeyForm(Form, frozen=True):
    description: str = ""
    scope: str = KeyScope.MANAGE
    expires_at: str = ""
    """A date, the last on which the key works; empty for no end."""


@routes.get(PATH)
def show_api_keys(context: RequestContext) -> PageResponse:
    return _page(context)


@routes.post(PATH)
def create_api_key(context: RequestContext, services: Services, form: ApiKeyForm) -> PageResponse:
    """Create a key. It is shown on this page only, so there is no redirect."""
    try:
        created = services.accounts.api_keys.create(
            context.caller, form.description, context.origin, rights=_rights(context, form), is_token_kept=False
        )
    except InvalidInput as error:
        return _page(context, form, problem=field_error(error))
    return _page(context, new_key=created)


@routes.post(PATH + "/{key_id}/delete")
def delete_api_key(caller: User, services: Services, origin: Origin, key_id: int) -> Redirect:
    services.accounts.api_keys.delete(caller, key_id, origin)
    return Redirect(PATH, notice=_("Key deleted: it no longer works."))


def _rights(context: RequestContext, form: ApiKeyForm) -> Rights:
    text = form.expires_at.strip()
    ends = parse_expiry(text, zone_info(context.caller.timezone), context.now) if text else None
    return Rights(parse_scope(form.scope), ends)


def _page(
    context: RequestContext,
    form: ApiKeyForm | None = None,
    *,
    new_key: ApiKey | None = None,
    problem: InvalidInput | None = None,
) -> PageResponse:
    with context.services.reading() as db:
        keys = api_keys.list_all(db, context.caller.id)
    known = {
        "title": _("API keys"),
        "keys": keys,
        "made": new_key,
        "form": form or ApiKeyForm(),
        "scopes": {str(scope): _(name) for scope, name in SCOPES.items()},
        "is_over": lambda key: _is_over(key, context.now),
        "first_day": to_local(context.now, zone_info(context.caller.timezone)).date().isoformat(),
        "address": context.site.base_url,
    }
    return PageResponse(
        "settings/api_keys.html", known, status=400 if problem else 200, problem=problem, has_secret=new_key is not None
    )


def _is_over(key: ApiKey, now: Instant) -> bool:
    return key.expires_at is not None and key.expires_at <= now
