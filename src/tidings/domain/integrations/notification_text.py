"""New entries in a few words, for services that show them on a screen."""

from __future__ import annotations

from msgspec import Struct

from tidings.domain.deliveries.events import EntryPayload, NewEntriesPayload
from tidings.domain.messages import Message, msg

# More titles than anybody reads on a telephone.
MAX_TITLES = 10


class Notification(Struct, frozen=True):
    """url: where somebody gets who taps on it; "" for nowhere."""

    title: str
    text: str
    url: str


class AppriseRequest(Struct, frozen=True):
    """What the process that runs Apprise is asked to do. urls: of services; only_check: nothing is sent."""

    urls: list[str]
    title: str = ""
    text: str = ""
    url: str = ""
    only_check: bool = False


class UrlProblem(Struct, frozen=True):
    """number: which of the addresses, from 1. scheme: how it begins; the rest is secret.

    is_about_address: trying again does not help.
    """

    number: int
    scheme: str
    reason: Message
    is_about_address: bool = False

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
    """problems: none when all went well."""

    problems: list[UrlProblem]


def notification(payload: NewEntriesPayload, *, max_length: int = 4_000, with_addresses: bool = False) -> Notification:
    """longest: characters of the text. with_addresses: for a service where a text is all there is."""
    feed, entries = payload.feed.title or payload.feed.feed_url, payload.entries
    if len(entries) == 1:
        one = entries[0]
        return Notification(feed, _line(one, with_addresses)[:max_length], one.url or payload.feed.site_url)
    newest = list(reversed(entries))
    lines = [_line(entry, with_addresses) for entry in newest[:MAX_TITLES]]
    if len(newest) > MAX_TITLES:
        lines.append(f"… and {len(newest) - MAX_TITLES} more")
    return Notification(f"{feed}: {len(entries)} new entries", _shortened(lines, max_length), payload.feed.site_url)


def _line(entry: EntryPayload, with_address: bool) -> str:
    title = entry.title or entry.url or "(untitled)"
    return f"{title}\n{entry.url}" if with_address and entry.url and entry.url != title else title


def _shortened(lines: list[str], max_length: int) -> str:
    """As many whole lines as there is room for, and at least the beginning of one."""
    text = lines[0][:max_length]
    for line in lines[1:]:
        if len(text) + 1 + len(line) > max_length:
            break
        text += "\n" + line
    return text
