"""Responses as publishers send them: bodies that are compressed, cut off or far too large, and headers written wrongly.

Bodies are decompressed while they are received, and aborted as soon as they exceed the size limit:

    wire ── one stage for each Content-Encoding, last named first ── gzip that no header declares ── body

The header may be wrong, so a stage looks at the bytes first: data that is not in the declared encoding passes through
unchanged.

Headers say how long a response is fresh (Cache-Control, Expires, Age, Date), when to ask again (Retry-After), and what
belongs to it (Link). A value that cannot be parsed counts as absent, with one exception: freshness that is given but
invalid counts as "stale now", as RFC 9111 asks (section 4.2.1).

Cookies last for one chain of redirects. Some sites redirect the first request to a page that sets a cookie and
redirects back; without the cookie this never ends. Nothing is kept for the next request: cookies that last would let
publishers track readers.
"""

from __future__ import annotations

import math
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Protocol, TypeAlias
from urllib.parse import urljoin

import aiohttp
import brotli
from msgspec import Struct

from tidings.base.messages import msg
from tidings.base.times import SECOND, Instant, from_datetime
from tidings.net.errors import BodyTooLarge, UndecodableBody
from tidings.net.guard import Target

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# Bodies

ACCEPT_ENCODING = "br, gzip, deflate, zstd"

# Bytes that one step of decompression may yield; it bounds the memory that a decompression bomb takes before the limit
# is checked.
_STEP = 64 * 1024
# Real responses have one or two encodings; many would be another kind of decompression bomb.
_MAX_STAGES = 4
# Compressed streams (members of gzip, frames of zstd) in one body. Twenty bytes can be a stream that holds nothing, and
# each needs a decompressor. Servers that compress each piece of a page alone send several thousand.
MAX_STREAMS = 10_000

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# First bytes of plain JSON. A raw deflate stream may begin with them too, but not a usual document's.
_PLAIN_STARTS = (b"{", b"[", b"\n")
# RFC 9659: windows above 8 MB are not allowed on the web.
_ZSTD_WINDOW: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}


class _CorruptError(Exception):
    """The compressed data is invalid."""


class _TooManyStreamsError(Exception):
    """The body has more than MAX_STREAMS compressed streams."""


class Decompressor(Protocol):
    """One compressed stream. is_done: its end was reached. rest: the bytes after the end."""

    @property
    def is_done(self) -> bool: ...
    @property
    def rest(self) -> bytes: ...
    def decompress(self, data: bytes) -> Iterator[bytes]:
        """Yield pieces of at most _STEP bytes. Raises _CorruptError for invalid data."""


# Takes data. Returns a piece of at most _STEP bytes, the data that is left, and whether the stream ended or needs more.
Step: TypeAlias = Callable[[bytes], tuple[bytes, bytes, bool]]


def _pieces(step: Step, data: bytes, damage: type[Exception]) -> Iterator[bytes]:
    """Yield what a stream makes of the data, in pieces of at most _STEP bytes.

    damage: what `step` raises for invalid data. Raises _CorruptError for that.
    """
    try:
        is_done = False
        while not is_done:
            piece, data, is_done = step(data)
            if piece:
                yield piece
    except damage as error:
        raise _CorruptError from error


class _Zlib:
    """Decompresses a body with zlib.

    window: the `wbits` of zlib, which selects the format: 31 gzip, 15 zlib, -15 raw deflate.
    """

    def __init__(self, window: int) -> None:
        self._stream = zlib.decompressobj(window)

    @property
    def is_done(self) -> bool:
        return self._stream.eof

    @property
    def rest(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes) -> Iterator[bytes]:
        return _pieces(self._step, data, zlib.error)

    def _step(self, data: bytes) -> tuple[bytes, bytes, bool]:
        piece = self._stream.decompress(data, _STEP)
        # At the end, it repeats what `unused_data` has.
        left = self._stream.unconsumed_tail
        return piece, left, self._stream.eof or (not left and len(piece) < _STEP)


