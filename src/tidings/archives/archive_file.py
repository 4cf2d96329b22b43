"""Writes and reads the file of an archive: a ZIP file whose members hold one JSON document, or one line per record."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final, TypeVar, cast

import msgspec
from msgspec import Struct

from tidings.archives import records, salvage
from tidings.archives.records import Manifest
from tidings.archives.salvage import Note
from tidings.base.errors import InvalidInput
from tidings.base.messages import msg

R = TypeVar("R", bound=Struct)

# Bytes. Our records are much shorter; a longer line would fill the memory.
MAX_LINE: Final = 2**28
_BUFFER: Final = 2**16
# Records in which fields of a newer version are looked for: it writes them in all.
_SAMPLE: Final = 20
# Maximum bytes of such a record; a larger one is useless.
_MAX_SAMPLE_LINE: Final = 2**20

# A ZIP file is refused if it unpacks to more than this many times its size: articles shrink to a fifth or so, the zeros
# of a ZIP bomb to a thousandth.
MAX_UNPACKED_RATIO: Final = 100
# Bytes that may always be unpacked, since a small file may repeat itself.
MIN_UNPACKED_BYTES: Final = 2**30

# What `zipfile` raises for a member that is missing, damaged, encrypted or compressed in an unknown way.
ZIP_DAMAGES: Final = (
    KeyError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, NotImplementedError, RuntimeError
)  # fmt: skip


def open_zip(file: IO[bytes] | Path) -> zipfile.ZipFile:
    """Open a ZIP file to read it. Raises InvalidInput if it unpacks to too much, and ZIP_DAMAGES.

    The sizes are those that the file declares: `zipfile` reads no more of a member. Members that share their data are
    counted one by one, as they are read.
    """
    opened = zipfile.ZipFile(file)
    assert opened.fp is not None
    unpacked = sum(member.file_size for member in opened.infolist())
    limit = max(MIN_UNPACKED_BYTES, MAX_UNPACKED_RATIO * opened.fp.seek(0, io.SEEK_END))
    if unpacked > limit:
        opened.close()
        raise InvalidInput(
            msg(
                "This ZIP file unpacks to {size} MB. At most {limit} MB are read: {ratio} times the size of the file, "
                "or {least} MB if that is more.",
                size=_megabytes(unpacked),
                limit=_megabytes(limit),
                ratio=MAX_UNPACKED_RATIO,
                least=_megabytes(MIN_UNPACKED_BYTES),
            )
        )
    return opened


def _megabytes(size_bytes: int) -> int:
    return -(-size_bytes // 2**20)


class ArchiveWriter:
    """Writes an archive to a file, which need not be seekable. The manifest comes last, since it counts the lines."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=4)
        self.counts: dict[str, int] = {}

    def write_document(self, name: str, document: Any) -> None:
        self._zip.writestr(name, msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")

    def write_lines(self, name: str, lines: Iterable[Struct]) -> None:
        for _ in self.each_line(name, lines):
            pass

    def each_line(self, name: str, lines: Iterable[Struct]) -> Iterator[None]:
        """Write a member line by line: yields after each one."""
        encoder = msgspec.json.Encoder()
        count = 0
        with self._zip.open(name, "w", force_zip64=True) as member:
            for count, record in enumerate(lines, 1):  # noqa: B007 - used after the loop
                member.write(encoder.encode(record) + b"\n")
                yield
        self.counts[name] = count

    def close(self) -> None:
        self._zip.close()


class ArchiveReader:
    """An opened archive. Raises InvalidInput if the file is not an archive, is of a later version, or a ZIP bomb."""

    def __init__(self, file: IO[bytes]) -> None:
        try:
            self._zip = open_zip(file)
        except (zipfile.BadZipFile, OSError) as error:
            raise InvalidInput(
                msg("This is not a Tidings archive: it has to be a ZIP file that `tidings export` wrote.")
            ) from error
        self.manifest = self._manifest()

    def document(self, name: str) -> dict[str, Any]:
        """Return the JSON object of a member. Raises InvalidInput."""
        document = self._decoded(name, self._bytes(name), dict[str, Any])
        assert isinstance(document, dict)
        return document

    def lines(self, name: str, kind: type[R], note: Note | None = None) -> Iterator[R]:
        """Yield the records of a member, without optional fields that cannot be used; `note` is called for those.

        Raises InvalidInput, which names the member and the line.
        """
        decoder = msgspec.json.Decoder(kind)
        number = 0
        try:
            # Several times as fast as `readline` of `zipfile`, which is written in Python.
            compressed = cast("zipfile.ZipExtFile", self._zip.open(name))
            with io.BufferedReader(compressed, _BUFFER) as member:
                while line := member.readline(MAX_LINE):
                    number += 1
                    yield _record(decoder, line, f"line {number} of {name}", note)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InvalidInput(
                msg(
                    "Line {line} of {name} in this archive cannot be read: {error}",
                    line=number,
                    name=name,
                    error=str(error),
                )
            ) from error
        except RecursionError as error:
            raise InvalidInput(
                msg("Line {line} of {name} in this archive is nested too deeply.", line=number, name=name)
            ) from error
        except ZIP_DAMAGES as error:
            raise _damaged(name) from error
        if number != self.manifest.counts.get(name):
            raise InvalidInput(
                msg(
                    "{name} in this archive has {count} lines instead of {expected}: the archive is damaged.",
                    name=name, count=number, expected=self.manifest.counts.get(name, 0),
                )
            )  # fmt: skip

    def unknown_members(self) -> list[str]:
        """Return the members that this version does not read."""
        return sorted(set(self._zip.namelist()) - records.MEMBERS)

    def unknown_fields(self, name: str, kind: type[Struct]) -> list[str]:
        """Return the fields of a member's first records that this version does not have."""
        found: set[str] = set()
        try:
            compressed = cast("zipfile.ZipExtFile", self._zip.open(name))
            with io.BufferedReader(compressed, _BUFFER) as member:
                for _ in range(_SAMPLE):
                    document = msgspec.json.decode(member.readline(_MAX_SAMPLE_LINE) or b"{}")
                    found |= set(document) if isinstance(document, dict) else set()
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, *ZIP_DAMAGES):
            # Reading the records says where and why.
            return []
        return sorted(found - set(kind.__struct_fields__))

    def _manifest(self) -> Manifest:
        if records.MANIFEST not in self._zip.namelist():
            raise InvalidInput(msg("This ZIP file is not a Tidings archive: it has no {name}.", name=records.MANIFEST))
        content = self._bytes(records.MANIFEST)
        about = self._decoded(records.MANIFEST, content, dict[str, Any])
        if about.get("format") != records.FORMAT:
            raise InvalidInput(
                msg("This ZIP file is not a Tidings archive: {name} names another format.", name=records.MANIFEST)
            )
        if about.get("version") != records.VERSION:
            raise InvalidInput(
                msg(
                    "This archive has version {version} of the format, and this Tidings reads version {known}: "
                    "upgrade Tidings.",
                    version=str(about.get("version"))[:20], known=records.VERSION,
                )
            )  # fmt: skip
        manifest: Manifest = self._decoded(records.MANIFEST, content, Manifest)
        return manifest

    def _bytes(self, name: str) -> bytes:
        try:
            with self._zip.open(name) as member:
                return member.read(MAX_LINE)
        except ZIP_DAMAGES as error:
            raise _damaged(name) from error

    def _decoded(self, name: str, content: bytes, kind: type[Any]) -> Any:
        try:
            return msgspec.json.decode(content, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InvalidInput(
                msg("{name} in this archive cannot be read: {error}", name=name, error=str(error))
            ) from error
        except RecursionError as error:
            raise InvalidInput(msg("{name} in this archive is nested too deeply.", name=name)) from error


def _record(decoder: msgspec.json.Decoder[R], line: bytes, where: str, note: Note | None) -> R:
    try:
        return decoder.decode(line)
    except msgspec.ValidationError:
        record, left = salvage.record(msgspec.json.decode(line), decoder.type)
    if note is not None:
        for reason in left:
            note(f"{where}: {reason}")
    return record


def _damaged(name: str) -> InvalidInput:
    return InvalidInput(msg("{name} is missing in this archive, or damaged.", name=name))
