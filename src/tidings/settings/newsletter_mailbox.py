"""Settings of the mailbox of newsletters that need each other: half a configuration is refused at the start."""

from __future__ import annotations

from collections.abc import Callable

from tidings.base.errors import StartError
from tidings.settings.option import PREFIX
from tidings.settings.options import Settings

_NEEDED = ("newsletters_imap_password", "newsletters_address")
_OF_MAILBOX = ("newsletters_imap_password", "newsletters_imap_mark_seen")


def check_newsletter_mailbox(settings: Settings, *, is_set: Callable[[str], bool]) -> None:
    """Raise StartError if a setting lacks another one. is_set: whether a field was set, rather than its default."""
    if settings.newsletters_imap_url is None:
        if alone := [_name(field) for field in _OF_MAILBOX if is_set(field)]:
            raise StartError(f"{alone[0]} has no effect without TIDINGS_NEWSLETTERS_IMAP_URL: set that too, or neither")
    elif missing := [_name(field) for field in _NEEDED if getattr(settings, field) is None]:
        raise StartError(f"TIDINGS_NEWSLETTERS_IMAP_URL needs {' and '.join(missing)}")


def _name(field: str) -> str:
    return PREFIX + field.upper()
