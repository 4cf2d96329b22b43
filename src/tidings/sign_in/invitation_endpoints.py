"""Endpoints for invitations, with which administrators let someone create an account."""

from __future__ import annotations

from msgspec import Struct

from tidings.api.public_address import PublicAddress
from tidings.api.schema_annotations import Timestamp
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import Forbidden, InvalidInput, NotFound
from tidings.domain.accounts.events import Origin
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.http.json_body import Int64
from tidings.services import Services
from tidings.services.clock import TimeZone, time_zone
from tidings.sign_in.account_links_store import AccountLink
from tidings.sign_in.limits_model import Limits
from tidings.sign_in.links import NO_PASSWORDS
from tidings.sign_in.services import SignInServices

routes = Routes("Users")


class InvitationOut(Struct, frozen=True):
    """note: for whom it is. invited_by: username of an administrator. is_admin: whether the account will be one.

    max_feeds, max_entries, max_megabytes: limits of the account; null as the settings of the instance say, 0 without.
    """

    id: int
    note: str
    invited_by: str
    is_admin: bool
    max_feeds: int | None
    max_entries: int | None
    max_megabytes: int | None
    created_at: Timestamp
    expires_at: Timestamp


class NewInvitation(Struct, frozen=True):
    """url: where an account can be created, once, within a day. It is only shown in this response."""

    url: str


class InvitationCreate(Struct, frozen=True):
    """note: at most 200 characters. Limits: as in the list of invitations."""

    note: str | None = None
    is_admin: bool | None = None
    max_feeds: Int64 | None = None
    max_entries: Int64 | None = None
    max_megabytes: Int64 | None = None


_copy = StructCopy(InvitationOut, "is_admin", "max_feeds", "max_entries", "max_megabytes", "created_at", "expires_at")


@routes.get("/v1/invitations", admin=True, lists=InvitationOut, raises=(Forbidden,))
def list_invitations(caller: User, sign_in: SignInServices) -> list[InvitationOut]:
    """List the invitations that were not used yet, the newest first."""
    clock = time_zone(caller.timezone)
    return [_out(link, clock) for link in sign_in.links.invitations()]


@routes.post("/v1/invitations", admin=True, status=201, raises=(Forbidden, InvalidInput))
def create_invitation(
    caller: User,
    services: Services,
    sign_in: SignInServices,
    origin: Origin,
    address: PublicAddress,
    body: InvitationCreate,
) -> NewInvitation:
    """Invite someone to create an account."""
    if not services.accounts.ways.accepts_passwords:
        raise InvalidInput(NO_PASSWORDS)
    limits = Limits(body.max_feeds, body.max_entries, body.max_megabytes)
    token = sign_in.links.invite(caller, origin, note=body.note or "", is_admin=bool(body.is_admin), limits=limits)
    return NewInvitation(address.url(f"/invitation/{token}"))


@routes.delete("/v1/invitations/{invitation_id}", admin=True, status=204, raises=(Forbidden, InvalidInput, NotFound))
def delete_invitation(caller: User, sign_in: SignInServices, origin: Origin, invitation_id: int) -> None:
    """Withdraw an invitation: its link does not work any more."""
    sign_in.links.withdraw(caller, invitation_id, origin)


def _out(link: AccountLink, clock: TimeZone) -> InvitationOut:
    limits = Limits.unpacked(link.limits)
    return _copy(
        link,
        is_admin=bool(link.is_admin),
        max_feeds=limits.max_feeds,
        max_entries=limits.max_entries,
        max_megabytes=limits.max_megabytes,
        created_at=clock.format(link.created_at),
        expires_at=clock.format(link.expires_at),
    )
