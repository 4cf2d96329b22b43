"""`python -m scoring [part ...]`: prints the scores as a table, then the misses and their reasons.

`trafilatura=PATH` and `scrapinghub=PATH` are parts, too: they need the path of a clone (`scoring.benchmarks`).

Exits with 1 if a score is too low.

Parts whose data is not on this machine are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from scoring.claims import Claim, misses
from scoring.scores import CLONED_PARTS, PARTS, Part, Score


def main() -> int:
    chosen = sys.argv[1:] or list(PARTS)
    if unknown := [name for name in chosen if _measure_of(name) is None]:
        cloned = (f"{name}=PATH" for name in CLONED_PARTS)
        sys.stderr.write(f"no such part: {', '.join(unknown)}; there are {', '.join([*PARTS, *cloned])}\n")
        return 2
    found = []
    _print(f"{'':18} {'':26} {'score':>7}  {'floor':>6}")
    for name in chosen:
        try:
            measure = _measure_of(name)
            assert measure is not None
            part = measure()
        except FileNotFoundError as missing:
            _print(f"{name:18} left out, {missing.filename} is not on this machine")
            continue
        found.append(part)
        for score in part.scores:
            _print(_line(score))
    for part in found:
        for line in _misses(part):
            _print(line)
    low = [score for part in found for score in part.scores if not score.is_reached]
    _print(
        "\n".join(["", *(f"too low: {score.part}, {score.field}" for score in low)]) if low else "\nall as they should"
    )
    return 1 if low else 0


def _measure_of(name: str) -> Callable[[], Part] | None:
    """Return what measures a part, None if there is none of that name."""
    part, _, clone = name.partition("=")
    if clone and part in CLONED_PARTS:
        return partial(CLONED_PARTS[part], Path(clone))
    return PARTS.get(name)


def _line(score: Score) -> str:
    is_share = score.part != "throughput"
    floor = "" if score.floor is None else _number(score.floor, is_share=is_share)
    verdict = "" if score.is_reached else "  too low"
    value = _number(score.value, is_share=is_share)
    return f"{score.part:18} {score.field:26} {value:>7}  {floor:>6}  {score.shown}{verdict}"


def _number(value: float, *, is_share: bool) -> str:
    return f"{value:.1%}" if is_share else f"{value:.1f}"


def _misses(part: Part) -> Iterable[str]:
    """Return one line per document and field: the first miss, and the number of similar ones."""
    groups: dict[tuple[str, str], list[Claim]] = {}
    for claim in part.misses:
        groups.setdefault((claim.document.partition(" #")[0], claim.field), []).append(claim)
    if groups:
        yield f"\n{part.scores[0].part}: what misses"
    for group in groups.values():
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        yield misses(group[:1], part.reasons) + more


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
