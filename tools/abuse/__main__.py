"""`python -m abuse [--short] [--list] [THEME …]`: try everything, print what got through.

Exit codes: 0 nothing got through; 1 something did; 2 not understood; 3 nothing got through, but something could not be
tried here; 4 nothing got through, and a finding that is listed as known is mended by now.
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

HELD, THROUGH, NOT_TRIED, OUTDATED = 0, 1, 3, 4


class Report:
    """What came of the attempts, by theme."""

    def __init__(self) -> None:
        self._results: dict[str, list[Result]] = defaultdict(list)

    def add(self, theme: str, result: Result) -> None:
        self._results[theme].append(result)

    def through(self) -> list[tuple[str, Result]]:
        return [(theme, result) for theme, result in self._all() if result.evidence and not _known(theme, result)]

    def known(self) -> list[tuple[str, Result]]:
        return [(theme, result) for theme, result in self._all() if result.evidence and _known(theme, result)]

    def not_tried(self) -> list[tuple[str, Result]]:
        return [(theme, result) for theme, result in self._all() if result.not_tried]

    def mended(self) -> list[tuple[str, str]]:
        """Listed as known, tried, and held off by now."""
        return [(theme, pattern) for theme, pattern in KNOWN if self._is_held(theme, pattern)]

    def _is_held(self, theme: str, pattern: str) -> bool:
        matching = [result for result in self._results[theme] if fnmatchcase(result.attempt.name, pattern)]
        made = [result for result in matching if not result.not_tried]
        return bool(made) and not any(result.evidence for result in made)

    def table(self) -> str:
        lines = [f"{'theme':<18}{'tried':>7}{'held':>7}{'through':>9}{'known':>7}{'not tried':>11}"]
        for theme, results in self._results.items():
            known = sum(bool(result.evidence and _known(theme, result)) for result in results)
            through = sum(bool(result.evidence) for result in results) - known
            missed = sum(bool(result.not_tried) for result in results)
            held = len(results) - known - through - missed
            lines.append(f"{theme:<18}{len(results) - missed:>7}{held:>7}{through:>9}{known:>7}{missed:>11}")
        return "\n".join(lines)

    def exit_code(self) -> int:
        if self.through():
            return THROUGH
        if self.mended():
            return OUTDATED
        return NOT_TRIED if self.not_tried() else HELD

    def _all(self) -> Iterable[tuple[str, Result]]:
        return ((theme, result) for theme, results in self._results.items() for result in results)


def _known(theme: str, result: Result) -> str:
    return reason(theme, result.attempt.name)


def attack(themes: Sequence[str], testbed: Testbed, *, every: bool = False) -> Report:
    """every: print each attempt, not only those that got through."""
    report = Report()
    try:
        for theme in themes:
            begun = time.monotonic()
            for result in THEMES[theme](testbed):
                report.add(theme, result)
                _tell(theme, result, every=every)
            print(f"{theme}: {time.monotonic() - begun:.1f} s", flush=True)
    finally:
        testbed.close()
    return report


def _tell(theme: str, result: Result, *, every: bool) -> None:
    what = f"{theme}/{result.attempt.name}"
    if result.evidence:
        outcome = f"known ({_known(theme, result)})" if _known(theme, result) else "GOT THROUGH"
        print(f"{what}: {outcome}\n  tried: {result.attempt.tries}\n  seen: {result.evidence[:600]}", flush=True)
    elif result.not_tried:
        print(f"{what}: not tried: {result.not_tried}", flush=True)
    elif every:
        print(f"{what}: held ({result.attempt.tries}; a success would be: {result.attempt.through_when})", flush=True)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="abuse", description="Attack a Tidings of its own and tell what got through.")
    parser.add_argument("themes", nargs="*", metavar="THEME", help=f"of {', '.join(THEMES)}; all without one")
    parser.add_argument("--short", action="store_true", help="a few attempts of each theme")
    parser.add_argument("--list", action="store_true", help="print every attempt, also those that were held off")
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a TIDINGS_ setting of the services, to see what gets through with it",
    )
    given = parser.parse_args(arguments)
    if unknown := set(given.themes) - set(THEMES):
        parser.error(f"no such theme: {', '.join(sorted(unknown))}")
    report = attack(given.themes or list(THEMES), Testbed(given.short, _settings(given.setting)), every=given.list)
    print(f"\n{report.table()}")
    for theme, name in report.mended():
        print(f"{theme}/{name} is listed as known, but was held off: take it out of known.py")
    return report.exit_code()


def _settings(given: Sequence[str]) -> dict[str, str]:
    pairs = (setting.removeprefix("TIDINGS_").partition("=") for setting in given)
    return {name.lower(): value for name, _, value in pairs}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
