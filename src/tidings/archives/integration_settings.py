"""What an archive contains of the services that a user has connected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from tidings.base.messages import Message

# The member that switches an integration on.
ENABLED: Final = "enabled"


# The kind of a member that holds the service's address.
ADDRESS: Final = "url"


class IntegrationMember(Protocol):
    """A setting of an integration."""

    @property
    def name(self) -> str:
        """Return the name in archives and in the API."""

    @property
    def kind(self) -> str:
        """Return the kind of input; ADDRESS for the address of the service."""

    @property
    def is_secret(self) -> bool:
        """Return whether its value is not shown."""


class IntegrationKind(Protocol):
    """A service that can be connected."""

    @property
    def title(self) -> Message:
        """Return the name that is shown to users."""

    @property
    def fields(self) -> Sequence[IntegrationMember]:
        """Return the settings that this version has."""


class IntegrationArchiver(Protocol):
    """Exports and restores the settings of a user's integrations; `wiring` connects the slice that has them."""

    @property
    def kinds(self) -> Mapping[str, IntegrationKind]:
        """Return the services that this version can connect, by the name in archives."""

    def for_archive(self, user_id: int, *, with_secrets: bool) -> dict[str, dict[str, Any]]:
        """Return the stored settings by integration, in the form that `update` takes."""

    def update(self, user_id: int, fields: Mapping[str, Any]) -> object:
        """Change all given settings, or none on an error. Raises InvalidInput with the integration and field."""
