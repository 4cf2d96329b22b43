"""Draws small SVG plots for the documentation: lines, and bars on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from msgspec import Struct

WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 40, 40
COLORS = ("#b0602a", "#2a62b0", "#3a8a4d", "#8a4d9e", "#777777")


class Curve(Struct, frozen=True):
    """values: at equal distances."""

    name: str
    values: Sequence[float]


class Axis(Struct, frozen=True):
    """The horizontal axis, from zero to `end`, with a number at every `step`."""

    title: str
    end: int
    step: int


class Bars(Struct, frozen=True):
    """values: above zero, one for each engine; None where there is none."""

    name: str
    values: Sequence[float | None]


def write_bars(path: Path, *, title: str, engines: Sequence[str], groups: Sequence[Bars]) -> None:
    """Write a plot of groups of bars, below each other, on a logarithmic axis.

    engines: at most as many as there are colors. Raises ValueError without any value.
    """
    values = [value for group in groups for value in group.values if value is not None]
    if not values or min(values) <= 0:
        raise ValueError("a logarithmic axis needs values above zero")
    lowest, highest = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)) + 0.001)
    left, row, bar = 200, 12 * len(engines) + 8, 10
    width, height = WIDTH - left - 60, row * len(groups)
    top = TOP + 20  # below the names

    def x(value: float) -> float:
        return left + width * (math.log10(value) - lowest) / (highest - lowest)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height + top + 30}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height + top + 30}" fill="#fff"/>',
        f'<text x="10" y="20" font-size="14">{escape(title)}</text>',
    ]
    for power in range(lowest, highest + 1):
        parts.append(f'<path d="M{x(10.0**power):.1f} {top - 6}V{top + height}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{x(10.0**power):.1f}" y="{top + height + 16}" text-anchor="middle">{10.0**power:g}</text>'
        )
    for number, (engine, color) in enumerate(zip(engines, COLORS, strict=False)):
        parts.append(f'<text x="{10 + 150 * number}" y="40" fill="{color}">{escape(engine)}</text>')
    for place, group in enumerate(groups):
        first = top + row * place
        parts.append(f'<text x="{left - 8}" y="{first + row / 2 + 2:g}" text-anchor="end">{escape(group.name)}</text>')
        for number, value in enumerate(group.values):
            if value is None:
                continue
            y = first + 12 * number
            size = f'width="{max(1.0, x(value) - left):.1f}" height="{bar}" fill="{COLORS[number]}"'
            parts.append(f'<rect x="{left}" y="{y}" {size}/>')
            parts.append(f'<text x="{max(1.0, x(value)) + 4:.1f}" y="{y + 9}" font-size="10">{value:.3g}</text>')
    path.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


def write_plot(path: Path, *, title: str, curves: Sequence[Curve], axis: Axis) -> None:
    """Write a plot of values in the course of time; both axes begin at zero."""
    highest = _round_up(max(max(curve.values) for curve in curves))
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
    ]
    for step in range(5):
        y = TOP + height - height * step / 4
        parts.append(f'<path d="M{LEFT} {y:g}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:g}" text-anchor="end">{highest * step / 4:,.0f}</text>')
    for mark in range(0, axis.end + 1, axis.step):
        x = LEFT + width * mark / axis.end
        parts.append(f'<text x="{x:g}" y="{HEIGHT - 20}" text-anchor="middle">{mark}</text>')
    middle = f'x="{LEFT + width / 2:g}" y="{HEIGHT - 4}" text-anchor="middle"'
    parts.append(f"<text {middle}>{escape(axis.title)}</text>")
    for number, (curve, color) in enumerate(zip(curves, COLORS, strict=False)):
        step_x = width / len(curve.values)
        points = " ".join(
            f"{LEFT + (place + 0.5) * step_x:.1f},{TOP + height * (1 - value / highest):.1f}"
            for place, value in enumerate(curve.values)
        )
        parts.append(f'<polyline fill="none" stroke="{color}" points="{points}"/>')
        x = WIDTH - RIGHT - 120 * (len(curves) - number)
        parts.append(f'<text x="{x}" y="{TOP - 6}" fill="{color}">{escape(curve.name)}</text>')
    path.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


def _round_up(value: float) -> float:
    """Round up to a whole number of steps: 4 units, or 40, 400 and so on for large values."""
    step = 4
    while step * 50 < value:
        step *= 10
    return -(-value // step) * step
