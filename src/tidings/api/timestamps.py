"""Formats times for responses. The rule is in the domain, since webhook events use it as well."""

from tidings.services.timestamps import TimeZone, time_zone

__all__ = ["TimeZone", "time_zone"]
