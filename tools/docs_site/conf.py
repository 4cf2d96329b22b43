"""Configuration of Sphinx for `make docs`: the pages of docs/ as a site, without anything from other hosts."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

_ROOT = Path(__file__).parents[2]
_PROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# The decisions, for the navigation. On GitHub the table of their README is enough; a toctree would show as code.
_DECISIONS = """
```{toctree}
:hidden:
:glob:

[0-9]*
```
"""
# Code blocks in notations of our own.
_OWN_NOTATIONS = ("address", "filter", "rewrite", "scraper")

project = "Tidings"
author = "the Tidings maintainers"
html_show_copyright = False
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Tidings"
html_copy_source = False


def _link_repository(_app: Sphinx, page: str, source: list[str]) -> None:
    """Point links that leave docs/ to the repository: one "../" in docs/api.md, two in docs/decisions/001-….md."""
    outside = re.compile(rf"\]\((?:\.\./){{{page.count('/') + 1}}}([^)#]+)")
    source[0] = outside.sub(rf"]({_PROJECT['urls']['Source']}/\1", source[0])


def _list_decisions(_app: Sphinx, page: str, source: list[str]) -> None:
    if page == "decisions/README":
        source[0] += _DECISIONS


def setup(app: Sphinx) -> None:
    for notation in _OWN_NOTATIONS:
        app.add_lexer(notation, TextLexer)
    app.connect("source-read", _link_repository)
    app.connect("source-read", _list_decisions)
