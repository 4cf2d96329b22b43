"""`python -m abuse [--short] [--list] [THEME …]`: makes all attempts, and prints the successful ones.

Exit codes: 0 all attempts were blocked; 1 an attempt succeeded; 2 invalid arguments; 3 all were blocked, but some are
impossible on this machine; 4 all were blocked, and a finding that is listed as known has been fixed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from abuse.attempts import Result
from abuse.known import KNOWN, reason
from abuse.testbed import Testbed
from abuse.themes import THEMES

EXIT_BLOCKED, EXIT_SUCCEEDED, EXIT_NOT_TRIED, EXIT_OUTDATED = 0, 1, 3, 4


class Report:
    """The results of the attempts, by theme."""

    def __init__(self) -> None:
        self._results: dict[str, list[Result]] = defaultdict(list)

    def add(self, theme: str, result: Result) -> None:
        self._results[theme].append(result)

    def succeeded(self) -> list[tuple[str, Result]]:
        return [(theme, result) for theme, result in self._all() if result.evidence and not _known(theme, result)]

    def known(self) -> list[tuple[str, Result]]:
        return [(theme, result) for theme, result in self._all() if result.evidence and _known(theme, result)]

    def not_tried(self) -> list[tuple[str, Result]]:
        return [(theme, result) for theme, result in self._all() if result.not_tried]

    def fixed(self) -> list[tuple[str, str]]:
        """Return theme and pattern of known findings that were tried and blocked."""
        return [(theme, pattern) for theme, pattern in KNOWN if self._is_blocked(theme, pattern)]

    def _is_blocked(self, theme: str, pattern: str) -> bool:
        matching = [result for result in self._results[theme] if fnmatchcase(result.attempt.name, pattern)]
        created = [result for result in matching if not result.not_tried]
        return bool(created) and not any(result.evidence for result in created)

    def table(self) -> str:
        lines = [f"{'theme':<18}{'tried':>7}{'blocked':>9}{'succeeded':>11}{'known':>7}{'not tried':>11}"]
        for theme, results in self._results.items():
            known = sum(bool(result.evidence and _known(theme, result)) for result in results)
            succeeded = sum(bool(result.evidence) for result in results) - known
            missed = sum(bool(result.not_tried) for result in results)
            blocked = len(results) - known - succeeded - missed
            lines.append(f"{theme:<18}{len(results) - missed:>7}{blocked:>9}{succeeded:>11}{known:>7}{missed:>11}")
        return "\n".join(lines)

    def exit_code(self) -> int:
        if self.succeeded():
            return EXIT_SUCCEEDED
        if self.fixed():
            return EXIT_OUTDATED
        return EXIT_NOT_TRIED if self.not_tried() else EXIT_BLOCKED

    def _all(self) -> Iterable[tuple[str, Result]]:
        return ((theme, result) for theme, results in self._results.items() for result in results)


def _known(theme: str, result: Result) -> str:
    return reason(theme, result.attempt.name)


def attack(themes: Sequence[str], testbed: Testbed, *, every: bool = False) -> Report:
    """Make the attempts of the themes. every: print each attempt, not only the successful ones."""
    report = Report()
    try:
        for theme in themes:
            begun = time.monotonic()
            for result in THEMES[theme](testbed):
                report.add(theme, result)
                _print_result(theme, result, every=every)
            print(f"{theme}: {time.monotonic() - begun:.1f} s", flush=True)
    finally:
        testbed.close()
    return report


def _print_result(theme: str, result: Result, *, every: bool) -> None:
    what = f"{theme}/{result.attempt.name}"
    if result.evidence:
        outcome = f"known ({_known(theme, result)})" if _known(theme, result) else "SUCCEEDED"
        print(f"{what}: {outcome}\n  tried: {result.attempt.tries}\n  seen: {result.evidence[:600]}", flush=True)
    elif result.not_tried:
        print(f"{what}: not tried: {result.not_tried}", flush=True)
    elif every:
        print(f"{what}: blocked ({result.attempt.tries}; it succeeds if: {result.attempt.succeeds_if})", flush=True)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="abuse", description="Start a service, attack it, and report successful attacks."
    )
    parser.add_argument("themes", nargs="*", metavar="THEME", help=f"of {', '.join(THEMES)}; all without one")
    parser.add_argument("--short", action="store_true", help="a few attempts of each theme")
    parser.add_argument("--list", action="store_true", help="print every attempt, also blocked ones")
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a TIDINGS_ setting of the services under attack",
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.themes) - set(THEMES):
        parser.error(f"no such theme: {', '.join(sorted(unknown))}")
    report = attack(
        options.themes or list(THEMES), Testbed(options.short, _settings(options.setting)), every=options.list
    )
    print(f"\n{report.table()}")
    for theme, name in report.fixed():
        print(f"{theme}/{name} is listed as known, but was blocked: remove it from known.py")
    return report.exit_code()


def _settings(texts: Sequence[str]) -> dict[str, str]:
    pairs = (setting.removeprefix("TIDINGS_").partition("=") for setting in texts)
    return {name.lower(): value for name, _, value in pairs}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
