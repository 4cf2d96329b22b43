"""Decodes JSON bodies into structs; errors name the field.

Lenient where clients need it (Content-Type is ignored, null means absent, unknown members are ignored), strict where a
guess could do harm (no text for a number, no fraction for an integer): docs/api.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim

T = TypeVar("T", bound=Struct)

# Integers that both database engines can store.
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]

_LOCATED_ERROR = re.compile(r"(?P<reason>.*?) - at `\$\.?(?P<path>[^`]*)`", re.DOTALL)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def decode(body: bytes, shape: type[T]) -> T:
    """Return the decoded body. Raises InvalidInput if it is not a JSON object, or a member has the wrong type."""
    stripped = body.strip(b" \t\r\n")
    if not stripped:
        raise InvalidInput(verbatim("This call needs a JSON object as its body; the body was empty."))
    if stripped == b"null":
        stripped = b"{}"
    try:
        value: T = _decoder(shape).decode(stripped)
    except msgspec.ValidationError as error:
        raise _mismatch(error) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        value = _decode_with_surrogates(stripped, shape, error)
    if b"\\u0000" in stripped:
        _refuse_nul(value)
    return value


def decode_object(body: bytes) -> dict[str, Any]:
    """Like `decode`, for an object whose members the caller checks."""
    anything: Any = dict[str, Any]
    value: dict[str, Any] = decode(body, anything)
    return value


def sent(body: Struct) -> dict[str, Any]:
    """Return the members that were sent; null counts as not sent."""
    values = ((name, getattr(body, name)) for name in body.__struct_fields__)
    return {name: value for name, value in values if value is not None and value is not UNSET}


@cache
def _decoder(shape: type[T]) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(shape)


def _decode_with_surrogates(body: bytes, shape: type[T], error: Exception) -> T:
    """Decode a body with unpaired surrogates, which some clients send for truncated emoji, as U+FFFD."""
    try:
        # Decoded here, because `json` would guess the encoding, and accept UTF-16 and a byte order mark.
        value = json.loads(body.decode("utf-8", "surrogatepass"), parse_constant=_refuse_constant)
        return msgspec.convert(_without_surrogates(value), shape)
    except msgspec.ValidationError as mismatch:
        raise _mismatch(mismatch) from mismatch
    except (ValueError, RecursionError):
        raise InvalidInput(verbatim(f"The body is not valid JSON: {error}.")) from error


def _refuse_constant(name: str) -> None:
    """Refuse NaN and Infinity, which `json` reads, but which are not JSON (RFC 8259, section 6)."""
    raise ValueError(name)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(name): _without_surrogates(item) for name, item in value.items()}
    return value


def _mismatch(error: msgspec.ValidationError) -> InvalidInput:
    match = _LOCATED_ERROR.fullmatch(str(error))
    if match is None:
        return InvalidInput(verbatim(f"The body does not fit: {error}."))
    field = match["path"]
    return InvalidInput(verbatim(f"{field or 'body'}: {match['reason'].replace('`', '')}."), field=field)


def _refuse_nul(value: Any) -> None:
    if field := next(_fields_with_nul(value, ""), None):
        raise InvalidInput(verbatim(f"{field} holds a NUL character: remove it."), field=field)


def _fields_with_nul(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, str):
        if "\0" in value:
            yield name
    elif isinstance(value, list):
        for item in value:
            yield from _fields_with_nul(item, name)
    elif isinstance(value, Struct):
        for member in value.__struct_fields__:
            yield from _fields_with_nul(getattr(value, member), member)
