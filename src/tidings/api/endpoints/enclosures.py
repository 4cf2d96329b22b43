"""Endpoints for enclosures."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tidings.api.struct_copy import StructCopy
from tidings.base.errors import InvalidInput, NotFound
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.entries.enclosures import owned_enclosure

routes = Routes("Enclosures")


class EnclosureOut(Struct, frozen=True):
    """size: bytes; media_progression: seconds."""

    id: int
    user_id: int
    entry_id: int
    url: str
    mime_type: str
    size: int
    media_progression: int


class EnclosureUpdate(Struct, frozen=True):
    """media_progression: seconds; default: the beginning."""

    media_progression: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None


enclosure_out = StructCopy(EnclosureOut)


@routes.get("/v1/enclosures/{enclosure_id}", raises=(InvalidInput, NotFound))
def get_enclosure(caller: User, services: Services, enclosure_id: int) -> EnclosureOut:
    """Get an enclosure."""
    with services.reading() as db:
        return enclosure_out(owned_enclosure(db, caller.id, enclosure_id))


@routes.put("/v1/enclosures/{enclosure_id}", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound))
def update_enclosure(caller: User, services: Services, enclosure_id: int, body: EnclosureUpdate) -> None:
    """Store the playback position of an enclosure."""
    services.entries.enclosures.set_progression(caller.id, enclosure_id, body.media_progression or 0)
