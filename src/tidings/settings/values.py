"""Parsers of settings: each returns the typed value of a text.

A parser takes text that is not empty and raises InvalidValue if it does not fit. The message never quotes the text,
since only the caller can tell whether it is secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from ipaddress import AddressValueError, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import NamedTuple, NewType, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.users import validate_password, validate_username
from tidings.domain.entries.retention import MAX_DAYS, NEVER

ByteCount = NewType("ByteCount", int)
Network = IPv4Network | IPv6Network

# RFC 9110, section 5.1.
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
# Headers that every client sends, or that mean something else to this service.
_TAKEN_HEADERS = frozenset({
    "accept", "authorization", "connection", "content-length", "content-type", "cookie", "forwarded", "host", "origin",
    "referer", "transfer-encoding", "user-agent", "x-auth-token", "x-forwarded-for", "x-forwarded-host",
    "x-forwarded-proto",
})  # fmt: skip
# RFC 6749, section 3.3.
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9_.-]{1,253}")
WILDCARD_HOSTS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})


class InvalidValue(ValueError):
    """The text is not a valid value. The message may be empty; it never quotes the text."""


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class WebSubMode(StrEnum):
    """Whether feeds are pushed by hubs."""

    AUTO = "auto"
    """On if a hub on the internet can reach `base_url`."""
    ON = "on"
    OFF = "off"


class OAuth2Provider(StrEnum):
    """Where users sign in with OpenID Connect."""

    OIDC = "oidc"
    """The provider of `oauth2_oidc_discovery_endpoint`."""
    GOOGLE = "google"


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class DatabaseEngine(StrEnum):
    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"


class ListenAddress(NamedTuple):
    """An address on which the service listens."""

    host: str
    """A name or an address without brackets; empty for every address of the machine."""
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def reachable_locally(self) -> ListenAddress:
        """Return the address that a browser on this machine can open: localhost instead of "every address"."""
        return self._replace(host="localhost") if self.host in WILDCARD_HOSTS else self


class ImapUrl(NamedTuple):
    """A folder on an IMAP server."""

    host: str
    port: int
    has_tls: bool
    has_starttls: bool
    username: str
    folder: str


Kind = TypeVar("Kind", bound=StrEnum)


def line(text: str) -> str:
    """Accept text without control characters."""
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise InvalidValue("it holds a line break or another control character")
    return text


def header(text: str) -> str:
    """Accept a value of an HTTP header."""
    if not text.isascii():
        raise InvalidValue("it holds a character outside ASCII")
    return line(text)


def header_name(text: str) -> str:
    """Accept the name of an HTTP header that has no other meaning, and return it in lower case."""
    if not _HEADER_NAME.fullmatch(text):
        raise InvalidValue
    if text.lower() in _TAKEN_HEADERS:
        raise InvalidValue("that header has another meaning")
    return text.lower()


def scopes(text: str) -> str:
    """Return the scopes of OpenID Connect separated by single spaces; `openid` has to be one of them."""
    names = text.replace(",", " ").split()
    if not all(_SCOPE.fullmatch(name) for name in names):
        raise InvalidValue
    if "openid" not in names:
        raise InvalidValue("the scope openid is missing")
    return " ".join(dict.fromkeys(names))


def names(text: str) -> tuple[str, ...]:
    """Accept names separated by commas; a name may hold spaces."""
    found = tuple(dict.fromkeys(part.strip() for part in line(text).split(",") if part.strip()))
    if not found:
        raise InvalidValue("it holds no name")
    return found


def issuer(text: str) -> str:
    """Accept the address of an OpenID Connect provider, with or without the path of its discovery document.

    Everything that is sent there proves who someone is: on another machine it has to be https.
    """
    url = _split(text)
    base_url(text)
    if url.scheme == "http" and not _is_this_machine(url.hostname or ""):
        raise InvalidValue("a provider on another machine has to be reached by https")
    return re.sub(r"/\.well-known/openid-configuration/?$", "", text)


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def web_page(text: str) -> str:
    """Accept the URL of a page, which may have a query."""
    url = _split(text)
    if url.scheme not in {"http", "https"} or not url.hostname or "@" in url.netloc:
        raise InvalidValue("it does not start with http:// or https:// and a host")
    if re.search(r"[^\x21-\x7e]|[\"'<>\\^`{|}]", text):
        raise InvalidValue("it holds a space or a character that a URL has to encode")
    return text


def mail_template(text: str) -> str:
    """Return a mail address with {secret} in front of the @."""
    if not re.fullmatch(r"[^\s@{}<>,;:\"]*\{secret\}[^\s@{}<>,;:\"]*@[^\s@{}<>,;:\"]+", text):
        raise InvalidValue
    return text


def imap_url(text: str) -> ImapUrl:
    """Return the parts of imaps://user@host:port/Folder; those of its user and folder may be percent-encoded.

    imap+starttls: TLS begins after STARTTLS. imap: without TLS. Source: RFC 5092, without its parameters.
    """
    url = _split(line(text))
    if (
        url.scheme not in {"imaps", "imap+starttls", "imap"}
        or not url.hostname
        or not url.username
        or url.query
        or url.fragment
    ):
        raise InvalidValue
    if url.password is not None:
        raise InvalidValue("the password belongs into TIDINGS_NEWSLETTERS_IMAP_PASSWORD")
    port = url.port or (993 if url.scheme == "imaps" else 143)
    has_tls, has_starttls = url.scheme != "imap", url.scheme == "imap+starttls"
    return ImapUrl(url.hostname, port, has_tls, has_starttls, unquote(url.username), unquote(url.path[1:]) or "INBOX")


def password(text: str) -> str:
    try:
        return validate_password(text)
    except InvalidInput as error:
        raise InvalidValue(_as_clause(error)) from error


def username(text: str) -> str:
    try:
        return validate_username(text)
    except InvalidInput as error:
        raise InvalidValue(_as_clause(error)) from error


def _as_clause(error: InvalidInput) -> str:
    return error.message[:1].lower() + error.message[1:].rstrip(".")


def boolean(text: str) -> bool:
    word = text.lower()
    if word not in TRUE_WORDS | FALSE_WORDS:
        raise InvalidValue
    return word in TRUE_WORDS


def enum_value(kind: type[Kind]) -> Callable[[str], Kind]:
    def parse(text: str) -> Kind:
        try:
            return kind(text.lower())
        except ValueError:
            raise InvalidValue from None

    return parse


def enum_values(kind: type[Kind]) -> Callable[[str], frozenset[Kind]]:
    one = enum_value(kind)
    return lambda text: frozenset(one(part) for part in re.split(r"[\s,]+", text) if part)


def integer(lowest: int, highest: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        # int() would accept "1_000", " 7 " and digits of other scripts as well.
        if not re.fullmatch(r"[0-9]{1,9}", text) or not lowest <= int(text) <= highest:
            raise InvalidValue
        return int(text)

    return parse


def mebibytes(lowest: int, highest: int) -> Callable[[str], ByteCount]:
    number = integer(lowest, highest)
    return lambda text: ByteCount(number(text) * 1024 * 1024)


def milliseconds(lowest: int, highest: int) -> Callable[[str], timedelta]:
    number = integer(lowest, highest)
    return lambda text: timedelta(milliseconds=number(text))


def seconds(lowest: int, highest: int) -> Callable[[str], timedelta]:
    number = integer(lowest, highest)
    return lambda text: timedelta(seconds=number(text))


def minutes(lowest: int, highest: int) -> Callable[[str], timedelta]:
    number = integer(lowest, highest)
    return lambda text: timedelta(minutes=number(text))


def hours(lowest: int, highest: int) -> Callable[[str], timedelta]:
    number = integer(lowest, highest)
    return lambda text: timedelta(hours=number(text))


def days_or_never(text: str) -> timedelta | None:
    """Accept days from one to a century; -1 becomes None."""
    return None if text == str(NEVER) else timedelta(days=integer(1, MAX_DAYS)(text))


def folder(text: str) -> Path:
    """Return the absolute path, so that it means the same to every process."""
    try:
        return Path(line(text)).expanduser().absolute()
    except RuntimeError:
        raise InvalidValue("the home folder that ~ stands for is not known") from None


def data_folder(text: str) -> Path:
    """Return the absolute path of a folder that can hold a SQLite database."""
    if "?" in text:
        raise InvalidValue("it must not contain a ?")
    return folder(text)


def network_list(text: str) -> tuple[Network, ...]:
    """Accept networks and single addresses separated by commas or spaces; `none` is an empty list."""
    if text.lower() == "none":
        return ()
    try:
        return tuple(ip_network(part, strict=False) for part in re.split(r"[\s,]+", text) if part)
    except ValueError:
        raise InvalidValue from None


def listen_address(text: str) -> ListenAddress:
    host, colon, port = text.rpartition(":")
    if not colon or not re.fullmatch(r"[0-9]{1,5}", port) or not 1 <= int(port) <= 65535:
        raise InvalidValue("the port is missing or not a number from 1 to 65535")
    if host.startswith("[") and host.endswith("]"):
        return ListenAddress(_ipv6(host[1:-1]), int(port))
    if ":" in host:
        raise InvalidValue("an IPv6 address needs brackets")
    if host and not HOST_NAME.fullmatch(host):
        raise InvalidValue("the host is not a name or an address")
    return ListenAddress(host, int(port))


def local_place(text: str) -> Path | ListenAddress:
    """Accept unix: and the path of a Unix socket, or a loopback address with a port."""
    if text.startswith("unix:"):
        if len(text) == len("unix:"):
            raise InvalidValue("the path is missing")
        return folder(text.removeprefix("unix:"))
    place = listen_address(text)
    if not _is_this_machine(place.host):
        raise InvalidValue("other machines could connect to that address, and nothing would be encrypted")
    return place._replace(host="127.0.0.1") if place.host.endswith("localhost") else place


def _ipv6(text: str) -> str:
    try:
        return str(IPv6Address(text))
    except AddressValueError:
        raise InvalidValue("the text in brackets is not an IPv6 address") from None


def base_url(text: str) -> str:
    """Accept an HTTP URL and return it without a trailing slash, so that a path can be appended."""
    url = _split(text)
    if url.scheme not in {"http", "https"} or not url.hostname:
        raise InvalidValue("it does not start with http:// or https:// and a host")
    if "@" in url.netloc or "?" in text or "#" in text:
        raise InvalidValue("it holds a user name, a query or a fragment")
    if re.search(r"[^\x21-\x7e]", text):
        raise InvalidValue("it holds a space or a character that a URL has to encode")
    return f"{url.scheme}://{url.netloc}{url.path.rstrip('/')}"


def bridge_url(text: str) -> str:
    """Accept the address of a service, with or without a user and a password, and return it without a final slash."""
    url = _split(text)
    userinfo, at, host = url.netloc.rpartition("@")
    base_url(text.replace(f"{userinfo}{at}", "", 1))
    return f"{url.scheme}://{userinfo}{at}{host}{url.path.rstrip('/')}"


def proxy_url(text: str) -> str:
    url = _split(line(text))
    if url.scheme not in {"http", "https", "socks5", "socks5h"} or not url.hostname:
        raise InvalidValue("it does not start with http://, https:// or socks5:// and a host")
    return text


def host(text: str) -> str:
    """Accept a host, with or without a port, and return it in lower case."""
    if not re.fullmatch(rf"{HOST_NAME.pattern}(?::[0-9]{{1,5}})?", text):
        raise InvalidValue
    return text.lower()


def embed_url(text: str) -> str:
    url = base_url(text)
    if not text.endswith("/"):
        raise InvalidValue("it does not end with a slash")
    return f"{url}/"


def database_url(text: str) -> str:
    """Return the normalized URL: sqlite:///<absolute path> or postgresql://…"""
    scheme, separator, rest = line(text).partition("://")
    match scheme.lower() if separator else "":
        case "sqlite":
            return f"sqlite:///{_sqlite_file(rest)}"
        case "postgres" | "postgresql":
            return f"postgresql://{_postgresql_rest(rest)}"
        case _:
            raise InvalidValue("it does not start with sqlite:/// or postgresql://")


