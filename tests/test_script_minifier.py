"""Scripts are made small by a child process."""

from __future__ import annotations

import sys

import pytest
from structlog.testing import capture_logs

from tidings.runtime.script_minifier import minify_script

SCRIPT = """
// A sum.
const $sums = (() => {
  const first = 1;
  return { sum: (second) => `${first}  +  ${second}`.replace(/ {2}/g, " ") };
})();
"""


@pytest.fixture(autouse=True)
def afresh() -> None:
    minify_script.cache_clear()


def test_names_are_short_and_strings_stay() -> None:
    small = minify_script(SCRIPT)

    assert len(small) < len(SCRIPT) - 50
    assert "first" not in small
    assert "sum" in small
    assert "/ {2}/g" in small


def test_a_script_that_cannot_be_read_is_served_as_it_is() -> None:
    with capture_logs() as logged:
        assert minify_script("const a = ; {") == "const a = ; {"

    assert [line["event"] for line in logged] == ["scripts not minified"]
    assert "unexpected ;" in logged[0]["error"]


def test_without_the_child_process_the_script_is_served_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    assert minify_script(SCRIPT) == SCRIPT
