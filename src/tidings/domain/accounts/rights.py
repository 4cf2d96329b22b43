"""What the credentials of a request allow: an API key may have fewer rights than its user, and for a limited time."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from tidings.base.errors import Forbidden, InvalidField
from tidings.base.messages import msg
from tidings.base.times import Instant


class KeyScope(StrEnum):
    """A right of an API key. Each includes those before it."""

    READ = "read"
    """See everything except secrets."""
    WRITE = "write"
    """Change the state of entries, label and add them, and refresh feeds."""
    MANAGE = "manage"
    """Change feeds, categories, views, rules, settings, integrations and keys."""
    ADMIN = "admin"
    """Change accounts: the name and password of the user's own, and others where the user is an administrator."""

    def includes(self, other: KeyScope) -> bool:
        return _RANKS[self] >= _RANKS[other]


_RANKS = {scope: rank for rank, scope in enumerate(KeyScope)}


class ScopeMissing(Forbidden):
    """The API key of a request has not the scope that it needs."""

    code = "scope-missing"

    def __init__(self, scope: KeyScope, needed: KeyScope) -> None:
        super().__init__(
            msg(
                'This API key has the scope "{scope}", and this needs "{needed}": use a key with that scope.',
                scope=str(scope),
                needed=str(needed),
            )
        )
        self.needed = needed


class Rights(Struct, frozen=True):
    """The rights of the credentials of a request. A password has all of its user's."""

    scope: KeyScope = KeyScope.ADMIN
    expires_at: Instant | None = None
    """When they end; None for never."""

    @property
    def are_limited(self) -> bool:
        return self.scope is not KeyScope.ADMIN or self.expires_at is not None

    def require(self, needed: KeyScope) -> None:
        """Raise ScopeMissing unless they include a scope."""
        if not self.scope.includes(needed):
            raise ScopeMissing(self.scope, needed)

    def pass_on(self, scope: KeyScope | None, expires_at: Instant | None) -> Rights:
        """Return the rights of a key that is made with these: not more, and not for longer.

        scope, expires_at: as wanted; None for as much as possible. Raises ScopeMissing, and InvalidField for a key that
        would outlive these rights.
        """
        if scope is not None:
            self.require(scope)
        if expires_at is not None and self.expires_at is not None and expires_at > self.expires_at:
            raise InvalidField("expires_at", msg("a key cannot make a key that expires later than itself."))
        return Rights(scope or self.scope, self.expires_at if expires_at is None else expires_at)


ALL_RIGHTS = Rights()
