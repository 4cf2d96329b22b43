"""What a form sends: names and values, and files."""

from __future__ import annotations

from email.message import Message
from email.parser import BytesParser
from urllib.parse import parse_qsl

from tidings.domain.errors import InvalidInput
from tidings.http.requests import Request

URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
MOST_FIELDS = 10_000


def kind_of(request: Request) -> str:
    """The media type of the body."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def fields(request: Request) -> list[tuple[str, str]]:
    """Names and values in the order sent, files left out. InvalidInput for what is no form, no UTF-8, or NUL."""
    if kind_of(request) == MULTIPART:
        pairs = [(name, _text(part)) for name, part in _parts(request) if part.get_filename() is None]
    else:
        pairs = _urlencoded(request.body)
    if bad := next((name for name, value in pairs if "\0" in name + value), None):
        raise InvalidInput(f"{bad!r} holds a NUL character: remove it.", field=bad)
    return pairs


def file(request: Request, name: str) -> bytes | None:
    """What was uploaded under that name; None when the form has no such field."""
    for field, part in _parts(request):
        if field == name:
            return _content(part)
    return None


def _urlencoded(body: bytes) -> list[tuple[str, str]]:
    try:
        # Browsers send line breaks of texts as CRLF.
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise InvalidInput("This form cannot be read: it has to be UTF-8 text.") from error
    return [(name, value.replace("\r\n", "\n")) for name, value in pairs]


def _parts(request: Request) -> list[tuple[str, Message]]:
    head = b"Content-Type: " + request.headers.get("content-type", "").encode("latin-1", "replace") + b"\r\n\r\n"
    form = BytesParser(_FormMessages()).parsebytes(head + request.body)
    found = []
    for part in form.get_payload() if form.is_multipart() else ():
        name = part.get_param("name", header="content-disposition") if isinstance(part, Message) else None
        if isinstance(part, Message) and isinstance(name, str):
            found.append((name, part))
    return found


def _content(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _text(part: Message) -> str:
    try:
        return _content(part).decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InvalidInput("This form cannot be read: it has to be UTF-8 text.") from error


class _Leaf(Message):
    """A part of a form is a file, whatever it says: it is not taken apart any further."""

    def get_content_type(self) -> str:
        return "application/octet-stream"


class _FormMessages:
    """Makes the form first, then its parts. Without parameters, because the parser tries out any that has some."""

    def __init__(self) -> None:
        self._is_form_made = False

    def __call__(self) -> Message:
        kind = _Leaf if self._is_form_made else Message
        self._is_form_made = True
        return kind()
