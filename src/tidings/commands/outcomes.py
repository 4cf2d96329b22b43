"""Exit codes of commands, and the line on stderr that explains one that is not 0."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import structlog

from tidings import settings
from tidings.base.errors import TidingsError
from tidings.commands.terminal import print_error

DONE, FAILED, NOT_UNDERSTOOD, INTERRUPTED = 0, 1, 2, 130


def exit_code_of(command: Callable[[], Any]) -> int:
    """Run a command and return its exit code. An error is one line on stderr.

    command: returns its exit code; anything else than a number means success.
    """
    try:
        result = command()
    except TidingsError as error:
        report(error.message)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output closed the pipe, as `head` does. Python would report that again at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:  # noqa: BLE001  (a trace does not help at a terminal; on debug it is logged)
        return _report_unexpected(error)
    return result if isinstance(result, int) else DONE


def report(line: str) -> None:
    print_error(line, settings.wanted_log_format())


def _report_unexpected(error: Exception) -> int:
    if structlog.is_configured():
        structlog.get_logger().debug("command failed", exc_info=error)
    # Only the first line: the next ones of a database error hold the statement and its values, even password hashes.
    first_line, *_ = str(error).strip().splitlines() or ["no reason given"]
    reason = f"{type(error).__name__}: {first_line}"
    report(f"{reason} (this was not expected; TIDINGS_LOG_LEVEL=debug shows where it was)")
    return FAILED
