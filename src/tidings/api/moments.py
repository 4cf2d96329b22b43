"""Instants as the wire shows them. The rule lies further in: events that leave the house show them the same way."""

from tidings.services.moments import Zone, zone

__all__ = ["Zone", "zone"]
