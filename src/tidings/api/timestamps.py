"""Instants as the wire shows them. The rule lies further in: events that leave the house show them the same way."""

from tidings.services.timestamps import TimeZone, time_zone

__all__ = ["TimeZone", "time_zone"]
