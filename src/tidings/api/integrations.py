"""Other services (spec/behaviour.md, section 14.6)."""

from __future__ import annotations

from msgspec import Struct

from tidings.api.routes import Routes
from tidings.domain.integrations import SAVE_TARGETS
from tidings.domain.users import User
from tidings.services import Services
from tidings.storage import integrations

routes = Routes("Integrations")


class IntegrationsStatus(Struct, frozen=True):
    """has_integrations: whether entries can be saved anywhere."""

    has_integrations: bool


@routes.get("/v1/integrations/status")
def get_integrations_status(caller: User, services: Services) -> IntegrationsStatus:
    """Whether a service to save entries to is switched on."""
    with services.reading() as db:
        return IntegrationsStatus(bool(integrations.enabled(db, caller.id, SAVE_TARGETS)))
