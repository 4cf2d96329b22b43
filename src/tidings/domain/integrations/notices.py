"""New entries in a few words, for services that show them on a screen."""

from __future__ import annotations

from msgspec import Struct

from tidings.domain.events import EntryTold, NewEntries
from tidings.domain.wording import Words

# More titles than anybody reads on a telephone.
MOST = 10


class Notice(Struct, frozen=True):
    """url: where somebody gets who taps on it; "" for nowhere."""

    title: str
    text: str
    url: str


class Errand(Struct, frozen=True):
    """What the process that runs Apprise is asked to do. urls: of services; only_check: nothing is sent."""

    urls: list[str]
    title: str = ""
    text: str = ""
    url: str = ""
    only_check: bool = False


class Problem(Struct, frozen=True):
    """number: which of the addresses, from 1. scheme: how it begins; the rest is secret.

    is_about_address: trying again does not help.
    """

    number: int
    scheme: str
    reason: Words
    is_about_address: bool = False

    def __str__(self) -> Words:
        if self.scheme:
            return f"Service URL {self.number} ({self.scheme}://): {self.reason}"
        return f"Service URL {self.number}: {self.reason}"


class Report(Struct, frozen=True):
    """problems: none when all went well."""

    problems: list[Problem]


def notice(news: NewEntries, *, longest: int = 4_000, with_addresses: bool = False) -> Notice:
    """longest: characters of the text. with_addresses: for a service where a text is all there is."""
    feed, entries = news.feed.title or news.feed.feed_url, news.entries
    if len(entries) == 1:
        one = entries[0]
        return Notice(feed, _line(one, with_addresses)[:longest], one.url or news.feed.site_url)
    newest = list(reversed(entries))
    lines = [_line(entry, with_addresses) for entry in newest[:MOST]]
    if len(newest) > MOST:
        lines.append(f"… and {len(newest) - MOST} more")
    return Notice(f"{feed}: {len(entries)} new entries", _shortened(lines, longest), news.feed.site_url)


def _line(entry: EntryTold, with_address: bool) -> str:
    title = entry.title or entry.url or "(untitled)"
    return f"{title}\n{entry.url}" if with_address and entry.url and entry.url != title else title


def _shortened(lines: list[str], longest: int) -> str:
    """As many whole lines as there is room for, and at least the beginning of one."""
    text = lines[0][:longest]
    for line in lines[1:]:
        if len(text) + 1 + len(line) > longest:
            break
        text += "\n" + line
    return text
