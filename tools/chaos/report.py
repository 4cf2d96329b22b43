"""The report of a run: faults and losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from chaos.checks import CHECKS
from chaos.storm import KINDS, Outcome

MAX_LINES = 5


def table(outcome: Outcome) -> str:
    plan, lost = outcome.plan, Counter(loss.check for loss in outcome.losses)
    answers = ", ".join(f"{status}: {count}" for status, count in outcome.statuses.most_common())
    rested = f"{outcome.recovered_after_s:.0f} s" if outcome.recovered_after_s is not None else "NOT IN TIME"
    lines = [
        f"== {plan.engine}: {plan.seconds:.0f} s, seed {plan.seed}",
        "",
        *_rows(("fault", "times"), outcome.tried.most_common()),
        *(f"not possible here: {name}: {why}" for name, why in outcome.not_possible.items()),
        "",
        *_rows(("acknowledged and compared", "facts", "in doubt", "lost"), _facts(outcome, lost)),
        *_rows(("found in the database", "", "", "wrong"), [(name, "", "", lost.pop(name, 0)) for name in CHECKS]),
        *_rows(("otherwise", "", "", "wrong"), [(name, "", "", count) for name, count in lost.items()]),
        "",
        f"entries published {outcome.published}, deliveries accepted {outcome.delivered}, sent again {outcome.repeats}",
        f"at rest after {rested}; answers: {answers}",
        *(f"  {count:5}  {text}" for text, count in outcome.notes.most_common()),
        *_counts(outcome),
    ]
    return "\n".join(lines) + "\n"


def _counts(outcome: Outcome) -> Iterator[str]:
    """Yield the first losses of each check."""
    counts: Counter[str] = Counter()
    for loss in outcome.losses:
        counts[loss.check] += 1
        if counts[loss.check] <= MAX_LINES:
            yield f"LOST  {loss.check}: {loss.what}"
    yield from (f"LOST  {check}: {n - MAX_LINES} more" for check, n in counts.items() if n > MAX_LINES)


def _facts(outcome: Outcome, lost: Counter[str]) -> Iterable[tuple[object, ...]]:
    ledger = outcome.ledger
    return [(kind, ledger.acknowledged[kind], ledger.doubtful[kind], lost.pop(kind, 0)) for kind in KINDS]


def _rows(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> list[str]:
    rows = list(rows)
    return [_row(head), *map(_row, rows)] if rows else []


def _row(cells: tuple[object, ...]) -> str:
    first, *others = cells
    return f"{first!s:<34}" + "".join(f"{cell!s:>10}" for cell in others)
