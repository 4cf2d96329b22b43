"""Limits of accounts, and what accounts have."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Struct, UnsetType

from tidings.api.schema_annotations import up_to
from tidings.base.errors import Forbidden, InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.domain.accounts.events import Origin
from tidings.domain.accounts.rights import KeyScope, Rights
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.http.json_body import Int64
from tidings.sign_in.limits_model import MAX_NUMBER, Limits
from tidings.sign_in.services import SignInServices

routes = Routes("Account log", after="Users")

Limit = Annotated[Int64 | UnsetType | None, up_to(MAX_NUMBER)]


class AccountLimitsOut(Struct, frozen=True):
    """max_feeds, max_entries, max_megabytes: null as the settings of the instance say, 0 without limit.

    feeds, entries, size_bytes: what the account has. size_bytes: about what its articles take, measured once a day;
    null while there is no limit.
    """

    user_id: int
    max_feeds: int | None
    max_entries: int | None
    max_megabytes: int | None
    feeds: int
    entries: int
    size_bytes: int | None


class AccountLimitsUpdate(Struct, frozen=True):
    """null: as the settings of the instance say. 0: without limit. Members that are not sent keep their values."""

    max_feeds: Limit = UNSET
    max_entries: Limit = UNSET
    max_megabytes: Limit = UNSET


@routes.get("/v1/users/{user_id}/limits", raises=(Forbidden, InvalidInput, NotFound))
def get_limits(caller: User, rights: Rights, sign_in: SignInServices, user_id: int) -> AccountLimitsOut:
    """Get the limits of an account and what it has: administrators of any, other users of their own.

    API keys need the scope `admin` for those of another account.
    """
    if caller.id != user_id:
        rights.require(KeyScope.ADMIN)
    if not caller.is_admin and caller.id != user_id:
        raise Forbidden(verbatim("Only an administrator may see the limits of another user."))
    return _out(sign_in, user_id)


@routes.put("/v1/users/{user_id}/limits", admin=True, raises=(Forbidden, InvalidInput, NotFound))
def update_limits(
    caller: User, sign_in: SignInServices, origin: Origin, user_id: int, body: AccountLimitsUpdate
) -> AccountLimitsOut:
    """Set the limits of an account. Nothing that it has is deleted."""
    _user, limits, _usage = sign_in.limits.find(user_id)
    values = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}
    changed = msgspec.structs.replace(limits, **values)
    sign_in.limits.change(caller, user_id, changed, origin)
    return _out(sign_in, user_id)


def _out(sign_in: SignInServices, user_id: int) -> AccountLimitsOut:
    _user, limits, usage = sign_in.limits.find(user_id)
    return AccountLimitsOut(
        user_id=user_id,
        **{name: getattr(limits, name) for name in Limits.__struct_fields__},
        feeds=usage.feeds,
        entries=usage.entries,
        size_bytes=usage.size_bytes,
    )
