"""`content` as a library: its front page, the example in the documentation, and that it needs nothing of the core."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tidings import content

PAGE = Path(__file__).parents[2] / "docs/parser-library.md"


def run(code: str) -> str:
    """Return what a fresh interpreter prints for the code."""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_example_in_the_documentation_runs() -> None:
    [example] = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)

    assert "not with a feed" in run(example)


@pytest.mark.parametrize("name", content.__all__)
def test_each_offered_name_exists_and_is_documented(name: str) -> None:
    assert getattr(content, name).__doc__
    assert content.__doc__
    assert re.search(rf"\b{name}\b", content.__doc__ + PAGE.read_text(encoding="utf-8"))


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(content, "parse_feeds")


def test_importing_the_front_page_loads_no_parser() -> None:
    loaded = set(run("import sys, tidings.content; print(*sys.modules)").split())

    assert loaded & {"lxml", "selectolax", "readability", "re2", "PIL"} == set()
