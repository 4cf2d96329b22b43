"""Endpoints for integrations (docs/integrations.md)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tidings.base.errors import InvalidInput
from tidings.deliveries import outbox
from tidings.deliveries.events import SAVE_ENTRY
from tidings.deliveries.integration_changes import ENABLED, HAS_PREFIX, LAST_ERROR, find_provider
from tidings.deliveries.provider import FieldKind, SettingField
from tidings.deliveries.registry import REGISTRY
from tidings.deliveries.services import DeliveryServices
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Media, Routes
from tidings.http.json_body import decode_object
from tidings.http.openapi_schemas import REF
from tidings.http.requests import Request
from tidings.http.responses import JSON, json
from tidings.services import Services

routes = Routes("Integrations", after="API passwords")


class IntegrationsStatus(Struct, frozen=True):
    """has_integrations: whether a service to save entries to is switched on."""

    has_integrations: bool


class IntegrationTestedOut(Struct, frozen=True):
    """works: whether the service accepted the entry. error: why it did not, "" if it did.
    status: HTTP status of its last response, 0 without one. response: the beginning of that response.
    """

    works: bool
    status: int
    error: str
    response: str


def _media(*, of_answer: bool) -> Media:
    """Return a body with a member per integration. of_answer: of the response, not of the request."""
    end = "" if of_answer else "Update"
    names = {name: f"{name.replace('_', ' ').title().replace(' ', '')}Integration{end}" for name in REGISTRY}
    components = {names[name]: _members(leaf.fields, of_answer=of_answer) for name, leaf in REGISTRY.items()}
    by_name = {name: {"$ref": REF + shown} for name, shown in names.items()}
    whole: dict[str, Any] = {"type": "object", "properties": by_name, **({"required": [*names]} if of_answer else {})}
    return Media(JSON, {"$ref": f"{REF}Integrations{end}"}, components={f"Integrations{end}": whole, **components})


def _members(fields: tuple[SettingField, ...], *, of_answer: bool) -> dict[str, Any]:
    created: dict[str, Any] = {ENABLED: {"type": "boolean"}}
    for field in fields:
        if of_answer and field.is_secret:
            created[HAS_PREFIX + field.name] = {
                "type": "boolean",
                "description": f"Whether {field.name} is set: it is not shown.",
            }
        else:
            created[field.name] = _member(field)
    if of_answer:
        created[LAST_ERROR] = {"type": "string", "description": "What the service last complained about."}
    return {"type": "object", "properties": created, **({"required": list(created)} if of_answer else {})}


def _member(field: SettingField) -> dict[str, Any]:
    kind = {str: "string", bool: "boolean", int: "integer"}[field.type]
    created: dict[str, Any] = {"type": kind, "description": " ".join(filter(None, (f"{field.label}.", field.help)))}
    if field.choices:
        created["enum"] = list(field.choices)
    if kind == "string" and not field.choices:
        created["maxLength"] = field.max_length
    return created | ({"format": "password"} if field.kind is FieldKind.PASSWORD else {})


SHOWN, SENT = _media(of_answer=True), _media(of_answer=False)


@routes.get("/v1/integrations", scope=KeyScope.MANAGE, responses={200: SHOWN})
def get_integrations(caller: User, deliveries: DeliveryServices) -> Response:
    """Get the settings of all integrations, by name.

    Secrets are not shown: `has_token` says whether `token` is set.
    """
    return json(deliveries.integrations.get_all(caller.id))


@routes.put(
    "/v1/integrations", scope=KeyScope.MANAGE, responses={201: SHOWN}, request_bodies=(SENT,), raises=(InvalidInput,)
)
def update_integrations(caller: User, deliveries: DeliveryServices, request: Request) -> Response:
    """Change settings of integrations. Members that are not sent keep their values.

    An empty text clears a secret. For the secret of the webhook, which the server generates, it makes a new one.
    """
    return json(deliveries.integrations.update(caller.id, decode_object(request.content)), 201)


@routes.get("/v1/integrations/status")
def get_integrations_status(caller: User, services: Services) -> IntegrationsStatus:
    """Get whether a service to save entries to is switched on."""
    with services.reading() as db:
        return IntegrationsStatus(bool(outbox.targets_of(db, caller.id, SAVE_ENTRY)))


@routes.post("/v1/integrations/{integration}/test", scope=KeyScope.MANAGE, raises=(InvalidInput,))
async def test_integration(caller: User, deliveries: DeliveryServices, integration: str) -> IntegrationTestedOut:
    """Send a sample entry to a service, whether it is switched on or not, and return the result."""
    outcome = await deliveries.redelivery.test(caller.id, find_provider(integration).name)
    return IntegrationTestedOut(
        works=outcome.is_delivered, status=outcome.status, error=outcome.error_text, response=outcome.response
    )
