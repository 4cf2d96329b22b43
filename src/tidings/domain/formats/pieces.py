"""The texts of a document's entries, by which one sees which of them are as they were, without reading them.

Who publishes an entry leaves the others alone, to the byte. What such a text was read as, the last time, is remembered
with a digest of it; the next document is read without the texts that say nothing new.

    document | cut | Cut: around the entries, and their texts | without those that are known | parse

What is read of an entry depends on its text, on what stands around the entries (`Cut.around`), and, through its hash
alone, on the other entries (`ParsedFeed.is_plain`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from struct import Struct as Layout
from typing import Final, Self

from msgspec import Struct

from tidings.domain.formats.charset import read_source

# More of them are read anew each time: what is remembered has to stay small.
MOST_PIECES: Final = 500

_NAMES: Final = (b"item", b"entry")
_BEHIND_NAME: Final = frozenset((b" ", b">", b"/", b"\t", b"\r", b"\n"))
# The last entry ends so near the end of the document.
_TAIL: Final = 2_000
# Bytes. Usual is less than one kilobyte.
_MOST_AROUND: Final = 64 * 1024
# To look for the end of each takes time that grows with both.
_MOST_COMMENTS: Final = 20
# A feed's own dates, and comments: no entry depends on them, and many publishers write them anew for every reader.
_PASSING: Final = re.compile(rb"<(?:(?:lastBuildDate|pubDate|updated|dc:date)>[^<]*|!--[^\0]*?-->)")

# Of what is remembered: raise it when entries of the same text are read as something else.
_FORM: Final = b"\1"
_DIGEST: Final = 8
_HEAD: Final = Layout("1s16s")
_LINE: Final = Layout(f"{_DIGEST}s32s{_DIGEST}s")


class Piece(Struct, frozen=True):
    """start, end: where its text stands in the document. digest: of the text."""

    start: int
    end: int
    digest: bytes


class Known(Struct, frozen=True):
    """What a text was read as. hash: of the entry. print: the beginning of its fingerprint."""

    hash: bytes
    print: bytes

    @classmethod
    def of(cls, hash_: bytes, fingerprint: bytes) -> Self:
        return cls(hash_, fingerprint[:_DIGEST])

    def is_that_of(self, fingerprint: bytes | None) -> bool:
        return fingerprint is not None and fingerprint[:_DIGEST] == self.print


class Cut(Struct, frozen=True):
    """around: a digest of all that the entries of a document have in common."""

    body: bytes
    around: bytes
    pieces: Sequence[Piece]

    def without(self, digests: Collection[bytes]) -> bytes | None:
        """The document without these texts. None when what stays is not in one piece."""
        kept, at = [], 0
        for piece in self.pieces:
            if piece.digest in digests:
                kept.append(self.body[at : piece.start])
                at = piece.end
            elif not _is_whole(self.body, piece):
                return None
        return b"".join((*kept, self.body[at:]))


def cut(body: bytes, *, url: str, charset: str) -> Cut | None:
    """None for a document that cannot be cut apart, or is not worth it. url, charset: as for `parse`."""
    if read_source(body, charset).utf8 is None:
        return None
    spans = _spans(body)
    if not spans:
        return None
    ends, starts = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(body)]
    texts = [body[end:start] for end, start in zip(ends, starts, strict=True)]
    # However many entries there are: blanks between them say nothing.
    between = b"\0".join([text for text in texts if not text.isspace() and text])
    if len(between) > _MOST_AROUND or between.count(b"<!--") > _MOST_COMMENTS:
        return None
    asked = f"{url}\0{charset}\0".encode("utf-8", "replace")
    around = sha256(asked + _PASSING.sub(b"", between)).digest()[:16]
    pieces = [Piece(start, end, sha256(body[start:end]).digest()[:_DIGEST]) for start, end in spans]
    # Of two that are the same, the second is told from the first by more than its text.
    return Cut(body, around, pieces) if len({piece.digest for piece in pieces}) == len(pieces) else None


def remembered(packed: bytes | None, document: Cut) -> Mapping[bytes, Known]:
    """By digest of their text, what entries were read as. Nothing when something else stood around them."""
    if not packed or packed[: _HEAD.size] != _HEAD.pack(_FORM, document.around):
        return {}
    whole = (len(packed) - _HEAD.size) // _LINE.size * _LINE.size
    lines = _LINE.iter_unpack(memoryview(packed)[_HEAD.size : _HEAD.size + whole])
    return {digest: Known(hash_, print_) for digest, hash_, print_ in lines}


def packed(document: Cut, known: Mapping[bytes, Known]) -> bytes:
    """To be remembered. known: by digest, as far as one may leave them out."""
    lines = [
        _LINE.pack(piece.digest, one.hash, one.print)
        for piece in document.pieces
        if (one := known.get(piece.digest)) is not None
    ]
    return b"".join((_HEAD.pack(_FORM, document.around), *lines))


def _spans(body: bytes) -> list[tuple[int, int]]:
    """From where to where each entry goes. None at all when that is not plain to see."""
    name = next((name for name in _NAMES if body.find(b"</%b>" % name, -_TAIL) >= 0), None)
    if name is None:
        return []
    opening, closing = b"<" + name, b"</%b>" % name
    found: list[tuple[int, int]] = []
    at = 0
    while (start := _start(body, opening, at)) >= 0:
        end = body.find(closing, start) + len(closing)
        if end < start or body.find(closing, at, start) >= 0 or len(found) == MOST_PIECES:
            return []
        found.append((start, end))
        at = end
    return found if body.find(closing, at) < 0 else []


def _start(body: bytes, opening: bytes, at: int) -> int:
    while (at := body.find(opening, at)) >= 0:
        end = at + len(opening)
        # Not those of `items`. What is closed at once has no end tag: the next one's will be taken for it.
        if body[end : end + 1] in _BEHIND_NAME:
            return at
        at = end
    return at


def _is_whole(body: bytes, piece: Piece) -> bool:
    """What stands in a CDATA section may look like tags: the text would then end in the middle of it."""
    start, end = piece.start, piece.end
    return body.count(b"<![CDATA[", start, end) == body.count(b"]]>", start, end)
