"""Uploads: bodies with a file that is too large for memory, written to disk while they arrive.

    body ─► pieces of 256 kB ─► a form: its parts │ any other body: as it is ─► a file in the folder of uploads

Source: RFC 7578 (multipart/form-data). A handler that keeps the file moves it; the surface removes what is left.
"""

from __future__ import annotations

import asyncio
import errno
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.datastructures import FormData

from tidings.base.errors import ImportRunning, InsufficientStorage, InvalidInput
from tidings.base.messages import msg
from tidings.http import forms
from tidings.http.requests import BodyPace, Request, RequestTooLarge, Upload

# Names of the field with the file, in the API and on pages.
FILE_FIELDS: Final = ("file", "archive")
# The name of a file that is being received; it has no owner yet.
SUFFIX: Final = ".upload"
# Bytes that stay free on the disk, for the database and everything else.
RESERVE: Final = 256 * 2**20
# Slow connections may take hours, idle ones may not.
PACE: Final = BodyPace(limit_s=6 * 3600, grace_s=30, bytes_per_s=8_000)
MAX_CONCURRENT: Final = 4
# Bytes that are written in one call, and bytes of all fields of a form except the file.
_PIECE: Final = 2**18
_MAX_FIELDS_SIZE: Final = 2**16
_MAX_PARTS: Final = 20


class UploadTooLarge(RequestTooLarge):
    code = "upload-too-large"


class UploadFolder:
    """Receives uploads into a folder, one for each user at a time. max_bytes: limit on the whole body."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._sending: set[int] = set()

    async def receive(self, request: Request, user_id: int, pace: BodyPace = PACE) -> Upload | None:
        """Receive the body of a request; the fields of a form become its `form_data`. None if it holds no file.

        Raises UploadTooLarge, ImportRunning if the user sends another file already or too many users do,
        InsufficientStorage, RequestTooSlow, and InvalidInput for a body that ends early or is not a form.
        """
        declared = request.headers.get("content-length", "")
        size = int(declared) if declared.isdecimal() else 0
        with self._slot(user_id):
            self._check_size(size)
            await asyncio.to_thread(self._prepare, size)
            path = self.folder / f"{secrets.token_hex(16)}{SUFFIX}"
            try:
                return await self._receive(request, path, pace)
            except BaseException:
                await asyncio.to_thread(path.unlink, missing_ok=True)
                raise

    def _prepare(self, size: int) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._check_space(size)

    def _check_space(self, size: int) -> None:
        if not has_space(self.folder, size):
            raise _full()

    async def _receive(self, request: Request, path: Path, pace: BodyPace) -> Upload | None:
        with await asyncio.to_thread(path.open, "xb") as file:
            is_form = forms.kind_of(request) == forms.MULTIPART
            sink = _FormSink(file, request.headers["content-type"]) if is_form else _FileSink(file)
            pieces: list[bytes] = []
            size = total = 0
            async for chunk in request.chunks(pace):
                pieces.append(chunk)
                size += len(chunk)
                total += len(chunk)
                self._check_size(total)
                if size >= _PIECE:
                    await asyncio.to_thread(self._write, sink, b"".join(pieces))
                    pieces, size = [], 0
            await asyncio.to_thread(self._write, sink, b"".join(pieces))
        request.form_data = FormData([*sink.finish()])
        if not sink.size:
            await asyncio.to_thread(path.unlink)
            return None
        return Upload(path, sink.name, sink.size)

    def _write(self, sink: _FileSink | _FormSink, piece: bytes) -> None:
        self._check_space(len(piece))
        try:
            sink.write(piece)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise _full() from error
            raise

    def _check_size(self, size: int) -> None:
        if size > self.max_bytes:
            raise UploadTooLarge(msg("This file is too large: {limit} MiB at most.", limit=self.max_bytes // 2**20))

    @contextmanager
    def _slot(self, user_id: int) -> Iterator[None]:
        if user_id in self._sending or len(self._sending) >= MAX_CONCURRENT:
            raise ImportRunning(msg("Another file is being received at the moment: try again when it has arrived."))
        self._sending.add(user_id)
        try:
            yield
        finally:
            self._sending.discard(user_id)


def has_space(folder: Path, size: int = 0) -> bool:
    """Return whether `size` bytes fit on the disk of a folder, and RESERVE is left."""
    return shutil.disk_usage(folder).free >= size + RESERVE


def remove(upload: Upload) -> None:
    """Remove the file of an upload, unless it was moved."""
    with suppress(OSError):
        upload.path.unlink(missing_ok=True)


def _full() -> InsufficientStorage:
    return InsufficientStorage(msg("The disk of the server has too little free space for this file."))


class _FileSink:
    """A body that is the file itself."""

    name = ""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.size = 0

    def write(self, piece: bytes) -> None:
        self._file.write(piece)
        self.size += len(piece)

    def finish(self) -> list[tuple[str, str]]:
        """Return the fields sent with the file."""
        return []


class _FormSink:
    """Receives the parts of a form: one file, and small fields. Raises InvalidInput."""

    def __init__(self, file: IO[bytes], content_type: str) -> None:
        _, options = parse_options_header(content_type[: forms.MAX_CONTENT_TYPE_SIZE])
        self._file = file
        self._fields: list[tuple[str, str]] = []
        self._header_name = bytearray()
        self._header_value = bytearray()
        self._field, self._text = "", bytearray()
        self._collected = self._parts = 0
        self._is_complete = self._has_file = False
        self._is_file = False
        self.name = ""
        self.size = 0
        callbacks: Any = {
            "on_part_begin": self._begin_part,
            "on_part_data": self._take,
            "on_part_end": self._end_part,
            "on_header_field": lambda data, start, end: self._collect(self._header_name, data[start:end]),
            "on_header_value": lambda data, start, end: self._collect(self._header_value, data[start:end]),
            "on_header_end": self._end_header,
            "on_end": self._end,
        }
        try:
            self._parser = MultipartParser(options.get(b"boundary", b""), callbacks)
        except FormParserError as error:
            raise _no_form() from error

    def write(self, piece: bytes) -> None:
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise _no_form() from error

    def finish(self) -> list[tuple[str, str]]:
        if not self._is_complete:
            raise _no_form()
        return self._fields

    def _begin_part(self) -> None:
        self._parts += 1
        if self._parts > _MAX_PARTS:
            raise _no_form()
        self._field, self._is_file = "", False
        self._text.clear()

    def _collect(self, into: bytearray, data: bytes) -> None:
        """Add to what is held in memory, of which all parts together may have so much."""
        self._collected += len(data)
        if self._collected > _MAX_FIELDS_SIZE:
            raise _no_form()
        into += data

    def _end_header(self) -> None:
        if self._header_name.lower() == b"content-disposition":
            _, options = parse_options_header(bytes(self._header_value))
            self._field = options.get(b"name", b"").decode("utf-8", "replace")
            self._is_file = b"filename" in options and self._field in FILE_FIELDS and not self._has_file
            if self._is_file:
                self._has_file = True
                self.name = options[b"filename"].decode("utf-8", "replace")
        self._header_name.clear()
        self._header_value.clear()

    def _take(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self._file.write(data[start:end])
            self.size += end - start
        else:
            self._collect(self._text, data[start:end])

    def _end_part(self) -> None:
        if not self._is_file:
            self._fields.append((self._field, self._text.decode("utf-8", "replace")))

    def _end(self) -> None:
        self._is_complete = True


def _no_form() -> InvalidInput:
    return InvalidInput(msg("This form cannot be read: it is damaged, or has too many fields besides its file."))
