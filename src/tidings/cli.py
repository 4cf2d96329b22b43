"""The command line: which verbs there are, and how each of them ends.

Exit codes: 0 done; 1 it did not work; 2 not understood, or a setting that cannot be used; 3 `status` found feeds that
nobody checks; 130 interrupted.
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
MAINTENANCE_GROUP = Group("Look after", sort_key=2)
INFO_GROUP = Group("Find out", sort_key=3)

app = App(
    name="tidings",
    help="A self-hosted feed reader. `tidings serve` runs all of it; `tidings COMMAND --help` tells more.",
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
user.group = MAINTENANCE_GROUP
app.command(user)
app.command(status, group=INFO_GROUP)
app.command(about.config, group=INFO_GROUP)
app.command(about.version, group=INFO_GROUP)
app.meta.group_parameters = Group("Everywhere", sort_key=0)


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
        A file with settings, one NAME=value a line. TIDINGS_CONFIG names one as well.
    """
    command, bound, asked_for = app.parse_args(tokens, exit_on_error=False, print_error=False)
    given: dict[str, Any] = {}
    if "loaded" in asked_for:
        try:
            given["loaded"] = settings.load_process(config)
        except StartError as error:
            raise SettingsInvalid(error.message) from error
    result = command(*bound.args, **bound.kwargs, **given)
    return result if isinstance(result, int) else DONE


def run(arguments: Sequence[str]) -> int:
    """The exit code. What went wrong is one line on stderr."""
    try:
        result = app.meta(list(arguments), exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        _complain(f"{error} See `tidings --help`.")
        return NOT_UNDERSTOOD
    except SettingsInvalid as refused:
        _complain(str(refused))
        return NOT_UNDERSTOOD
    except TidingsError as error:
        _complain(error.message)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has had enough, as `head` has. Python would complain again on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:  # noqa: BLE001  (a trace helps nobody at a terminal; whoever wants it can have it)
        return _unexpected(error)
    return result if isinstance(result, int) else DONE


def _complain(line: str) -> None:
    print_error(line, settings.wanted_log_format())


def _unexpected(error: Exception) -> int:
    if structlog.is_configured():
        structlog.get_logger().debug("command failed", exc_info=error)
    # The database driver goes on with the statement and its values, a password hash among them perhaps.
    what, *_ = str(error).strip().splitlines() or ["no reason given"]
    complaint = f"{type(error).__name__}: {what}"
    _complain(f"{complaint} (this was not expected; TIDINGS_LOG_LEVEL=debug shows where it was)")
    return FAILED


def main() -> None:
    sys.exit(run(sys.argv[1:]))
