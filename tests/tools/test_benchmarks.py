"""Benchmarks end with an error for answers that are not right, and with a status for what is too slow."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from benchmarks import api, growth
from benchmarks.plots import Axis, Bars, Curve, write_bars, write_plot

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


def entry(content: str = "x" * 3_000, title: str = "A feed") -> dict[str, object]:
    return {"content": content, "feed": {"title": title}}


@pytest.mark.parametrize(
    "answer",
    [
        {"total": 0, "entries": []},
        {"total": 100, "entries": [entry()]},
        {"total": 2, "entries": [entry(), entry()]},
        {"total": 100, "entries": [entry(), entry(content="")]},
        {"total": 100, "entries": [entry(), entry(title="")]},
    ],
    ids=["nothing", "too few", "another total", "without content", "without feed"],
)
def test_a_list_that_is_not_right_is_not_measured(answer: object) -> None:
    with pytest.raises(AssertionError):
        api._is_list(2, 100)(answer)


def test_a_page_for_a_visitor_is_not_measured() -> None:
    with pytest.raises(AssertionError):
        api._is_page("Entry")(b"<h1>Sign in</h1> to read Entry 1")
    api._is_page("Entry")(b'<form action="/sign-out"></form> Entry 1')


@pytest.mark.parametrize(("ours", "is_too_slow"), [(7.9, True), (8.1, False)])
def test_a_case_below_its_minimum_is_too_slow(
    ours: float, is_too_slow: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    result = api._result("sqlite", "me", 8, [[ours, 1.0], [ours, 1.0], [90.0, 1.0]])

    assert result.is_too_slow is is_too_slow
    assert ("too slow" in capsys.readouterr().out) is is_too_slow


def test_without_the_reference_nothing_is_too_slow() -> None:
    assert not api._result("sqlite", "me", 8, [[0.1], [0.1]]).is_too_slow


@pytest.mark.parametrize(
    ("values", "is_too_slow"), [([2.0, 9.0, 2.5], False), ([2.0, 2.0, 2.7], True), ([0.01, 0.4, 0.6], False)]
)
def test_growth_is_judged_by_the_first_and_the_last_size(values: list[float], is_too_slow: bool) -> None:
    assert growth._is_too_slow("sqlite", "all, 50", values) is is_too_slow


def test_bars_end_at_their_value_on_a_logarithmic_axis(tmp_path: Path) -> None:
    write_bars(
        tmp_path / "bars.svg",
        title="rates & ratios",
        engines=("SQLite", "PostgreSQL"),
        groups=[Bars("one", [1.0, 10.0]), Bars("two", [100.0, None])],
    )

    drawing = ET.parse(tmp_path / "bars.svg").getroot()
    widths = [float(bar.attrib["width"]) for bar in drawing.iter(f"{SVG}rect") if "fill" in bar.attrib][1:]
    assert widths[0] == 1
    assert widths[2] == pytest.approx(2 * widths[1], abs=0.2)


@pytest.mark.parametrize("values", [[], [None], [0.0, 1.0]])
def test_bars_without_values_are_an_error(values: list[float | None], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="above zero"):
        write_bars(tmp_path / "bars.svg", title="", engines=("SQLite",), groups=[Bars("one", values)])


def test_a_plot_in_the_course_of_time_shows_each_curve(tmp_path: Path) -> None:
    path = tmp_path / "memory.svg"
    write_plot(
        path, title="Memory & time", curves=[Curve("one", [1, 2, 4]), Curve("two", [4])], axis=Axis("minutes", 20, 10)
    )

    drawing = ET.parse(path).getroot()
    written = ["".join(text.itertext()) for text in drawing.iter(f"{SVG}text")]
    assert [text for text in written if not text.isdigit()] == ["Memory & time", "minutes", "one", "two"]
    assert [text for text in written if text.isdigit()] == ["0", "1", "2", "3", "4", "0", "10", "20"]
    points = [line.get("points", "").split() for line in drawing.iter(f"{SVG}polyline")]
    assert [len(curve) for curve in points] == [3, 1]