class _Brotli:
    rest = b""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    @property
    def is_done(self) -> bool:
        return bool(self._stream.is_finished())

    def decompress(self, data: bytes) -> Iterator[bytes]:
        return _pieces(self._step, data, brotli.error)

    def _step(self, data: bytes) -> tuple[bytes, bytes, bool]:
        piece = self._stream.process(data, output_buffer_limit=_STEP)
        return piece, b"", self.is_done or (not piece and self._stream.can_accept_more_data())


class _Zstd:
    def __init__(self) -> None:
        self._stream = zstd.ZstdDecompressor(options=_ZSTD_WINDOW)

    @property
    def is_done(self) -> bool:
        return self._stream.eof

    @property
    def rest(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes) -> Iterator[bytes]:
        return _pieces(self._step, data, zstd.ZstdError)

    def _step(self, data: bytes) -> tuple[bytes, bytes, bool]:
        piece = self._stream.decompress(data, _STEP)
        return piece, b"", self._stream.eof or self._stream.needs_input


class _StreamBudget:
    """Counts the compressed streams of a body, in all its stages."""

    def __init__(self) -> None:
        self._left = MAX_STREAMS

    def spend(self) -> None:
        """Count one more stream. Raises _TooManyStreamsError beyond the limit."""
        self._left -= 1
        if self._left < 0:
            raise _TooManyStreamsError


class _Stage:
    """Decodes one Content-Encoding.

    The input is kept until the first decompressed byte, so that the stage can still pass all of it through unchanged.
    """

    def __init__(self, name: str, streams: _StreamBudget) -> None:
        self._name = name
        self._streams = streams
        self._decompressor: Decompressor | None = None
        self._is_plain = False
        self._kept: bytes | None = b""
        # The bytes after the end of a stream, until they are enough to recognize another stream.
        self._after = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._is_plain:
            yield data
            return
        if self._kept is not None:
            self._kept += data
        if self._decompressor is None:
            if self._kept is None or len(self._kept) < len(_ZSTD_MAGIC):
                return
            data = self._kept
            self._decompressor = _decompressor_for(self._name, data)
        yield from self._decompress(data)

    def finish(self) -> Iterator[bytes]:
        """Yield the remaining bytes. Raises _CorruptError if the compressed stream is truncated."""
        if self._decompressor is None and self._kept and not self._is_plain:
            self._decompressor = _decompressor_for(self._name, self._kept)
            yield from self._decompress(self._kept)
        if self._is_plain or (self._decompressor is not None and self._decompressor.is_done):
            return
        if self._kept is None:
            raise _CorruptError
        yield self._kept

    def _decompress(self, data: bytes) -> Iterator[bytes]:
        try:
            for piece in self._decompress_streams(data):
                self._kept = None
                yield piece
        except _CorruptError:
            if self._kept is None:
                raise
            self._is_plain = True
            yield self._kept
        if self._kept is not None and len(self._kept) > _STEP:
            self._kept = None

    def _decompress_streams(self, data: bytes) -> Iterator[bytes]:
        """Yield the data of consecutive compressed streams; other bytes after the end are padding and dropped."""
        while data:
            if self._decompressor is None:
                raise _CorruptError
            if self._decompressor.is_done:
                data = self._after = self._after + data
                following = _decompressor_for("", data)
                if following is None:
                    self._after = data[: len(_ZSTD_MAGIC)]
                    return
                self._streams.spend()
                self._decompressor, self._after = following, b""
            yield from self._decompressor.decompress(data)
            data = self._decompressor.rest if self._decompressor.is_done else b""


def _decompressor_for(name: str, start: bytes) -> Decompressor | None:
    """Return the decompressor for data that begins with `start`; None if it is not in the encoding `name`."""
    if start.startswith(_GZIP_MAGIC):
        return _Zlib(31)
    if start.startswith(_ZSTD_MAGIC):
        return _Zstd()
    if name == "br":
        return _Brotli()
    if name == "deflate":
        # It should have the zlib format, but some servers send raw deflate. RFC 9110, section 8.4.1.2.
        if start[0] & 0x0F == 8 and int.from_bytes(start[:2]) % 31 == 0:
            return _Zlib(15)
        if not start.startswith(_PLAIN_STARTS):
            return _Zlib(-15)
    return None


