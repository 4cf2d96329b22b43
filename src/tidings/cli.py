"""The command line: its commands, and its exit codes.

Exit codes: 0 success; 1 failure; 2 unknown arguments, or a setting that cannot be used; 3 `status` found overdue
feeds; 4 `check` found problems that are still there; 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Group, Parameter

from tidings import __version__, settings
from tidings.base.errors import StartError
from tidings.commands import about, archives, backups, maintenance, running
from tidings.commands.categories import categories
from tidings.commands.check import check
from tidings.commands.manual import completion, manual
from tidings.commands.outcomes import DONE, NOT_UNDERSTOOD, exit_code_of, report
from tidings.commands.status import healthcheck, status
from tidings.commands.users import user

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
app.command(maintenance.cleanup, group=MAINTENANCE_GROUP)
app.command(backups.backup, group=MAINTENANCE_GROUP)
app.command(backups.restore, group=MAINTENANCE_GROUP)
app.command(check, group=MAINTENANCE_GROUP)
app.command(backups.move, group=MAINTENANCE_GROUP)
app.command(archives.export_account, name="export", group=MAINTENANCE_GROUP)
app.command(archives.import_account, name="import", group=MAINTENANCE_GROUP)
user.group = MAINTENANCE_GROUP
app.command(user)
categories.group = MAINTENANCE_GROUP
app.command(categories)
app.command(status, group=INFO_GROUP)
app.command(healthcheck, group=INFO_GROUP)
app.command(about.config, group=INFO_GROUP)
app.command(about.version, group=INFO_GROUP)
app.command(manual, group=INFO_GROUP)
app.command(completion, group=INFO_GROUP)
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
    return exit_code_of(lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> Any:
    try:
        return app.meta(list(arguments), exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        report(f"{error} See `tidings --help`.")
    except SettingsInvalid as error:
        report(str(error))
    return NOT_UNDERSTOOD


def main() -> None:
    sys.exit(run(sys.argv[1:]))
