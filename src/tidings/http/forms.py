"""Fields and files of a form, from a body that has been read.

Source: RFC 7578 (multipart/form-data). The limits are our own, since the headers of a part are parsed byte by byte.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Coroutine

from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.http.requests import Request, parse_pairs

MULTIPART = "multipart/form-data"
# A client of the Google Reader API sends up to 10,000 ids in one request, and a few fields more.
MAX_FIELDS = 20_000
MAX_PARTS = 100
# Bytes of the headers of one part, and of the Content-Type of the request, which contains the boundary.
MAX_PART_HEADERS_SIZE = 8_000
MAX_CONTENT_TYPE_SIZE = 1_000
_CHUNK = 2**16


def kind_of(request: Request) -> str:
    """Return the media type of the body, in lower case and without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def fields(request: Request) -> list[tuple[str, str]]:
    """Return names and values in the order sent, without files.

    Raises InvalidInput for a body that is not a form or not UTF-8, and for NUL characters.
    """
    # Browsers send line breaks of texts as CRLF.
    items = read(request).multi_items()
    pairs = [(name, value.replace("\r\n", "\n")) for name, value in items if isinstance(value, str)]
    if bad := next((name for name, value in pairs if "\0" in name + value), None):
        raise InvalidInput(msg("{bad} holds a NUL character: remove it.", bad=repr(bad)), field=bad)
    return pairs


def file(request: Request, name: str) -> bytes | None:
    """Return the content of a field or uploaded file; None if the form has no such field."""
    match read(request).get(name):
        case UploadFile() as upload:
            upload.file.seek(0)
            return upload.file.read()
        case str() as text:
            return text.encode()
    return None


def read(request: Request) -> FormData:
    """Parse the body, once per request. Raises InvalidInput unless it is a form."""
    if request.form_data is None:
        is_multipart = kind_of(request) == MULTIPART
        request.form_data = _multipart(request) if is_multipart else _urlencoded(request.content)
    return request.form_data


def _urlencoded(body: bytes) -> FormData:
    try:
        return FormData([*parse_pairs(body, MAX_FIELDS)])
    except UnicodeDecodeError as error:
        raise InvalidInput(msg("This form cannot be read: it has to be UTF-8 text.")) from error


def _multipart(request: Request) -> FormData:
    try:
        return _finished(_Parser(request.headers["content-type"], request.content).parse())
    except MultiPartException as error:
        raise InvalidInput(
            msg(
                "This form cannot be read: it is damaged, has more than {max} parts, "
                "or a part with more than {size} kB of headers.",
                max=MAX_PARTS,
                size=MAX_PART_HEADERS_SIZE // 1000,
            )
        ) from error


def _finished(parsing: Coroutine[None, None, FormData]) -> FormData:
    """Return the result of a coroutine that waits for nothing.

    The parser is asynchronous because of files on disk; here all is in memory. asyncio.run() would refuse to work in a
    thread that has an event loop, in which asynchronous handlers read their forms.
    """
    try:
        parsing.send(None)
    except StopIteration as done:
        form: FormData = done.value
        return form
    raise AssertionError("the parser of forms waited for something")


class _Parser(MultiPartParser):
    # 0: nothing is written to disk. The size of the body was limited when it was read.
    spool_max_size = 0

    def __init__(self, content_type: str, body: bytes) -> None:
        if len(content_type) > MAX_CONTENT_TYPE_SIZE:
            raise MultiPartException("boundary")
        headers = Headers({"content-type": content_type})
        super().__init__(headers, _stream(body), max_part_size=len(body))
        self._parts = 0
        self._header_size = 0

    def on_part_begin(self) -> None:
        super().on_part_begin()
        self._header_size = 0
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise MultiPartException("parts")

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._count(end - start)
        super().on_header_field(data, start, end)

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._count(end - start)
        super().on_header_value(data, start, end)

    def _count(self, size: int) -> None:
        self._header_size += size
        if self._header_size > MAX_PART_HEADERS_SIZE:
            raise MultiPartException("headers")


async def _stream(body: bytes) -> AsyncGenerator[bytes, None]:
    for start in range(0, len(body), _CHUNK):
        yield body[start : start + _CHUNK]
