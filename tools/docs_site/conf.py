"""Configuration of Sphinx for `make docs`: the pages of docs/ as a site, without anything from other hosts."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

_ROOT = Path(__file__).parents[2]
_PROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Links from docs/ to files of the repository.
_OUTSIDE = re.compile(r"\]\(\.\./([^)#]+)")
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


def _link_repository(_app: Sphinx, _page: str, source: list[str]) -> None:
    source[0] = _OUTSIDE.sub(rf"]({_PROJECT['urls']['Source']}/\1", source[0])


def setup(app: Sphinx) -> None:
    for notation in _OWN_NOTATIONS:
        app.add_lexer(notation, TextLexer)
    app.connect("source-read", _link_repository)
