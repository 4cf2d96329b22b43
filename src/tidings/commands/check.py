"""`tidings check`: whether the database is whole, and its repair."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from tidings.commands.application import LoadedSettings, open_application, prepare
from tidings.commands.terminal import progress_bar, say

# Exit code when the command works, but the database has problems.
EXIT_PROBLEMS = 4


def check(*, repair: Annotated[bool, Parameter(name="--repair", negative="")] = False, loaded: LoadedSettings) -> int:
    """Check that the database is whole: its file, references between rows, counters, and the search index.

    Prints one line for each problem. The exit code is 0 if there is none or all were repaired, and 4 if problems are
    left. Tidings may keep running, but reading everything takes a while: some minutes for a million entries.

    Parameters
    ----------
    repair
        Repair what can be repaired: rows without an owner are deleted, counters are counted again, missing entries
        are indexed again. Make a backup before.
    """
    count = left = 0
    with progress_bar("Reading the database") as progress:
        prepare(loaded.settings)
        with open_application(loaded.settings) as application:
            application.check()
            for problem in application.problems(progress, repair=repair):
                count += 1
                left += not problem.is_repaired
                say(f"{problem.area}: {problem.text}{' (repaired)' if problem.is_repaired else ''}")
    say(_summary(count, left, repair=repair))
    return EXIT_PROBLEMS if left else 0


def _summary(count: int, left: int, *, repair: bool) -> str:
    if not count:
        return "No problems found."
    if not left:
        return f"All problems were repaired: {count}"
    advice = "restore a backup with `tidings restore`" if repair else "`tidings check --repair` repairs what it can"
    return f"Problems: {left}; {advice}"
