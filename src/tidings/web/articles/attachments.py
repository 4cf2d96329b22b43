"""What is attached to an entry, as its page shows it: players above the text, everything else below it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from msgspec import Struct

from tidings.base.url_schemes import WEB_SCHEMES, safe_href, scheme_of
from tidings.domain.entries.entries import Enclosure
from tidings.media.policy import MediaKind
from tidings.web.context import RequestContext
from tidings.web.language import _

# Feeds do not declare a type for thumbnails and covers; this one says that they are pictures of some type.
_THUMBNAIL = "image/*"
_CHAPTERS = "application/json+chapters"
_TRANSCRIPTS = frozenset({
    "text/vtt", "text/srt", "application/srt", "application/x-subrip", "application/json", "text/plain",
})  # fmt: skip


class AttachmentView(Struct, frozen=True):
    """An enclosure as the page of its entry shows it."""

    enclosure: Enclosure
    kind: str
    """audio, video, image or file."""
    name: str
    """The enclosure's title, or the last part of its URL."""
    address: str
    """Empty when no page may link to it."""
    media: str = ""
    """The URL from which the page loads it; empty for a file."""
    part: str = ""
    """"chapters" or "transcript" if the file belongs to an episode, else ""."""


class Attachments(Struct, frozen=True):
    """The attachments of an entry, sorted by how the page shows them."""

    players: tuple[AttachmentView, ...] = ()
    """Audio and video."""
    beside_players: tuple[AttachmentView, ...] = ()
    """Chapters and transcripts of the players."""
    pictures: tuple[AttachmentView, ...] = ()
    """Pictures, which do not get separate lines."""
    others: tuple[AttachmentView, ...] = ()
    poster: str = ""
    """URL of the picture that a video shows before it plays; empty for none."""

    @property
    def is_empty(self) -> bool:
        return not (self.players or self.beside_players or self.pictures or self.others)


def attachments(
    context: RequestContext, enclosures: Sequence[Enclosure], content: str, *, has_players: bool
) -> Attachments:
    """Return the attachments of an entry. content: its HTML, as stored.

    has_players: whether audio and video get a player; otherwise they are links.
    """
    shown = frozenset(MediaKind) if has_players else frozenset({MediaKind.IMAGE})
    views = [_view(context, one, shown) for one in enclosures]
    players = tuple(one for one in views if one.kind in ("audio", "video"))
    parts = tuple(one for one in views if one.part) if players or not has_players else ()
    thumbnails = [one for one in views if one.kind == "image" and one.enclosure.mime_type == _THUMBNAIL]
    return Attachments(
        players,
        parts,
        () if players else tuple(one for one in thumbnails if escape(one.address) not in content),
        tuple(one for one in views if one not in players and one not in parts and one not in thumbnails),
        thumbnails[0].media if thumbnails else "",
    )


def _view(context: RequestContext, enclosure: Enclosure, shown: frozenset[MediaKind]) -> AttachmentView:
    """Return an enclosure as the page shows it. shown: kinds that get a player or picture instead of a link."""
    kind = enclosure.mime_type.partition("/")[0]
    path = enclosure.url.partition("?")[0].rstrip("/")
    url = safe_href(enclosure.url)
    known = kind if kind in shown and scheme_of(url) in WEB_SCHEMES else "file"
    media = context.media_address(url, MediaKind(known)) if known != "file" else ""
    return AttachmentView(enclosure, known, path.rpartition("/")[2] or _("Attachment"), url, media, _part(enclosure))


def _part(enclosure: Enclosure) -> str:
    """Return chapters or transcript; "" for anything else."""
    kind = enclosure.mime_type.partition(";")[0].strip().lower()
    if kind == _CHAPTERS:
        return "chapters"
    # Links to players have that type as well.
    is_page = kind == "text/html" and "transcript" in enclosure.url.lower()
    return "transcript" if kind in _TRANSCRIPTS or is_page else ""