class BodyReader:
    """Takes the received bytes and returns the decompressed body.

    content_encoding: the header. limit: bytes, before, between and after the stages.
    """

    def __init__(self, content_encoding: str, *, limit: int, url: str = "") -> None:
        names = [name.strip().lower() for name in content_encoding.split(",")]
        encodings = [name.removeprefix("x-") for name in reversed(names) if name and name != "identity"]
        self._url = url
        if len(encodings) > _MAX_STAGES:
            raise self._undecodable()
        # Unknown names, such as "utf-8" or "none", are errors of the server and ignored.
        known = [name for name in encodings if name in {"gzip", "deflate", "br", "zstd"}]
        streams = _StreamBudget()
        self._stages = [_Stage(name, streams) for name in [*known, "gzip"]]
        self._counts = [0] * (len(self._stages) + 1)
        self._limit = limit
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> None:
        """Add received bytes. Raises BodyTooLarge beyond the limit, and UndecodableBody for invalid data."""
        try:
            # A decompressor copies what follows the end of its stream: in small steps, so that this stays cheap.
            for start in range(0, len(data), _STEP):
                self._feed_stage(0, data[start : start + _STEP])
        except _CorruptError as error:
            raise self._undecodable() from error
        except _TooManyStreamsError as error:
            raise self._too_many_streams() from error

    def finish(self) -> bytes:
        """Return the whole body. Raises UndecodableBody if a compressed stream is truncated."""
        try:
            for number, stage in enumerate(self._stages):
                for piece in stage.finish():
                    self._feed_stage(number + 1, piece)
        except _CorruptError as error:
            raise self._undecodable() from error
        except _TooManyStreamsError as error:
            raise self._too_many_streams() from error
        return b"".join(self._pieces)

    def check_announced(self, size: int) -> None:
        """Raise BodyTooLarge if the announced size exceeds the limit. size: bytes, 0 if not announced."""
        if size > self._limit:
            raise self._too_large()

    def _feed_stage(self, number: int, data: bytes) -> None:
        """Feeds data to a stage; behind the last stage it is part of the body."""
        self._counts[number] += len(data)
        if self._counts[number] > self._limit:
            raise self._too_large()
        if number == len(self._stages):
            self._pieces.append(data)
            return
        for piece in self._stages[number].feed(data):
            self._feed_stage(number + 1, piece)

    def _too_large(self) -> BodyTooLarge:
        return BodyTooLarge(
            msg(
                "The response is larger than the limit of {size}. The operator can raise that limit.",
                size=_format_size(self._limit),
            ),
            url=self._url,
        )

    def _undecodable(self) -> UndecodableBody:
        return UndecodableBody(
            msg(
                "The response of the publisher cannot be decompressed. The publisher has to fix this; try again later."
            ),
            url=self._url,
        )

    def _too_many_streams(self) -> UndecodableBody:
        return UndecodableBody(
            msg(
                "The response consists of more than {limit} compressed pieces. The publisher has to fix this.",
                limit=MAX_STREAMS,
            ),
            url=self._url,
        )


def _format_size(size: int) -> str:
    if size >= 1024 * 1024:
        return f"{size / (1024 * 1024):g} MiB"
    return f"{size / 1024:g} KiB" if size >= 1024 else f"{size} bytes"


# Headers

# RFC 9111, section 1.2.2: larger values may be read as this one; about 68 years.
MAX_SECONDS = 2**31

# Characters. Real headers are shorter, and an attacker could make the parsing of longer ones slow.
_MAX_HEADER_CHARS = 4096

# name, name=token or name="quoted"; commas inside quotes do not separate.
_DIRECTIVE = re.compile(r'\s*([\w-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?[^,]*,?', re.ASCII)

_LINK = re.compile(r"<([^<>]*)>((?:[^,<\"]|\"(?:[^\"\\]|\\.)*\")*)")
_LINK_PARAMETER = re.compile(r";\s*(rel|type|title|sizes)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;,\"]+))", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)")


