"""Endpoints for the order and the layout of single lists."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from tidings.api.schema_annotations import Required, one_of
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import InvalidInput
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.domain.entries.saved_views import DENSITIES
from tidings.http.endpoints import Routes
from tidings.http.json_body import sent
from tidings.list_settings.list_settings import DIRECTIONS
from tidings.list_settings.services import ListSettingServices

routes = Routes("List settings", after="Views")


class ListSettingOut(Struct, frozen=True):
    """How pages show a list.

    list: unread, starred, history or shared; or f, c or l and the id of a feed, category or label, such as f7.
    direction: "" as in all lists. density: "" for the device's setting.
    """

    list: str
    direction: Annotated[str, one_of(DIRECTIONS)]
    density: Annotated[str, one_of(DENSITIES)]


class ListSettingUpdate(Struct, frozen=True):
    """list: as in the response. direction, density: "" removes it, and what is not sent stays."""

    list: Required[str] = None
    direction: Annotated[str | None, one_of(DIRECTIONS)] = None
    density: Annotated[str | None, one_of(DENSITIES)] = None


_copy = StructCopy(ListSettingOut)


@routes.get("/v1/list-settings", lists=ListSettingOut)
def list_list_settings(caller: User, services: ListSettingServices) -> list[ListSettingOut]:
    """List the order and the layout of lists that do not have those of all others. Saved views have their own."""
    return [_copy(one) for one in services.list_settings.list_all(caller.id)]


@routes.put("/v1/list-settings", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput,))
def update_list_setting(caller: User, services: ListSettingServices, body: ListSettingUpdate) -> ListSettingOut:
    """Set in which order, and in which layout, pages show a list."""
    values = {name: value for name, value in sent(body).items() if name != "list" and value is not None}
    return _copy(services.list_settings.change(caller.id, body.list or "", values))
