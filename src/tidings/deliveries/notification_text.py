"""Short texts about new entries, for services that show notifications."""

from __future__ import annotations

from msgspec import Struct

from tidings.base.messages import Message, msg
from tidings.deliveries.events import EntryPayload, NewEntriesPayload

# Maximum number of titles listed in one notification; the rest is only counted.
MAX_TITLES = 10


class Notification(Struct, frozen=True):
    """A notification of new entries."""

    title: str
    text: str
    url: str
    """Opened when the user taps the notification; empty for none."""


class AppriseRequest(Struct, frozen=True):
    """A request to the process that runs Apprise."""

    urls: list[str]
    """URLs of services."""
    title: str = ""
    text: str = ""
    url: str = ""
    only_check: bool = False
    """Validate the URLs, send nothing."""


class UrlProblem(Struct, frozen=True):
    """A problem with one of the URLs."""

    number: int
    """Position of the URL, counted from 1."""
    scheme: str
    """The URL's scheme; its other parts are secret."""
    reason: Message
    is_url_invalid: bool = False
    """A retry does not help."""
    is_unreachable: bool = False
    """No connection to the service was possible."""

    @property
    def message(self) -> Message:
        if self.scheme:
            return msg(
                "Service URL {number} ({scheme}://): {reason}",
                number=self.number,
                scheme=self.scheme,
                reason=self.reason,
            )
        return msg("Service URL {number}: {reason}", number=self.number, reason=self.reason)


class AppriseReport(Struct, frozen=True):
    """The response of the process that runs Apprise."""

    problems: list[UrlProblem]
    """Empty if everything succeeded."""


def notification(payload: NewEntriesPayload, *, max_length: int = 4_000, with_urls: bool = False) -> Notification:
    """Return a notification. max_length: characters of the text.

    with_urls: include the URLs of entries in the text, for services without a separate URL.
    """
    feed, entries = payload.feed.title or payload.feed.feed_url, payload.entries
    if len(entries) == 1:
        entry = entries[0]
        return Notification(feed, _line(entry, with_urls)[:max_length], entry.url or payload.feed.site_url)
    newest = list(reversed(entries))
    lines = [_line(entry, with_urls) for entry in newest[:MAX_TITLES]]
    if len(newest) > MAX_TITLES:
        lines.append(f"… and {len(newest) - MAX_TITLES} more")
    return Notification(f"{feed}: {len(entries)} new entries", _shortened(lines, max_length), payload.feed.site_url)


def _line(entry: EntryPayload, with_url: bool) -> str:
    title = entry.title or entry.url or "(untitled)"
    return f"{title}\n{entry.url}" if with_url and entry.url and entry.url != title else title


def _shortened(lines: list[str], max_length: int) -> str:
    """Return as many whole lines as fit into `max_length`, and at least the beginning of the first."""
    text = lines[0][:max_length]
    for line in lines[1:]:
        if len(text) + 1 + len(line) > max_length:
            break
        text += "\n" + line
    return text