class Link(Struct, frozen=True):
    """One target of a Link header."""

    url: str
    """An absolute URL."""
    rel: str
    """A single relation, in lower case."""
    type: str = ""
    """The media type, as written."""
    title: str = ""
    sizes: str = ""
    """The sizes of an icon."""


def freshness_s(
    *, cache_control: str = "", expires: str = "", age: str = "", date: str = "", now: Instant
) -> int | None:
    """Return for how many more seconds the response is fresh; None if the headers do not say.

    max-age wins over Expires; Age is subtracted; no-cache and no-store mean 0. Expires is measured from the
    publisher's own Date if that is present, so that a wrong clock on either side does not matter.
    `s-maxage` is ignored: it is meant for caches that the publisher can purge.
    Source: RFC 9111, sections 4.2.1 and 5.2.2.
    """
    directives = _directives(cache_control)
    if "no-cache" in directives or "no-store" in directives:
        return 0
    if "max-age" in directives:
        lifetime = _delta_s(directives["max-age"]) or 0
    elif expires.strip():
        lifetime = _lifetime_s(expires, date, now)
    else:
        return None
    return max(0, lifetime - (_delta_s(age) or 0))


def retry_after_s(value: str, now: Instant) -> int | None:
    """Return the seconds to wait by a Retry-After header, 0 for a date in the past; None if it cannot be parsed.

    Source: RFC 9110, section 10.2.3. Fractions of a second, which some servers send, are rounded up.
    """
    if (seconds := _delta_s(value)) is not None:
        return seconds
    moment = http_date(value)
    return None if moment is None else _seconds_between(now, moment)


def http_date(value: str) -> Instant | None:
    """Return the parsed date; None if it cannot be parsed.

    Accepts all three formats of RFC 9110, section 5.6.7, and the variants that `email.utils` accepts.
    """
    try:
        moment = parsedate_to_datetime(value.strip())
        return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def wants_no_validators(expires: str) -> bool:
    """Return whether the publisher asks for unconditional requests, by `Expires: 0` (docs/polling.md)."""
    return expires.strip() == "0"


def parse_links(value: str, base_url: str) -> tuple[Link, ...]:
    """Return the targets of a Link header, in order, one for each relation. Source: RFC 8288."""
    links = []
    for target, parameters in _LINK.findall(value[:_MAX_HEADER_CHARS]):
        values: dict[str, str] = {}
        for name, quoted, token in _LINK_PARAMETER.findall(parameters):
            # The first `rel` counts, RFC 8288 says.
            values.setdefault(name.lower(), _ESCAPED.sub(r"\1", quoted) or token)
        url = _resolve(base_url, target.strip())
        if url:
            relations = values.pop("rel", "").lower().split()
            links += [Link(url, relation, **values) for relation in relations]
    return tuple(links)


def _directives(cache_control: str) -> dict[str, str]:
    """Return the directives by name in lower case. A repeated one keeps its first value, as RFC 9111 allows."""
    directives: dict[str, str] = {}
    for name, quoted, token in _DIRECTIVE.findall(cache_control[:_MAX_HEADER_CHARS]):
        directives.setdefault(name.lower(), quoted or token)
    return directives


def _delta_s(value: str) -> int | None:
    """Return a number of seconds, at most MAX_SECONDS; None if the value is not a number."""
    value = value.strip()
    if not re.fullmatch(r"\d+(\.\d*)?", value, re.ASCII):
        return None
    # Longer numbers exceed the limit anyway, and Python refuses to convert several thousand digits.
    return MAX_SECONDS if len(value) > 15 else min(math.ceil(float(value)), MAX_SECONDS)


def _lifetime_s(expires: str, date: str, now: Instant) -> int:
    moment = http_date(expires)
    if moment is None:
        return 0
    sent = http_date(date) if date else None
    return _seconds_between(now if sent is None else sent, moment)


def _seconds_between(start: Instant, end: Instant) -> int:
    return min(max(0, math.ceil((end - start) / SECOND)), MAX_SECONDS)


def _resolve(base_url: str, target: str) -> str:
    try:
        return urljoin(base_url, target)
    except ValueError:
        return ""


def header(response: aiohttp.ClientResponse, name: str) -> str:
    """Return the first header of this name; "" if there is none."""
    return clean(response.headers.get(name, ""))


