"""Endpoints for the bridges that a user sets up for themselves."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from tidings.base.errors import InvalidInput
from tidings.bridges.own_bridges import MAX_ADDRESS, NAMES
from tidings.bridges.services import BridgeServices
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes

routes = Routes("Bridges", after="Discovery")

_Address = Annotated[str | None, Meta(extra_json_schema={"maxLength": MAX_ADDRESS})]


class BridgesOut(Struct, frozen=True):
    """The addresses of your own bridges, with their passwords; "" for each that is the server's.

    of_server: names of the bridges that the server has set up, which are used in place of your own.
    """

    rssbridge_url: str
    rsshub_url: str
    flaresolverr_url: str
    of_server: list[str]


class BridgesUpdate(Struct, frozen=True):
    """Addresses of your own bridges, such as https://user:password@bridge.example.org; "" removes one."""

    rssbridge_url: _Address = None
    rsshub_url: _Address = None
    flaresolverr_url: _Address = None


@routes.get("/v1/bridges", scope=KeyScope.MANAGE)
def get_bridges(caller: User, bridges: BridgeServices) -> BridgesOut:
    """Get the addresses of your own bridges."""
    return BridgesOut(**asdict(bridges.own.get(caller.id)), of_server=[*bridges.of_server])


@routes.put("/v1/bridges", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput,))
def update_bridges(caller: User, bridges: BridgeServices, body: BridgesUpdate) -> BridgesOut:
    """Set the addresses of your own bridges, which come before the server's. Those that are not sent stay.

    Feeds that are fetched through a bridge follow.
    """
    given = {name: address for name in NAMES if (address := getattr(body, name)) is not None}
    return BridgesOut(**asdict(bridges.own.update(caller.id, given)), of_server=[*bridges.of_server])
