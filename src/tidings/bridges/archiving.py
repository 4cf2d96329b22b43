"""The bridges of a user, as archives have them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import asdict

from tidings.bridges.own_bridges import OwnBridgeSettings
from tidings.engine.database import Read, Write
from tidings.storage.feeds import own_bridges


class OwnBridgeArchiver:
    """Lists the bridges of a user for an archive, and adds one that an archive has."""

    def __init__(self, own: OwnBridgeSettings) -> None:
        self._own = own

    def list_all(self, db: Read, user_id: int) -> Mapping[str, str]:
        """Return the addresses by name, without those that the user does not have."""
        return {name: address for name, address in asdict(own_bridges.of_user(db, user_id)).items() if address}

    def add(self, db: Write, user_id: int, name: str, address: str) -> None:
        """Set an address. Raises InvalidInput."""
        self._own.store(db, user_id, {name: self._own.check(name, address)})