def joined_header(response: aiohttp.ClientResponse, name: str) -> str:
    """Return all headers of this name as one list with commas; "" if there are none."""
    return clean(", ".join(response.headers.getall(name, [])))


def clean(value: str) -> str:
    """Return the value of a header without lone surrogates, which neither databases nor headers can hold.

    Raw bytes that are not UTF-8 arrive as such; they are read as Latin-1.
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape").decode("latin-1")
    return value


# Cookies

# Cookies of one chain, characters of one of them, and of all that a request sends. RFC 6265, section 6.1, asks clients
# to accept the first two.
_MAX_COOKIES: Final = 50
_MAX_COOKIE: Final = 4096
_MAX_HEADER: Final = 8192


class _Cookie(Struct, frozen=True):
    """A cookie and where it is sent."""

    pair: str
    """name=value, as it was received."""
    domain: str
    is_for_subdomains: bool
    path: str
    is_secure: bool

    def is_for(self, target: Target) -> bool:
        host, path = target.host, target.url.raw_path or "/"
        return (
            (host == self.domain or (self.is_for_subdomains and host.endswith(f".{self.domain}")))
            and (path == self.path or path.startswith(self.path.rstrip("/") + "/"))
            and (not self.is_secure or target.url.scheme == "https")
        )


class ChainCookies:
    """The cookies that responses of one chain of redirects have set. Source: RFC 6265, section 5.

    aiohttp's jar sends values back in other quotes than it received them.
    """

    def __init__(self) -> None:
        self._cookies: dict[tuple[str, str, str], _Cookie] = {}

    def receive(self, target: Target, response: aiohttp.ClientResponse) -> None:
        """Take the cookies of a response from this target."""
        for line in response.headers.getall("Set-Cookie", []):
            self._set(target, clean(line))

    def header(self, target: Target, given: str = "") -> str:
        """Return the Cookie header for a request; "" without cookies.

        given: the header that the feed's user entered for this host. A cookie of the same name that the site has set
        since replaces the one in it, as in a browser.
        """
        cookies = [cookie.pair for cookie in self._cookies.values() if cookie.is_for(target)]
        if not cookies:
            return given
        names = {_name(pair) for pair in cookies}
        parts = [part for each in given.split(";") if (part := each.strip()) and _name(part) not in names]
        length = len("; ".join(parts))
        for pair in cookies:
            length += len(pair) + 2
            if length <= _MAX_HEADER:
                parts.append(pair)
        return "; ".join(parts)

    def _set(self, target: Target, line: str) -> None:
        pair, *rest = (part.strip() for part in line.split(";"))
        attributes = {_name(each).lower(): each.partition("=")[2].strip() for each in rest}
        domain = attributes.get("domain", "").lower().removeprefix(".")
        if len(pair) > _MAX_COOKIE or "=" not in pair or not pair.isprintable() or not _may_set(target.host, domain):
            return
        path = attributes.get("path", "")
        cookie = _Cookie(
            pair=pair,
            domain=domain or target.host,
            is_for_subdomains=bool(domain),
            path=path if path.startswith("/") else (target.url.raw_path.rpartition("/")[0] or "/"),
            is_secure="secure" in attributes,
        )
        key = (_name(pair), cookie.domain, cookie.path)
        if _is_expired(attributes):
            self._cookies.pop(key, None)
        elif key in self._cookies or len(self._cookies) < _MAX_COOKIES:
            self._cookies[key] = cookie


def _name(pair: str) -> str:
    return pair.partition("=")[0].strip()


def _may_set(host: str, domain: str) -> bool:
    """Return whether a host may set cookies for a domain. "" stands for the host itself."""
    return domain in {"", host} or ("." in domain and host.endswith(f".{domain}"))


def _is_expired(attributes: dict[str, str]) -> bool:
    age = attributes.get("max-age", "")
    if age.removeprefix("-").isdecimal():
        return age.startswith("-") or not age.strip("0")
    moment = http_date(attributes.get("expires", ""))
    return moment is not None and moment <= from_datetime(datetime.now(UTC))
