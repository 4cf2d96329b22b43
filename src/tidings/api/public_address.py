"""The address of the service, as handlers need it for links that people open."""

from __future__ import annotations

from msgspec import Struct


class PublicAddress(Struct, frozen=True):
    """Where people reach the service."""

    base_url: str
    """Without a slash at the end."""

    def url(self, path: str) -> str:
        """Return the address of a page. path: with a slash in front."""
        return f"{self.base_url}{path}"
