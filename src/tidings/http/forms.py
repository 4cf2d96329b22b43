"""Fields and files of a form, from a body that was read before.

Source: RFC 7578 (multipart/form-data). Its limits are ours: the headers of a part are parsed byte by byte.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from urllib.parse import parse_qsl

from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from tidings.domain.errors import InvalidInput
from tidings.domain.messages import msg
from tidings.http.requests import Request

MULTIPART = "multipart/form-data"
MOST_FIELDS = 10_000
MOST_PARTS = 100
# Bytes of the headers of one part, and of the Content-Type of the request, which names the boundary.
LARGEST_PART_HEADERS = 8_000
LARGEST_CONTENT_TYPE = 1_000
_CHUNK = 2**16


def kind_of(request: Request) -> str:
    """The media type of the body."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def fields(request: Request) -> list[tuple[str, str]]:
    """Return names and values in the order sent, files left out. InvalidInput for no form, no UTF-8, or NUL."""
    # Browsers send line breaks of texts as CRLF.
    sent = read(request).multi_items()
    pairs = [(name, value.replace("\r\n", "\n")) for name, value in sent if isinstance(value, str)]
    if bad := next((name for name, value in pairs if "\0" in name + value), None):
        raise InvalidInput(msg("{bad} holds a NUL character: remove it.", bad=repr(bad)), field=bad)
    return pairs


def file(request: Request, name: str) -> bytes | None:
    """Return what was uploaded under that name; None when the form has no such field."""
    match read(request).get(name):
        case UploadFile() as upload:
            upload.file.seek(0)
            return upload.file.read()
        case str() as text:
            return text.encode()
    return None


def read(request: Request) -> FormData:
    """Parse the body once. InvalidInput unless it is a form."""
    if request.form_data is None:
        is_multipart = kind_of(request) == MULTIPART
        request.form_data = _multipart(request) if is_multipart else _urlencoded(request.content)
    return request.form_data


def _urlencoded(body: bytes) -> FormData:
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise InvalidInput(msg("This form cannot be read: it has to be UTF-8 text.")) from error
    return FormData([*pairs])


def _multipart(request: Request) -> FormData:
    try:
        # The parser is asynchronous for files on disk; here everything is in memory, and this is a thread of its own.
        return asyncio.run(_Parser(request.headers["content-type"], request.content).parse())
    except MultiPartException as error:
        raise InvalidInput(
            msg(
                "This form cannot be read: it is damaged, has more than {most} parts, "
                "or a part with more than {size} kB of headers.",
                most=MOST_PARTS,
                size=LARGEST_PART_HEADERS // 1000,
            )
        ) from error


class _Parser(MultiPartParser):
    # 0: nothing is written to disk. The size of the body was limited when it was read.
    spool_max_size = 0

    def __init__(self, content_type: str, body: bytes) -> None:
        if len(content_type) > LARGEST_CONTENT_TYPE:
            raise MultiPartException("boundary")
        headers = Headers({"content-type": content_type})
        super().__init__(headers, _stream(body), max_part_size=len(body))
        self._parts = 0
        self._header_size = 0

    def on_part_begin(self) -> None:
        super().on_part_begin()
        self._header_size = 0
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise MultiPartException("parts")

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._count(end - start)
        super().on_header_field(data, start, end)

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._count(end - start)
        super().on_header_value(data, start, end)

    def _count(self, size: int) -> None:
        self._header_size += size
        if self._header_size > LARGEST_PART_HEADERS:
            raise MultiPartException("headers")


async def _stream(body: bytes) -> AsyncGenerator[bytes, None]:
    for start in range(0, len(body), _CHUNK):
        yield body[start : start + _CHUNK]
