"""What an archive contains of the bridges that a user has set up, which another slice keeps."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, Protocol

from tidings.archives.parts import ArchivePart, LeftOff, PlannedChange, shown
from tidings.archives.records import ArchivedBridge
from tidings.base.errors import InvalidInput
from tidings.domain.feeds.own_bridges import SERVICE_NAMES
from tidings.engine.database import Read, Write

_USERINFO: Final = re.compile("//[^/]*@")


class BridgeArchiver(Protocol):
    """What archives need of bridges."""

    def list_all(self, db: Read, user_id: int) -> Mapping[str, str]:
        """Return the addresses of a user's bridges by name, without those that the user does not have."""

    def add(self, db: Write, user_id: int, name: str, address: str) -> None:
        """Set an address. Raises InvalidInput."""


def archived_bridges(archiver: BridgeArchiver, db: Read, user_id: int) -> Iterator[ArchivedBridge]:
    """Yield the bridges as an archive with secrets has them: an address may have a password, or be one."""
    for name, address in archiver.list_all(db, user_id).items():
        yield ArchivedBridge(name, address)


def store_bridges(
    archiver: BridgeArchiver,
    db: Write,
    user_id: int,
    bridges: Iterable[ArchivedBridge],
    parts: Collection[ArchivePart],
    left_off: list[LeftOff],
) -> list[str]:
    """Add the bridges that the user does not have, if integrations were asked for. Returns problems, in words.

    left_off: gets those that were not asked for.
    """
    problems: list[str] = []
    for one in _new(archiver, db, user_id, bridges):
        if ArchivePart.INTEGRATIONS not in parts:
            left_off.append(LeftOff(ArchivePart.INTEGRATIONS, one.name))
            continue
        try:
            archiver.add(db, user_id, one.name, one.address)
        except InvalidInput as error:
            problems.append(f"{SERVICE_NAMES[one.name]}: {error.message}")
    return problems


def planned_bridges(
    archiver: BridgeArchiver, db: Read, user_id: int, bridges: Iterable[ArchivedBridge]
) -> list[PlannedChange]:
    """Return the bridges that would be added."""
    return [
        PlannedChange(ArchivePart.INTEGRATIONS, one.name, after=shown(_USERINFO.sub("//", one.address)))
        for one in _new(archiver, db, user_id, bridges)
    ]


def _new(archiver: BridgeArchiver, db: Read, user_id: int, bridges: Iterable[ArchivedBridge]) -> list[ArchivedBridge]:
    known = archiver.list_all(db, user_id)
    return [one for one in bridges if one.name in SERVICE_NAMES and one.address and one.name not in known]
