"""Signs in whom a reverse proxy names in a header (Authelia, Authentik, oauth2-proxy, `auth_request` of nginx …).

request ─► `http.front_door` removes the header unless it comes from a trusted network
        ─► the session is the named user's ─► as any other
           any other session, or none       ─► a session of the named user begins; an account is created if that is on
           no header                        ─► a session that the proxy has begun does not count

It is for pages only. An API that took the header would do what a page of another site makes the browser send.
"""

from __future__ import annotations

from collections.abc import Sequence

import structlog
from msgspec import Struct

from tidings.base.errors import Forbidden, InvalidInput
from tidings.base.messages import msg
from tidings.domain.accounts.events import Method, Origin
from tidings.domain.accounts.sessions import Session
from tidings.domain.accounts.users import User, normalize_username, validate_username
from tidings.engine.database import Database
from tidings.http.requests import Network, Request, is_within
from tidings.services.accounts.users import Users, prepare_user
from tidings.services.concurrent_changes import repeat_if_concurrent
from tidings.storage.accounts import users

log = structlog.get_logger()


class ProxyConfig(Struct, frozen=True):
    """The settings of signing in by a reverse proxy."""

    header: str
    """In lower case."""
    trusted: Sequence[Network]
    creates_users: bool
    logout_url: str
    """Where the proxy signs a user out; "" if it is not known."""


class ProxySignIn:
    """Signing in by a reverse proxy; exists only if it is configured."""

    def __init__(self, config: ProxyConfig, database: Database, *, users: Users) -> None:
        self.config = config
        self._database = database
        self._users = users

    def name_in(self, request: Request) -> str:
        """Return the name that the proxy sends, as it sends it; "" without one."""
        values = request.headers.getlist(self.config.header)
        client = request.scope.get("client")
        if not values or not is_within(client[0] if client else "", self.config.trusted):
            return ""
        if len(values) > 1:
            # The proxy adds its header to the client's one instead of replacing it: one of them may be forged.
            log.warning("user header ignored", reason="it was sent twice: the proxy has to replace it")
            return ""
        # Headers are bytes; names outside of ASCII are UTF-8.
        raw: bytes = values[0].encode("latin-1")
        return raw.decode("utf-8", "replace").strip()

    def names(self, name: str, user: User) -> bool:
        """Return whether a name that the proxy sends is the user's."""
        return normalize_username(name) == user.username

    def user(self, name: str, origin: Origin) -> User:
        """Return the user with this name, who is created if that is on. Raises Forbidden."""
        try:
            username = validate_username(name)
        except InvalidInput as error:
            raise Forbidden(_UNUSABLE.with_values(name=repr(name[:60]))) from error
        with self._database.reading() as db:
            user = users.by_name(db, username)
        if user is not None:
            return user
        if not self.config.creates_users:
            raise Forbidden(_NO_ACCOUNT.with_values(name=username))
        return repeat_if_concurrent(lambda: self._create(username, origin))

    async def sign_out_url(self, session: Session) -> str | None:
        """Return where the proxy signs a user out, "" if that is not known; None for a session of another kind."""
        return self.config.logout_url if is_of_proxy(session) else None

    def _create(self, username: str, origin: Origin) -> User:
        new = prepare_user(username, None)
        with self._database.writing() as db:
            return users.by_name(db, username) or self._users.add(db, new, origin=origin)


def is_of_proxy(session: Session) -> bool:
    """Return whether a session was begun by the proxy."""
    return session.method.partition("+")[0] == Method.PROXY


_UNUSABLE = msg("The proxy in front of this service names the user {name}, which cannot be a username here.")
_NO_ACCOUNT = msg(
    "The proxy in front of this service has signed you in as {name}, but there is no such account here. Ask the "
    "administrator to create it."
)
