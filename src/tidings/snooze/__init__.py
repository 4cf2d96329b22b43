"""Snoozed entries: read ones that become unread again on a day that their user has chosen."""
