"""The command line: its commands, and its exit codes.

Exit codes: 0 success; 1 failure; 2 unknown arguments, or a setting that cannot be used; 3 `status` found overdue
feeds; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import structlog
from cyclopts import App, CycloptsError, Group, Parameter

from tidings import __version__, settings
from tidings.commands import about, maintenance, running
from tidings.commands.status import status
from tidings.commands.terminal import print_error
from tidings.commands.users import user
from tidings.domain.errors import StartError, TidingsError

DONE, FAILED, NOT_UNDERSTOOD, INTERRUPTED = 0, 1, 2, 130

RUN_GROUP = Group("Run", sort_key=1)
MAINTENANCE_GROUP = Group("Maintain", sort_key=2)
INFO_GROUP = Group("Inspect", sort_key=3)

app = App(
    name="tidings",
    help="A self-hosted feed reader. `tidings serve` runs all of it; `tidings COMMAND --help` explains a command.",
    help_epilogue="Settings come from TIDINGS_* in the environment and from --config: docs/configuration.md.",
    version=__version__,
    version_flags=["--version"],
)
app["--help"].group = INFO_GROUP
app["--version"].group = INFO_GROUP
app.command(running.serve, group=RUN_GROUP)
app.command(running.web, group=RUN_GROUP)
app.command(running.worker, group=RUN_GROUP)
app.command(maintenance.migrate, group=MAINTENANCE_GROUP)
app.command(maintenance.refresh, group=MAINTENANCE_GROUP)
app.command(maintenance.tidy, group=MAINTENANCE_GROUP)
app.command(maintenance.backup, group=MAINTENANCE_GROUP)
user.group = MAINTENANCE_GROUP
app.command(user)
app.command(status, group=INFO_GROUP)
app.command(about.config, group=INFO_GROUP)
app.command(about.version, group=INFO_GROUP)
app.meta.group_parameters = Group("Options of every command", sort_key=0)


class SettingsInvalid(Exception):
    """A setting cannot be used; the message is for the operator."""


@app.meta.default
def launch(
    *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    config: Annotated[Path | None, Parameter(name="--config", negative="")] = None,
) -> int:
    """Run one command.

    Parameters
    ----------
    config
        A file of settings, one NAME=value per line. TIDINGS_CONFIG can name it instead.
    """
    command, bound, unparsed = app.parse_args(tokens, exit_on_error=False, print_error=False)
    extra: dict[str, Any] = {}
    if "loaded" in unparsed:
        try:
            extra["loaded"] = settings.load_process(config)
        except StartError as error:
            raise SettingsInvalid(error.message) from error
    result = command(*bound.args, **bound.kwargs, **extra)
    return result if isinstance(result, int) else DONE


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code. An error is one line on stderr."""
    try:
        result = app.meta(list(arguments), exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        _print_error(f"{error} See `tidings --help`.")
        return NOT_UNDERSTOOD
    except SettingsInvalid as error:
        _print_error(str(error))
        return NOT_UNDERSTOOD
    except TidingsError as error:
        _print_error(error.message)
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


def _print_error(line: str) -> None:
    print_error(line, settings.wanted_log_format())


def _report_unexpected(error: Exception) -> int:
    if structlog.is_configured():
        structlog.get_logger().debug("command failed", exc_info=error)
    # Only the first line: the next ones of a database error hold the statement and its values, even password hashes.
    first_line, *_ = str(error).strip().splitlines() or ["no reason given"]
    reason = f"{type(error).__name__}: {first_line}"
    _print_error(f"{reason} (this was not expected; TIDINGS_LOG_LEVEL=debug shows where it was)")
    return FAILED


def main() -> None:
    sys.exit(run(sys.argv[1:]))
