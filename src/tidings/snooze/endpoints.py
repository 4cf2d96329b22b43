"""Endpoints for snoozed entries."""

from __future__ import annotations

from msgspec import Struct

from tidings.api.schema_annotations import Required, Timestamp
from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.http.json_body import Int64
from tidings.services.clock import time_zone
from tidings.snooze.services import SnoozeServices
from tidings.snooze.store import Snoozed

routes = Routes("Snoozed entries", after="Entries")


class SnoozeUpdate(Struct, frozen=True):
    """until: a day (2026-12-01), which begins at 06:00 in your time zone, or an RFC 3339 time; within a year."""

    until: Required[str] = None


class EntriesSnooze(Struct, frozen=True):
    """entry_ids: at most 1,000. until: a day (2026-12-01), at 06:00 in your time zone, or an RFC 3339 time."""

    entry_ids: Required[list[Int64]] = None
    until: Required[str] = None


class SnoozedEntryOut(Struct, frozen=True):
    """A snoozed entry. until: when it becomes unread again."""

    entry_id: int
    until: Timestamp


@routes.get("/v1/entries/snooze", lists=SnoozedEntryOut)
def list_snoozed_entries(caller: User, snoozes: SnoozeServices) -> list[SnoozedEntryOut]:
    """List the snoozed entries, in the order in which they become unread again."""
    return [_out(caller, one) for one in snoozes.snooze.list_all(caller.id)]


@routes.put("/v1/entries/snooze", scope=KeyScope.WRITE, status=201, raises=(InvalidInput,))
def snooze_entries(caller: User, snoozes: SnoozeServices, body: EntriesSnooze) -> list[SnoozedEntryOut]:
    """Mark entries as read until a day, when they become unread again. Ids of others and removed ones are ignored."""
    if not body.entry_ids:
        raise InvalidField("entry_ids", msg("at least one entry id is needed."))
    found, _moment = snoozes.snooze.snooze(caller, body.entry_ids, body.until or "")
    return [_out(caller, one) for one in found]


@routes.put("/v1/entries/{entry_id}/snooze", scope=KeyScope.WRITE, status=201, raises=(InvalidInput, NotFound))
def snooze_entry(caller: User, snoozes: SnoozeServices, entry_id: int, body: SnoozeUpdate) -> SnoozedEntryOut:
    """Mark an entry as read until a day, when it becomes unread again. Marking it unread ends this as well."""
    found, _moment = snoozes.snooze.snooze_one(caller, entry_id, body.until or "")
    return _out(caller, found)


@routes.delete("/v1/entries/{entry_id}/snooze", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound))
def end_snooze(caller: User, snoozes: SnoozeServices, entry_id: int) -> None:
    """Mark a snoozed entry as unread now. One that is not snoozed stays as it is."""
    snoozes.snooze.end(caller, entry_id)


def _out(caller: User, one: Snoozed) -> SnoozedEntryOut:
    return SnoozedEntryOut(one.entry_id, time_zone(caller.timezone).format(one.until))
