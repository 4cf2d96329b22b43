"""Takes the items of a long JSON array out of its document one by one, so that memory does not grow with it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, TypeVar

import msgspec

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim

# Bytes. An article with its pictures inside is far below; a larger item would fill the memory.
MAX_ITEM: Final = 2**26
_CHUNK: Final = 2**16
# A string without its end matches as a quote alone.
_TOKEN: Final = re.compile(rb'[\s]*+("(?:[^"\\]++|\\.)*+"|[\[\]{}:,"]|[^\s\[\]{}:,"]++|\Z)', re.DOTALL)
# Faster inside an item, where only its end matters.
_BRACKET: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}"]', re.DOTALL)
_BYTE: Final = re.compile(r"\(byte (\d+)\)")

T = TypeVar("T")


class JsonItems:
    """The objects in the array `name` of the document's object, or in the array that is the document.

    chunks: the document, in pieces of any size. header: texts next to the array that were read so far, by name.
    """

    def __init__(self, chunks: Iterable[bytes], name: str) -> None:
        self.header: dict[str, str] = {}
        self.has_array = False
        self._chunks = iter(chunks)
        self._name = name
        self._buffer = b""
        self._at = 0
        # The line of a position in the buffer, so that each line end is counted once.
        self._line = 1
        self._counted = 0
        self._last = b""

    def each(self, kind: type[T]) -> Iterator[tuple[int, T]]:
        """Yield each item with the line in which it begins; nothing if the array is missing.

        Raises InvalidInput, which names the line, for a document that is truncated or has another form.
        """
        decoder = msgspec.json.Decoder(kind)
        for line, item in self._items():
            try:
                decoded = decoder.decode(item)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                if found := _BYTE.search(str(error)):
                    line += item.count(b"\n", 0, int(found[1]))
                raise InvalidInput(verbatim(f"line {line}: {error}")) from error
            yield line, decoded

    def items_if_present(self, kind: type[T]) -> Iterator[T] | None:
        """Return the items, None if the array is missing. Reads up to the first one. Raises like `each`."""
        remaining = self.each(kind)
        first = next(remaining, None)
        if not self.has_array:
            return None
        return (item for _, item in chain(() if first is None else (first,), remaining))

    def _items(self) -> Iterator[tuple[int, bytes]]:
        self._fill(0)
        if self._buffer.startswith(codecs.BOM_UTF8):
            self._at = len(codecs.BOM_UTF8)
        match self._token():
            case b"[":
                yield from self._array()
            case b"{":
                yield from self._object()
            case _:
                raise self._unexpected("a JSON document with a list of entries")
        if self._token():
            raise self._unexpected("the end of the document")

    def _object(self) -> Iterator[tuple[int, bytes]]:
        """Read the members of the document's object; yields the items of the array."""
        token = self._token()
        while token != b"}":
            name = self._text(token)
            self._expect(b":")
            value = self._token()
            if value == b"[" and name == self._name:
                yield from self._array()
            elif value in (b"[", b"{"):
                self._skip()
            elif value.startswith(b'"'):
                self.header[name] = self._text(value)
            if (token := self._token()) == b",":
                token = self._token()
            elif token != b"}":
                raise self._unexpected("a comma or the end of the object")

    def _array(self) -> Iterator[tuple[int, bytes]]:
        """Yield the items of an array that has begun, up to its end."""
        self.has_array = True
        token = self._token()
        while token != b"]":
            if token != b"{":
                raise self._unexpected("an object for each entry")
            yield self._value()
            if (token := self._token()) == b",":
                token = self._token()
            elif token != b"]":
                raise self._unexpected("a comma or the end of the list")

    def _value(self) -> tuple[int, bytes]:
        """Return the object whose opening bracket was read, and the line in which it begins."""
        begin, depth = self._at - 1, 1
        while depth:
            found = _BRACKET.search(self._buffer, self._at)
            if found is None or found[0] == b'"':
                self._at = len(self._buffer) if found is None else found.start()
                begin -= self._more(begin)
                continue
            self._at = found.end()
            depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(found[0], 0)
        return self._line_at(begin), self._buffer[begin : self._at]

    def _skip(self) -> None:
        """Read to the end of an object or array whose opening bracket was read."""
        self._value()

    def _token(self) -> bytes:
        """Return the next token, b"" at the end of the document."""
        while True:
            found = _TOKEN.match(self._buffer, self._at)
            # A token at the end of the buffer may continue after it.
            if found is not None and found[1] != b'"' and found.end() < len(self._buffer):
                break
            if not self._fill(self._at):
                break
        if found is None or found[1] == b'"':
            raise self._broken_off()
        self._at = found.end()
        self._last = found[1]
        return self._last

    def _text(self, token: bytes) -> str:
        try:
            return msgspec.json.decode(token, type=str)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._unexpected("a text in quotes") from error

    def _expect(self, token: bytes) -> None:
        if self._token() != token:
            raise self._unexpected(token.decode())

    def _more(self, keep: int) -> int:
        """Read more of a document that must continue. Returns by how much positions have moved."""
        if len(self._buffer) - keep > MAX_ITEM:
            raise InvalidInput(
                verbatim(f"line {self._line_at(keep)}: expected are entries of {MAX_ITEM // 2**20} MB at most")
            )
        if not self._fill(keep):
            raise self._broken_off()
        return keep

    def _fill(self, keep: int) -> bool:
        """Append to the buffer and drop what is before `keep`. Returns whether there was more.

        It grows by its own length, so that a long text is searched a few times only.
        """
        size, pieces = 0, []
        while size < max(_CHUNK, len(self._buffer) - keep) and (piece := next(self._chunks, b"")):
            pieces.append(piece)
            size += len(piece)
        if size:
            self._line = self._line_at(keep)
            self._counted = 0
            self._buffer = b"".join((self._buffer[keep:], *pieces))
            self._at -= keep
        return size > 0

    def _line_at(self, position: int) -> int:
        if position < self._counted:
            return self._line - self._buffer.count(b"\n", position, self._counted)
        self._line += self._buffer.count(b"\n", self._counted, position)
        self._counted = position
        return self._line

    def _unexpected(self, expected: str) -> InvalidInput:
        if not self._last:
            return self._broken_off()
        return InvalidInput(verbatim(f"line {self._line_at(self._at)}: expected {expected}"))

    def _broken_off(self) -> InvalidInput:
        line = self._line_at(len(self._buffer.rstrip()))
        return InvalidInput(verbatim(f"line {line}: the document breaks off before its end"))
