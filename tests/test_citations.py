"""Every page that code and documentation cite exists, with the section that a link names."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# A page of this repository in running text or in code: `docs/polling.md`, `docs/polling.md#websub`.
PAGE = re.compile(r"(?<![\w/.-])(?:[A-Z]{4,}|docs/[\w/-]+|tests/[\w/-]+|tools/[\w/-]+)\.md(?:#[\w-]+)?")
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")
# Pages that the project was planned with. They are not part of it.
NOT_PUBLISHED = re.compile(r"(?<![\w./-])(?:spec/[\w.-]*|(?:design|house|style|ui)\.md)")


def tracked(*patterns: str) -> list[Path]:
    """Return the files of the repository that match one of the patterns of git."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


PAGES = tracked("*.md")
CODE = tracked("*.py", "*.html", "*.js", "*.css", "*.toml", "Makefile", ".ci/*")


def anchor(heading: str) -> str:
    """Return the fragment that GitHub gives a heading: lower case, dashes for spaces, no punctuation."""
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the fragments of a page's headings. A repeated heading gets a number, as on GitHub."""
    found: list[str] = []
    fenced = False
    for line in page.read_text(encoding="utf-8").splitlines():
        fenced ^= line.startswith("```")
        if not fenced and (heading := re.match(r"#{1,6} (.+)", line)):
            name = anchor(heading[1])
            found.append(f"{name}-{times}" if (times := found.count(name)) else name)
    return frozenset(found)


def missing(citation: str, folder: Path) -> str:
    """Return what a citation names and does not exist; empty if it is right. folder: relative links start there."""
    name, _, fragment = citation.partition("#")
    page = folder / name
    if not page.exists():
        return f"no file {citation}"
    if fragment and fragment not in anchors(page):
        return f"no section {citation}"
    return ""


def links(page: Path) -> Iterator[str]:
    """Yield the URLs of a Markdown page's links into the repository. `#section` names the page itself."""
    for address in LINK.findall(page.read_text(encoding="utf-8")):
        yield f"{page.name}{address}" if address.startswith("#") else address


def test_each_link_between_pages_leads_somewhere() -> None:
    wrong = [
        f"{page.relative_to(ROOT)}: {problem}"
        for page in PAGES
        for link in links(page)
        if (problem := missing(link, page.parent))
    ]
    assert wrong == []


def test_each_page_that_code_cites_exists() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {problem}"
        for path in (*CODE, *PAGES)
        if path != Path(__file__)
        for citation in PAGE.findall(path.read_text(encoding="utf-8"))
        if (problem := missing(citation, ROOT))
    ]
    assert wrong == []


def test_only_published_pages_are_cited() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path in (*CODE, *PAGES)
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for match in NOT_PUBLISHED.finditer(line)
    ]
    assert wrong == []


def test_each_decision_is_in_their_index() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = LINK.findall((folder / "README.md").read_text(encoding="utf-8"))
    assert sorted(name for name in listed if name[0] != ".") == sorted(path.name for path in folder.glob("[0-9]*.md"))


@pytest.mark.parametrize(
    ("citation", "problem"),
    [
        ("docs/api.md", ""),
        ("docs/api.md#sign-in", ""),
        ("docs/decisions/001-dependencies.md", ""),
        ("docs/apis.md", "no file docs/apis.md"),
        ("docs/decisions/000-nothing.md", "no file docs/decisions/000-nothing.md"),
        ("docs/api.md#sing-in", "no section docs/api.md#sing-in"),
    ],
)
def test_a_wrong_citation_is_found(citation: str, problem: str) -> None:
    assert missing(citation, ROOT) == problem


@pytest.mark.parametrize("text", ["(spec/behaviour.md, section 15)", "see design.md, 3.1", "`house.md`"])
def test_an_unpublished_page_is_found(text: str) -> None:
    assert NOT_PUBLISHED.search(text)
