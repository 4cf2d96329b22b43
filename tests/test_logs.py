"""A log line is one line, tells the time in UTC, and keeps secrets."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
import structlog

from tidings.runtime import logs
from tidings.settings import LogFormat, LogLevel


@pytest.fixture(autouse=True)
def _logging_left_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


class Written:
    """What was logged, and where to log."""

    def __init__(self, log_format: LogFormat, level: LogLevel = LogLevel.INFO) -> None:
        self.stream = io.StringIO()
        logs.configure(level, log_format, self.stream)
        self.log = structlog.get_logger()

    @property
    def lines(self) -> list[str]:
        return self.stream.getvalue().removesuffix("\n").split("\n")

    @property
    def only(self) -> str:
        [line] = self.lines
        return line

    @property
    def event(self) -> dict[str, Any]:
        return msgspec.json.decode(self.only, type=dict[str, Any])


def test_text_tells_the_event_and_its_facts() -> None:
    written = Written(LogFormat.TEXT)

    written.log.info("feed polled", feed=7, status=304, title="Rain tomorrow")

    assert written.only.endswith('Z info    feed polled feed=7 status=304 title="Rain tomorrow"')


def test_json_tells_the_event_and_its_facts() -> None:
    written = Written(LogFormat.JSON)

    written.log.info("feed polled", feed=7, tags=["a", "b"], next_check=timedelta(minutes=1))

    moment = written.event.pop("time")
    assert abs(datetime.fromisoformat(moment) - datetime.now(UTC)) < timedelta(minutes=1)
    assert written.event["event"] == "feed polled"
    assert written.event["feed"] == 7
    assert written.event["tags"] == ["a", "b"]


@pytest.mark.parametrize("log_format", LogFormat)
def test_nobody_can_write_a_line_of_their_own_into_the_log(log_format: LogFormat) -> None:
    written = Written(log_format)

    written.log.info("feed polled", title="nice\n2026-11-21T00:00:00Z error   all lost\r\x1b[2J\u2028")
    logging.getLogger("library").warning("said\n%s", "two things")

    assert len(written.lines) == 2
    assert not any(ord(character) < 32 for line in written.lines for character in line)


@pytest.mark.parametrize("log_format", LogFormat)
def test_what_is_less_important_is_left_out(log_format: LogFormat) -> None:
    written = Written(log_format, LogLevel.WARNING)

    written.log.info("feed polled")
    logging.getLogger("library").info("hello")
    written.log.warning("feed gone")

    assert "feed gone" in written.only


@pytest.mark.parametrize("log_format", LogFormat)
@pytest.mark.parametrize(
    "facts",
    [
        {"password": "hunter2"},
        {"user_password_hash": "hunter2"},
        {"api_key": "hunter2"},
        {"headers": {"X-Auth-Token": "hunter2"}},
        {"headers": {"Cookie": ["hunter2"]}},
        {"request": {"headers": {"Authorization": "Basic hunter2"}}},
        {"url": "https://alice:hunter2@example.org/feed"},
        {"url": "https://alice:p@hunter2@example.org/feed"},
        {"url": "https://hunter2@example.org/feed"},
        {"url": "https://example.org/feed?a=b&access_token=hunter2&c=d"},
        {"urls": ["postgresql://alice:hunter2@db/tidings"]},
        {"error": ValueError("no connection to postgresql://alice:hunter2@db/tidings")},
    ],
)
def test_secrets_are_not_logged(log_format: LogFormat, facts: dict[str, Any]) -> None:
    written = Written(log_format)

    written.log.info("told", **facts)

    assert "hunter2" not in written.only
    assert logs.HIDDEN in written.only


def connect() -> None:
    raise ConnectionError("no way to postgresql://alice:hunter2@db/tidings")


@pytest.mark.parametrize("log_format", LogFormat)
def test_secrets_in_an_error_are_not_logged(log_format: LogFormat) -> None:
    written = Written(log_format)

    for tell in (written.log.exception, logging.getLogger("library").exception):
        try:
            connect()
        except ConnectionError:
            tell("gave up")

    assert len(written.lines) == 2
    for line in written.lines:
        assert "ConnectionError: no way to postgresql://[hidden]@db/tidings" in line
        assert "test_logs.py" in line
        assert "hunter2" not in line


def test_facts_about_secrets_are_no_secrets() -> None:
    written = Written(LogFormat.JSON)

    written.log.info("key made", api_key_id=None, has_password=True, tokens=3)

    assert (written.event["has_password"], written.event["tokens"]) == (True, 3)


@pytest.mark.parametrize("log_format", LogFormat)
def test_libraries_and_warnings_speak_through_the_same_log(log_format: LogFormat) -> None:
    written = Written(log_format)

    logging.getLogger("library").error("lost %s", "https://alice:hunter2@example.org/")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("getting old", stacklevel=1)
    logging.getLogger("alembic.runtime.migration").info("one step")
    logging.getLogger("_granian").info("hello")

    lost, old = written.lines
    assert "https://[hidden]@example.org/" in lost
    assert "getting old" in old


def test_granian_leaves_its_lines_to_us() -> None:
    written = Written(LogFormat.JSON)
    from granian.log import LogLevels, configure_logging

    configure_logging(LogLevels.warning, logs.granian_config(LogLevel.INFO))
    logging.getLogger("_granian").info("hello")
    logging.getLogger("_granian").error("worker lost")

    assert written.event["event"] == "worker lost"