def _sqlite_file(rest: str) -> Path:
    name = rest.removeprefix("/")
    if not rest.startswith("/") or name in {"", ":memory:"} or name.endswith("/"):
        # Several processes share the database: each would have its own in-memory database.
        raise InvalidValue("it names no file")
    if "?" in name:
        raise InvalidValue("it must not contain a ?")
    return folder(name)


def _postgresql_rest(rest: str) -> str:
    if "#" in rest:
        raise InvalidValue("write a # in the user name or password as %23, and a / as %2F")
    places, slash, name = rest.partition("/")
    user, at, hosts = places.rpartition("@")
    # Several hosts, as libpq writes them: a:5432,b:5432.
    if any(len(_split(f"postgresql://{user}{at}{host}{slash}{name}").path) < 2 for host in hosts.split(",")):
        raise InvalidValue("it names no database")
    return rest


def _split(text: str) -> SplitResult:
    try:
        url = urlsplit(text)
        _ = url.port  # raises ValueError for an invalid port, which urlsplit does not check
    except ValueError:
        raise InvalidValue("the host or the port is not written correctly") from None
    return url


def mask_password(url: str) -> str:
    """Return the URL with its password replaced by ***."""
    without_userinfo = re.sub(r"(?<=://)([^/?#@:]*):[^/?#]*@", r"\1:***@", url)
    return re.sub(r"(?<=[?&])([a-z]*password=)[^&]*", r"\1***", without_userinfo, flags=re.IGNORECASE)


def mask_all(_text: str) -> str:
    return "***"


def engine_of(url: str) -> DatabaseEngine:
    """Return the engine of a database. url: the result of `database_url`."""
    return DatabaseEngine(url.partition("://")[0])
