"""Positions of the parts of charts. The templates contain the drawings themselves."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import date, timedelta

from msgspec import Struct

# Each bar of the bar chart is one unit wide; the chart is stretched to fit.
HEIGHT = 100
GAP = 0.25
# Pixels of the calendar: the distance between two days, and the room for the months above.
STEP = 13
TOP = 18
LEVELS = 4


class Bar(Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float
    day: date
    count: int


class Cell(Struct, frozen=True):
    """A day in the chart."""

    x: int
    y: int
    level: int
    """0 for nothing, up to LEVELS."""
    day: date
    count: int


class Month(Struct, frozen=True):
    """The label of a month above the chart."""

    x: int
    day: date
    """The month's first day in the chart."""


class Calendar(Struct, frozen=True):
    width: int
    height: int
    cells: list[Cell]
    months: list[Month]


def bars(days: Sequence[date], counts: Sequence[int]) -> list[Bar]:
    """Return the bars. Days without entries have none; the smallest bar is still visible."""
    largest = max(counts, default=0)
    return [
        Bar(number + GAP / 2, HEIGHT - height, 1 - GAP, height, day, count)
        for number, (day, count) in enumerate(zip(days, counts, strict=True))
        if count
        for height in (max(round(HEIGHT * count / largest, 2), 1.0),)
    ]


def calendar(days: Sequence[date], counts: Sequence[int], *, first_weekday: int) -> Calendar:
    """Return the calendar, a column for each week. days: consecutive; first_weekday: 0 for Monday."""
    ranked = sorted(count for count in counts if count)
    monday = days[0] - timedelta(days=(days[0].weekday() - first_weekday) % 7)
    cells = []
    for day, count in zip(days, counts, strict=True):
        week, weekday = divmod((day - monday).days, 7)
        cells.append(Cell(week * STEP, TOP + weekday * STEP, _level(count, ranked), day, count))
    weeks = (days[-1] - monday).days // 7 + 1
    # The last month needs room for its name.
    months = [Month(cell.x, cell.day) for cell in cells if cell.day.day == 1 and cell.x < (weeks - 2) * STEP]
    return Calendar(weeks * STEP, TOP + 7 * STEP, cells, months)


def _level(count: int, ranked: Sequence[int]) -> int:
    """Return the shade by rank among the days with entries, so that one extreme day does not make all others pale."""
    return -(-LEVELS * bisect_right(ranked, count) // len(ranked)) if count else 0
