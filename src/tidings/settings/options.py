"""Every setting, declared once: type, default, what is allowed, and a sentence for the person who sets it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from platformdirs import user_data_path

from tidings import __version__
from tidings.settings import values
from tidings.settings.values import ByteCount, DatabaseEngine, ListenAddress, LogFormat, LogLevel, Network

PREFIX = "TIDINGS_"
MOST_WEB_WORKERS_BY_DEFAULT = 4

Value = TypeVar("Value")
# Makes the text of a default out of the settings declared before it.
Derive = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Option:
    """One setting, as an operator sees it.

    default: what one would have to write to get the default; a sentence where it depends on the machine or on
    another setting; None where leaving it out means "none".
    mask: makes of a secret what may be shown of it; None for what is no secret.
    """

    name: str
    parse: Callable[[str], Any]
    help: str
    allowed: str
    default: str | None
    derive: Derive | None
    mask: Callable[[str], str] | None
    has_file_variant: bool

    @property
    def field(self) -> str:
        return self.name.removeprefix(PREFIX).lower()

    @property
    def is_secret(self) -> bool:
        return self.mask is not None

    @property
    def file_variant(self) -> str:
        return f"{self.name}_FILE"


def option(
    parse: Callable[[str], Value],
    help: str,  # noqa: A002  (it is what the reader of a declaration expects)
    *,
    allowed: str,
    default: str | None = None,
    derive: Derive | None = None,
    mask: Callable[[str], str] | None = None,
    has_file_variant: bool = False,
) -> Value:
    """Typed as the value it will hold, so that a declaration reads like any other field."""
    declared = {
        "parse": parse,
        "help": help,
        "allowed": allowed,
        "default": default,
        "derive": derive,
        "mask": mask,
        "has_file_variant": mask is not None or has_file_variant,
    }
    made: Value = field(metadata=declared, repr=mask is None)
    return made


def _cores() -> int:
    """How many this process may use, which in a container is often fewer than the machine has."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    data_dir: Path = option(
        values.folder,
        "Folder for what Tidings keeps on this machine: the embedded database. Made when it is missing.",
        allowed="a path; ~ is your home folder",
        default="the user data folder of the system, on Linux ~/.local/share/tidings",
        derive=lambda _: str(user_data_path("tidings", appauthor=False)),
    )
    database_url: str = option(
        values.database_url,
        "Where everything is stored. SQLite needs nothing else; PostgreSQL can be shared by many machines.",
        allowed="sqlite:///path/to/file or postgresql://user:password@host:port/database (or postgres://)",
        default="the SQLite file tidings.db in TIDINGS_DATA_DIR",
        derive=lambda known: f"sqlite:///{known['data_dir'] / 'tidings.db'}",
        mask=values.without_password,
    )
    database_max_conns: int = option(
        values.whole_number(1, 1000),
        "PostgreSQL connections that one process opens at most. Each web worker and poller is a process;"
        " keep the sum below max_connections of the server.",
        allowed="a whole number from 1 to 1000",
        default="10",
    )
    listen_addr: ListenAddress = option(
        values.listen_address,
        "Address and port to serve on. Without a host it is every address of the machine.",
        allowed="host:port, [IPv6 address]:port or :port, with a port from 1 to 65535",
        default="127.0.0.1:8080",
    )
    base_url: str = option(
        values.base_url,
        "The address people type to reach Tidings. Set it behind a reverse proxy; it may end in a path.",
        allowed="a URL like https://reader.example.org or https://example.org/reader",
        default="http:// followed by TIDINGS_LISTEN_ADDR",
        derive=lambda known: f"http://{known['listen_addr'].for_visitors()}",
    )
    trusted_reverse_proxy_networks: tuple[Network, ...] = option(
        values.networks,
        "Who may tell the address of a visitor with X-Forwarded-For. Anybody else's header is ignored.",
        allowed="addresses and networks like 192.0.2.7 or 10.0.0.0/8, with commas between them, or none",
        default="127.0.0.0/8,::1",
    )
    web_workers: int = option(
        values.whole_number(1, 64),
        "Processes that answer requests.",
        allowed="a whole number from 1 to 64",
        default="the number of CPU cores, but not more than 4",
        derive=lambda _: str(min(_cores(), MOST_WEB_WORKERS_BY_DEFAULT)),
    )
    admin_username: str = option(
        values.username,
        "Name of the administrator that the first start with an empty database makes.",
        allowed="letters, digits and _ - @ .",
        default="admin",
        has_file_variant=True,
    )
    admin_password: str | None = option(
        values.password,
        "Password of that administrator. Without it a random one is made and shown once on the terminal.",
        allowed="6 to 1024 characters",
        mask=values.hidden,
    )
    polling_frequency: timedelta = option(
        values.minutes(1, 43_200),
        "Minutes between two checks of a feed that gives no hint of its own.",
        allowed="a whole number from 1 to 43200",
        default="60",
    )
    polling_limit_per_host: int = option(
        values.whole_number(1, 100),
        "Feeds fetched from one host at the same time, by one poller.",
        allowed="a whole number from 1 to 100",
        default="2",
    )
    worker_pool_size: int = option(
        values.whole_number(1, 1000),
        "Feeds fetched at the same time, by one poller.",
        allowed="a whole number from 1 to 1000",
        default="16",
    )
    fetcher_allow_private_networks: bool = option(
        values.yes_or_no,
        "Whether feeds and pages may be fetched from this machine and its private networks. Leave it off"
        " where strangers have an account: with it they can read what only your network should see.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )
    integration_allow_private_networks: bool = option(
        values.yes_or_no,
        "Whether webhooks and other integrations may call this machine and its private networks.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )
    http_client_timeout: timedelta = option(
        values.seconds(1, 600),
        "Seconds after which a feed or page that is still not complete is given up.",
        allowed="a whole number from 1 to 600",
        default="20",
    )
    http_client_max_body_size: ByteCount = option(
        values.mebibytes(1, 1024),
        "MiB of a feed or page that are read at most, counted after decompression.",
        allowed="a whole number from 1 to 1024",
        default="15",
    )
    http_client_user_agent: str = option(
        values.header,
        "How Tidings introduces itself to publishers.",
        allowed="ASCII text without line breaks",
        default="Tidings/ followed by the version",
        derive=lambda _: f"Tidings/{__version__}",
    )
    log_level: LogLevel = option(
        values.one_of(LogLevel),
        "The least important log lines that are still written.",
        allowed="debug, info, warning or error",
        default="info",
    )
    log_format: LogFormat = option(
        values.one_of(LogFormat),
        "text is for people, json (one object a line) for log collectors.",
        allowed="text or json",
        default="text",
    )

    @property
    def database_engine(self) -> DatabaseEngine:
        return values.engine_of(self.database_url)

    @property
    def database_file(self) -> Path | None:
        """The file of the embedded database; None on PostgreSQL."""
        on_sqlite = self.database_engine is DatabaseEngine.SQLITE
        return Path(self.database_url.removeprefix("sqlite:///")) if on_sqlite else None

    @property
    def base_path(self) -> str:
        """The path in BASE_URL: empty, or starting with a slash and not ending with one."""
        return urlsplit(self.base_url).path


OPTIONS: tuple[Option, ...] = tuple(
    Option(name=PREFIX + declared.name.upper(), **declared.metadata) for declared in fields(Settings)
)
