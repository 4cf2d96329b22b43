"""A log line is one line, tells the time in UTC, and keeps secrets."""

from __future__ import annotations

import io
import logging
import os
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog

from tidings.base.messages import msg
from tidings.base.secret_urls import HIDDEN
from tidings.runtime import granian_internals, logs
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


class CapturedLog:
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


@pytest.mark.parametrize("log_format", LogFormat)
def test_a_message_is_logged_in_english(log_format: LogFormat) -> None:
    captured = CapturedLog(log_format)
    cause = msg("{url} did not answer.", url="https://u:p@hook.example/")

    captured.log.info(
        "integration tested", error=msg("Failed {times:,} times: {why}", times=1_000, why=cause), all=[cause]
    )

    expected = "Failed 1,000 times: https://[hidden]@hook.example/ did not answer."
    assert expected in captured.only
    assert "template" not in captured.only
    assert f"{cause}" == "https://u:p@hook.example/ did not answer."


@pytest.mark.parametrize("log_format", LogFormat)
def test_a_log_that_cannot_be_written_stops_nothing(log_format: LogFormat) -> None:
    # Each write to this device fails as on a full disk.
    with Path("/dev/full").open("w", buffering=1) as full:
        logs.configure(LogLevel.INFO, log_format, full)

        structlog.get_logger().info("feed polled", title="x" * 10_000)
        logging.getLogger("library").warning("y" * 10_000)

        with pytest.raises(OSError, match="No space left"):
            full.write("z" * 10_000 + "\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())  # it is closed without an error


def test_a_text_line_has_the_event_and_its_values() -> None:
    captured = CapturedLog(LogFormat.TEXT)

    captured.log.info("feed polled", feed=7, status=304, title="Rain tomorrow")

    assert captured.only.endswith('Z info    feed polled feed=7 status=304 title="Rain tomorrow"')


def test_a_json_line_has_the_event_and_its_values() -> None:
    captured = CapturedLog(LogFormat.JSON)

    captured.log.info("feed polled", feed=7, tags=["a", "b"], next_check=timedelta(minutes=1))

    moment = captured.event.pop("time")
    assert abs(datetime.fromisoformat(moment) - datetime.now(UTC)) < timedelta(minutes=1)
    assert captured.event["event"] == "feed polled"
    assert captured.event["feed"] == 7
    assert captured.event["tags"] == ["a", "b"]


@pytest.mark.parametrize("log_format", LogFormat)
def test_a_value_with_line_breaks_stays_on_one_line(log_format: LogFormat) -> None:
    captured = CapturedLog(log_format)

    captured.log.info("feed polled", title="nice\n2026-11-21T00:00:00Z error   all lost\r\x1b[2J\u2028")
    logging.getLogger("library").warning("said\n%s", "two things")

    assert len(captured.lines) == 2
    assert not any(ord(character) < 32 for line in captured.lines for character in line)


@pytest.mark.parametrize("log_format", LogFormat)
def test_events_below_the_level_are_left_out(log_format: LogFormat) -> None:
    captured = CapturedLog(log_format, LogLevel.WARNING)

    captured.log.info("feed polled")
    logging.getLogger("library").info("hello")
    captured.log.warning("feed gone")

    assert "feed gone" in captured.only


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
        {"url": "https://example.org/feed?a?my_key_token=hunter2"},
        {"url": "https://example.org/feed?next=https://a.example/?token=hunter2"},
        {"urls": ["postgresql://alice:hunter2@db/tidings"]},
        {"error": ValueError("no connection to postgresql://alice:hunter2@db/tidings")},
    ],
)
def test_secrets_are_not_logged(log_format: LogFormat, facts: dict[str, Any]) -> None:
    captured = CapturedLog(log_format)

    captured.log.info("told", **facts)

    assert "hunter2" not in captured.only
    assert HIDDEN in captured.only


def connect() -> None:
    raise ConnectionError("no way to postgresql://alice:hunter2@db/tidings")


@pytest.mark.parametrize("log_format", LogFormat)
def test_secrets_in_an_error_are_not_logged(log_format: LogFormat) -> None:
    captured = CapturedLog(log_format)

    for log_error in (captured.log.exception, logging.getLogger("library").exception):
        try:
            connect()
        except ConnectionError:
            log_error("gave up")

    assert len(captured.lines) == 2
    for line in captured.lines:
        assert "ConnectionError: no way to postgresql://[hidden]@db/tidings" in line
        assert "test_logs.py" in line
        assert "hunter2" not in line


def test_values_about_secrets_are_logged() -> None:
    captured = CapturedLog(LogFormat.JSON)

    captured.log.info("key made", api_key_id=None, has_password=True, tokens=3)

    assert (captured.event["has_password"], captured.event["tokens"]) == (True, 3)


@pytest.mark.parametrize("log_format", LogFormat)
def test_libraries_and_warnings_use_the_same_log(log_format: LogFormat) -> None:
    captured = CapturedLog(log_format)

    logging.getLogger("library").error("lost %s", "https://alice:hunter2@example.org/")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("getting old", stacklevel=1)
    logging.getLogger("alembic.runtime.migration").info("one step")
    logging.getLogger("_granian").info("hello")

    library_logger, old = captured.lines
    assert "https://[hidden]@example.org/" in library_logger
    assert "getting old" in old


def test_granian_writes_no_log_lines_of_its_own() -> None:
    captured = CapturedLog(LogFormat.JSON)
    from granian.log import LogLevels, configure_logging

    configure_logging(LogLevels.warning, granian_internals.logging_config(LogLevel.INFO))
    logging.getLogger("_granian").info("hello")
    logging.getLogger("_granian").error("worker lost")

    assert captured.event["event"] == "worker lost"
