"""Log lines: one for each thing that happened, for people (text) or collectors (JSON), never with a secret.

    log.info(...) ─┐
                   ├─► time, level ─► error ─► redact ─► text or JSON ─► stderr
    logging.* ─────┘

`configure` is called once a process; everything else asks structlog for a logger.
"""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, TextIO

import msgspec
import structlog

from tidings.settings import LogFormat, LogLevel

Event = MutableMapping[str, Any]
Processor = Callable[[Any, str, Event], Any]

HIDDEN = "[hidden]"
SECRET_KEY = re.compile(r"passw|secret|token|cookie|authorization|credential|api_?key|private_?key", re.IGNORECASE)
USERINFO = re.compile(r"(?<=://)[^\s/?#@]+(?:@[^\s/?#@]+)*(?=@)")
# ?token=… and its kin in addresses that a log line mentions.
SECRET_PARAMETER = re.compile(r"([?&][^=&#\s]*(?:passw|secret|token|auth|sig|key)[^=&#\s]*=)[^&#\s\"']+", re.IGNORECASE)
PLAIN = re.compile(r"[^\s\"'=\\\x00-\x1f\x7f-\x9f\u2028\u2029]+")
MAX_DEPTH = 5

# They tell every step; an operator who did not ask for debug wants the result.
VERBOSE_LOGGERS = ("_granian", "alembic", "aiohttp", "asyncio", "urllib3", "httpx", "PIL")
# On debug it shows every row it reads, password hashes and cookies included: not even then.
SECRET_LOGGERS = ("sqlalchemy",)


def configure(level: LogLevel, log_format: LogFormat, stream: TextIO | None = None) -> None:
    """Route structlog and the standard library's logging to one stream, stderr unless told otherwise."""
    out = stream or sys.stderr
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
        logger_factory=structlog.WriteLoggerFactory(file=out),
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


def granian_config(level: LogLevel) -> dict[str, Any]:
    """For Granian, which sets up its loggers itself in each of its processes: all goes to `configure`."""
    own = "DEBUG" if level is LogLevel.DEBUG else "WARNING"
    passed_on = {"handlers": [], "level": own, "propagate": True}
    return {"formatters": {}, "handlers": {}, "loggers": {"_granian": passed_on, "granian.access": passed_on}}


def redact(_logger: Any, _method: str, event: Event) -> Event:
    """Hide what a key calls a secret, and credentials inside addresses."""
    for key, value in event.items():
        event[key] = HIDDEN if SECRET_KEY.search(key) and _has_content(value) else without_secrets(value)
    return event


def without_secrets(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        if "://" not in value:
            return value
        return SECRET_PARAMETER.sub(rf"\1{HIDDEN}", USERINFO.sub(HIDDEN, value))
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
    """`has_password=True` or `tokens=3` tell nothing; text and bytes do."""
    return not isinstance(value, bool | int | None)


def _error_of(event: Event) -> BaseException | None:
    """Takes `exc_info` out of the event; it may be an exception, a triple, or just true."""
    given = event.pop("exc_info", None)
    if isinstance(given, BaseException):
        return given
    if isinstance(given, tuple):
        return given[1]  # type: ignore[no-any-return]
    return sys.exc_info()[1] if given else None


def _text_error(_logger: Any, _method: str, event: Event) -> Event:
    if error := _error_of(event):
        event["error"] = f"{type(error).__name__}: {error}"
        frames = traceback.extract_tb(error.__traceback__)
        event["at"] = " > ".join(f"{frame.name} {_short(frame.filename)}:{frame.lineno}" for frame in frames)
    return event


def _short(filename: str) -> str:
    """Return the file and the folders that tell which one it is: three names of ours, two of a library's."""
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
    moment, level, what = (event.pop(key, "") for key in ("timestamp", "level", "event"))
    facts = "".join(f" {key}={_plain(value)}" for key, value in event.items())
    # What happened may come from a library, line breaks and all.
    told = str(what) if str(what).isprintable() else _quoted(str(what))
    return f"{moment} {level:<7} {told}{facts}"


def _plain(value: Any) -> str:
    shown = value if isinstance(value, str) else str(value)
    return shown if PLAIN.fullmatch(shown) else _quoted(shown)


def _quoted(shown: str) -> str:
    """In quotation marks and on one line, so that nobody can write a log line of their own into ours."""
    escaped = shown.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in escaped) + '"'
