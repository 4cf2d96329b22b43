"""The integrations pages: a form for each provider, from the fields that it declares (`deliveries.provider`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import msg, verbatim
from tidings.deliveries.attempts import DeliveryOutcome
from tidings.deliveries.events import SAVE_ENTRY
from tidings.deliveries.integration_changes import ENABLED, HAS_PREFIX
from tidings.deliveries.integrations import DeliveryProblems
from tidings.deliveries.placeholders import PLACEHOLDERS
from tidings.deliveries.provider import FieldKind, Provider, SettingField
from tidings.deliveries.registry import REGISTRY, WEBHOOK
from tidings.deliveries.services import DeliveryServices
from tidings.domain.accounts.users import User
from tidings.http import forms
from tidings.http.endpoints import Routes
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _
from tidings.web.message_translation import translated

routes = Routes()

PATH = "/settings/integrations"
# Prefix of the check boxes that delete a stored secret.
_CLEAR = "clear-"


class IntegrationRow(Struct, frozen=True):
    """A provider in the list of integrations."""

    name: str
    title: str
    state: str
    """"on", "off", or "" when it was never set up."""
    problems: DeliveryProblems


@routes.get(PATH)
def show_integrations(caller: User, deliveries: DeliveryServices) -> PageResponse:
    shown, problems = deliveries.integrations.get_all_with_problems(caller.id)
    groups: dict[str, list[IntegrationRow]] = {"webhook": [], "saves": [], "notifies": []}
    for provider in sorted(REGISTRY.values(), key=lambda provider: provider.title.english().casefold()):
        group = "webhook" if provider.name == WEBHOOK else "saves" if SAVE_ENTRY in provider.events else "notifies"
        name = provider.name
        groups[group].append(_line(provider, shown[name], problems.get(name, DeliveryProblems())))
    values = {
        "title": _("Integrations"),
        "groups": groups,
        "hooks": deliveries.webhooks.list_all(caller.id),
        "problems": problems,
    }
    return PageResponse("deliveries/integrations.html", values)


@routes.get(PATH + "/{integration}")
def show_integration(caller: User, deliveries: DeliveryServices, integration: str) -> PageResponse:
    provider = _provider(integration)
    shown, problems = deliveries.integrations.get_all_with_problems(caller.id)
    return _page(provider, shown[provider.name], problems=problems.get(provider.name, DeliveryProblems()))


@routes.post(PATH + "/{integration}")
def change_integration(
    context: RequestContext, deliveries: DeliveryServices, integration: str
) -> PageResponse | Redirect:
    provider = _provider(integration)
    if refused := _save(context, deliveries, provider):
        return refused
    return Redirect(f"{PATH}/{provider.name}", notice=_("Saved."))


@routes.post(PATH + "/{integration}/test")
async def test_integration(context: RequestContext, deliveries: DeliveryServices, integration: str) -> PageResponse:
    """Save the form, then send a test."""
    provider = _provider(integration)
    if refused := await asyncio.to_thread(_save, context, deliveries, provider):
        return refused
    problem = outcome = None
    try:
        outcome = await deliveries.redelivery.test(context.caller.id, provider.name)
    except InvalidInput as error:
        problem = InvalidInput(error.text)
    shown = await asyncio.to_thread(deliveries.integrations.get_all, context.caller.id)
    return _page(provider, shown[provider.name], problem=problem, outcome=outcome)


@routes.post(PATH + "/{integration}/renew")
def renew_secret(caller: User, deliveries: DeliveryServices, integration: str) -> Redirect:
    """Generate all generated secrets of a provider again."""
    provider = _provider(integration)
    deliveries.integrations.update(
        caller.id, {provider.name: {field.name: "" for field in provider.fields if field.is_generated}}
    )
    return Redirect(f"{PATH}/{provider.name}", notice=_("This is a new secret: give it to the receiver."))


def _save(context: RequestContext, deliveries: DeliveryServices, provider: Provider) -> PageResponse | None:
    """Save the form. Returns the page with the error, or None."""
    sent = dict(forms.fields(context.request))
    try:
        deliveries.integrations.update(context.caller.id, {provider.name: _sent_values(provider, sent)})
    except InvalidInput as error:
        shown = deliveries.integrations.get_all(context.caller.id)[provider.name]
        submitted = {field.name: _submitted(field, sent) for field in provider.fields if not field.is_generated}
        return _page(
            provider,
            shown | submitted | {ENABLED: ENABLED in sent},
            problem=field_error(error, prefix=f"{provider.name}."),
        )
    return None


def _sent_values(provider: Provider, sent: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings as the API takes them. Empty secrets keep their value; generated fields are left out."""
    fields: dict[str, Any] = {ENABLED: ENABLED in sent}
    for field in provider.fields:
        if field.is_secret:
            if sent.get(field.name, "").strip():
                fields[field.name] = sent[field.name]
            elif _CLEAR + field.name in sent:
                fields[field.name] = ""
        elif not field.is_generated:
            fields[field.name] = _value(provider, field, sent)
    return fields


def _value(provider: Provider, field: SettingField, sent: Mapping[str, str]) -> Any:
    submitted = _submitted(field, sent)
    if field.type is not int:
        return submitted
    if not submitted.strip():
        return 0
    if not (submitted.strip().isascii() and submitted.strip().isdigit() and len(submitted) < 20):
        raise InvalidInput(msg("Type a whole number."), field=f"{provider.name}.{field.name}")
    return int(submitted)


def _submitted(field: SettingField, sent: Mapping[str, str]) -> Any:
    return field.name in sent if field.kind is FieldKind.FLAG else sent.get(field.name, "")


def _line(provider: Provider, members: Mapping[str, Any], problems: DeliveryProblems) -> IntegrationRow:
    is_known = any(
        members[HAS_PREFIX + field.name] if field.is_secret else members[field.name] != field.default
        for field in provider.fields
    )
    state = "on" if members[ENABLED] else "off" if is_known else ""
    return IntegrationRow(provider.name, translated(provider.title), state, problems)


def _provider(name: str) -> Provider:
    if name not in REGISTRY:
        raise NotFound(verbatim(f"There is no integration {name[:40]!r}."))
    return REGISTRY[name]


def _page(
    provider: Provider,
    members: Mapping[str, Any],
    *,
    problem: InvalidInput | None = None,
    outcome: DeliveryOutcome | None = None,
    problems: DeliveryProblems = DeliveryProblems(),  # noqa: B008 - frozen
) -> PageResponse:
    known = {
        "title": translated(provider.title),
        "provider": provider,
        "members": members,
        "outcome": outcome,
        "problems": problems,
        "placeholders": PLACEHOLDERS,
        "names": [ENABLED, *(field.name for field in provider.fields)],
    }
    # A generated secret, or a typed secret next to an error, is on the page.
    return PageResponse(
        "deliveries/integration.html", known, status=400 if problem else 200, problem=problem, has_secret=True
    )
