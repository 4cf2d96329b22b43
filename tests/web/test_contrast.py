"""Colours of the style sheet, compared as WCAG 2.2 compares them: in every theme, whatever stands on whatever."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Final

import pytest

from tidings.domain.entries.labels import COLORS

TOKENS: Final = files("tidings.web").joinpath("static", "css", "tokens.css").read_text()
_BLOCK: Final = re.compile(r":root(?P<theme>\[data-theme=\"\w+\"\])?\s*\{(?P<body>[^}]*)\}")
_COLOUR: Final = re.compile(r"--(?P<name>[a-z-]+):\s*(?P<value>#[0-9a-f]{3,6})\s*[;}]")
_MEDIA: Final = re.compile(r"@media \((?P<query>[^)]*)\)\s*\{(?P<body>(?:[^{}]*\{[^}]*\})*\s*)\}")

# Foreground, and how much it has to stand out from the paper, the sidebar and what is chosen.
# 1.4.3 and 1.4.6 of WCAG for text; 1.4.11 for the edges of what is filled in.
NEEDED: Final = {"ink": 7.0, "soft": 4.5, "accent": 4.5, "warn": 4.5, "danger": 4.5, "edge": 3.0}
BACKGROUNDS: Final = ("paper", "raised", "selected")

Colours = dict[str, str]


def colours(block: str) -> Colours:
    return {match["name"]: match["value"] for match in _COLOUR.finditer(block)}


def blocks(css: str) -> Iterator[tuple[str, Colours]]:
    """Name of the theme ("" for all of them), and what it sets."""
    for match in _BLOCK.finditer(css):
        name = re.sub(r'\[data-theme="(\w+)"\]', r"\1", match["theme"] or "")
        yield name, colours(match["body"] + ";")


def themes() -> dict[str, Colours]:
    """Return every theme with the browser's preferences applied."""
    plain = dict(_merged(blocks(_MEDIA.sub("", TOKENS))))
    dark, more = (
        dict(_merged(blocks(when(query)))) for query in ("prefers-color-scheme: dark", "prefers-contrast: more")
    )
    base = plain[""]
    light, night = base, base | plain["dark"]
    return {
        "light": light,
        "dark": night,
        "system, dark": base | dark["system"],
        "contrast": base | plain["contrast"],
        "contrast, dark": base | plain["contrast"] | dark["contrast"],
        "light, more contrast": light | more[""],
        "dark, more contrast": night | more["dark"],
    }


def when(query: str) -> str:
    """The style sheet for those of whom this is true."""
    return "".join(match["body"] for match in _MEDIA.finditer(TOKENS) if match["query"] == query)


def _merged(found: Iterator[tuple[str, Colours]]) -> Iterator[tuple[str, Colours]]:
    together: dict[str, Colours] = {}
    for name, colours in found:
        together[name] = together.get(name, {}) | colours
    yield from together.items()


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance. colour: #rgb or #rrggbb."""
    digits = colour[1:] if len(colour) == 7 else "".join(one * 2 for one in colour[1:])
    parts = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """From 1, the same, to 21, black on white."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", themes())
def test_colours_have_the_required_contrast_on_every_background(theme: str) -> None:
    chosen = themes()[theme]
    pairs = {(fore, ground): least for fore, least in NEEDED.items() for ground in BACKGROUNDS}
    # The notice at the foot is the other way round.
    pairs |= {("accent-ink", "accent"): 4.5, ("paper", "ink"): 7.0}
    found = {pair: contrast(chosen[pair[0]], chosen[pair[1]]) for pair in pairs}
    assert {pair: round(value, 2) for pair, value in found.items() if value < pairs[pair]} == {}


def test_colours_of_labels_stand_out_in_every_theme() -> None:
    pairs = dict(re.findall(r"--label-([a-z]+): light-dark\((#\w+, #\w+)\)", TOKENS))
    assert tuple(pairs) == COLORS
    found = {
        (name, theme, ground): contrast(pair.split(", ")[luminance(chosen["paper"]) < 0.2], chosen[ground])
        for name, pair in pairs.items()
        for theme, chosen in themes().items()
        for ground in BACKGROUNDS
    }
    assert {where: round(value, 2) for where, value in found.items() if value < 4.5} == {}


def test_the_high_contrast_theme_has_higher_contrast() -> None:
    for name in ("contrast", "contrast, dark"):
        chosen = themes()[name]
        assert contrast(chosen["ink"], chosen["paper"]) > 20
        assert contrast(chosen["soft"], chosen["paper"]) > 12
        assert contrast(chosen["accent"], chosen["paper"]) > 7


def test_the_dark_theme_is_the_same_by_setting_and_by_preference() -> None:
    assert themes()["dark"] == themes()["system, dark"]


def test_contrast_is_computed_as_defined_by_wcag() -> None:
    assert contrast("#000", "#fff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
