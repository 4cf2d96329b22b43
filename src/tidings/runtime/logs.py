"""Log lines: one per event, as text for people or JSON for log collectors, with secrets removed.

    log.info(...) ─┐
                   ├─► time, level ─► error ─► redact ─► text or JSON ─► stderr
    logging.* ─────┘

`configure` is called once a process; everything else asks structlog for a logger.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import sys
import traceback
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, TextIO, cast

import msgspec
import structlog

from tidings.base.secret_urls import HIDDEN, hide_secrets
from tidings.settings import LogFormat, LogLevel

Event = MutableMapping[str, Any]
Processor = Callable[[Any, str, Event], Any]

SECRET_KEY = re.compile(r"passw|secret|token|cookie|authorization|credential|api_?key|private_?key", re.IGNORECASE)
PLAIN = re.compile(r"[^\s\"'=\\\x00-\x1f\x7f-\x9f\u2028\u2029]+")
MAX_DEPTH = 5

# Libraries that log each step on info; below debug only their warnings are logged.
VERBOSE_LOGGERS = ("_granian", "alembic", "aiohttp", "asyncio", "urllib3", "httpx", "PIL")
# On debug SQLAlchemy logs every row, with password hashes and cookies, and aiosmtpd each command, with the secrets of
# addresses: only their warnings are ever logged.
SECRET_LOGGERS = ("sqlalchemy", "mail.log")


class LossyStream(io.TextIOBase):
    """A stream that drops what cannot be written: a log on a full disk must not end requests and workers."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()


def configure(level: LogLevel, log_format: LogFormat, stream: TextIO | None = None) -> None:
    """Route structlog and the standard library's logging to one stream, by default stderr."""
    out = LossyStream(stream or sys.stderr)
    threshold = logging.getLevelNamesMapping()[level.upper()]
    describe, render = (_json_error, _as_json) if log_format is LogFormat.JSON else (_text_error, _as_text)
    common: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    finish: list[Processor] = [describe, redact, render]
    structlog.configure(
        processors=[*common, *finish],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.WriteLoggerFactory(file=cast("TextIO", out)),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*common, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *finish],
        )
    )
    logging.basicConfig(handlers=[handler], level=threshold, force=True)
    for name in VERBOSE_LOGGERS:
        logging.getLogger(name).setLevel(threshold if level is LogLevel.DEBUG else max(threshold, logging.WARNING))
    for name in SECRET_LOGGERS:
        logging.getLogger(name).setLevel(max(threshold, logging.WARNING))
    logging.captureWarnings(True)


def redact(_logger: Any, _method: str, event: Event) -> Event:
    """Hide the values of keys that name a secret, and credentials inside URLs."""
    for key, value in event.items():
        event[key] = HIDDEN if SECRET_KEY.search(key) and _has_content(value) else without_secrets(value)
    return event


def without_secrets(value: Any, depth: int = 0) -> Any:
    """Return the value with secrets hidden, in nested mappings and sequences too. depth: levels above this one."""
    if isinstance(value, str):
        return hide_secrets(value)
    if isinstance(value, bool | int | float | None):
        return value
    if depth >= MAX_DEPTH:
        return "[...]"
    if isinstance(value, Mapping):
        return {
            str(key): HIDDEN if SECRET_KEY.search(str(key)) else without_secrets(inner, depth + 1)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [without_secrets(inner, depth + 1) for inner in value]
    return without_secrets(str(value), depth)


def _has_content(value: Any) -> bool:
    """Return whether a value could be a secret: `has_password=True` or `tokens=3` is none, text and bytes may be."""
    return not isinstance(value, bool | int | None)


def _error_of(event: Event) -> BaseException | None:
    """Remove `exc_info` from the event and return its exception. It may be an exception, a triple, or True."""
    exc_info = event.pop("exc_info", None)
    if isinstance(exc_info, BaseException):
        return exc_info
    if isinstance(exc_info, tuple):
        return exc_info[1]  # type: ignore[no-any-return]
    return sys.exc_info()[1] if exc_info else None


def _text_error(_logger: Any, _method: str, event: Event) -> Event:
    if error := _error_of(event):
        event["error"] = f"{type(error).__name__}: {error}"
        frames = traceback.extract_tb(error.__traceback__)
        event["at"] = " > ".join(f"{frame.name} {_short(frame.filename)}:{frame.lineno}" for frame in frames)
    return event


def _short(filename: str) -> str:
    """Return the last parts of a path: three for our files, two for library files."""
    names = 3 if "/tidings/" in filename else 2
    return "/".join(filename.rsplit("/", names)[-names:])


def _json_error(_logger: Any, _method: str, event: Event) -> Event:
    if error := _error_of(event):
        event["error"] = f"{type(error).__name__}: {error}"
        event["trace"] = "".join(traceback.format_exception(error))
    return event


def _as_json(_logger: Any, _method: str, event: Event) -> str:
    order = {
        "time": event.pop("timestamp", ""),
        "level": event.pop("level", ""),
        "event": event.pop("event", ""),
    }
    return msgspec.json.encode({**order, **event}, enc_hook=str).decode()


def _as_text(_logger: Any, _method: str, event: Event) -> str:
    timestamp, level, name = (event.pop(key, "") for key in ("timestamp", "level", "event"))
    values = "".join(f" {key}={_plain(value)}" for key, value in event.items())
    # The event of a library may hold line breaks.
    name = str(name) if str(name).isprintable() else _quoted(str(name))
    return f"{timestamp} {level:<7} {name}{values}"


def _plain(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if PLAIN.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    """Return the text in quotation marks and on one line, so that a value cannot forge another log line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in escaped) + '"'
