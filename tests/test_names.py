"""One name has one meaning: public classes of `src/` do not share names, and renamed things keep their new names."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"

# Each provider of integrations declares its own; they are found by this name.
SETTINGS_OF_A_PROVIDER = "Settings"
PROVIDERS = "tidings/domain/integrations/providers/"
# To be renamed. A name leaves the list with the commit that gives its classes names of their own.
STILL_SHARED: frozenset[str] = frozenset()

# Names that were replaced because they had to be learned. None comes back.
OLD_CLASSES = frozenset({
    "Answers", "Asked", "Bell", "Blamed", "Brought", "CannotSeal", "Checked", "Crawled", "Doomed", "Ear",
    "FeedShower", "Heard", "Held", "Helpers", "Home", "House", "Intake", "Kept", "Lab", "Life", "Lost", "Manner",
    "Met", "News", "Patience", "Possessions", "Reading", "Room", "Round", "Seen", "Settling", "Shaky", "Shape",
    "Shift", "Squeezed", "Told", "Trial", "Tried", "Verdict", "Visit", "World", "Written", "Years",
})  # fmt: skip
OLD_FUNCTIONS = frozenset({
    "a_life", "among", "as_it_is", "ask_back", "at_most", "bring", "bury", "have", "have_something", "house",
    "keep_the_keys", "known_to", "let_go", "line_up", "listed", "lived_in", "notice_all", "open_house",
    "request_some", "run_sealed", "scene", "seal", "shelf", "shelves", "some", "stand_down", "sweep",
    "tell_complaints", "told", "told_apart", "turn",
})  # fmt: skip
OLD_MODULES = frozenset({
    "adding", "agents", "answers", "asking", "cards", "checking", "compounds", "crawling", "declaring",
    "delivering", "dialect", "draft", "drafts", "embedded", "entry_queries", "entry_searches", "entry_shapes",
    "extractor", "facts", "finishing", "front", "gathering", "guessing", "habits", "house", "http_hints",
    "inherited", "installing", "intake", "kinds", "lab", "leaf", "leaves", "lifeline", "list_links", "listings",
    "live", "many", "marks", "mirror", "moments", "moving", "nesting", "network_watch", "notices", "notifier",
    "numbers", "outline", "patience", "pieces", "pipes", "possessions", "preparing", "problems", "publisher_hints",
    "receivers", "rounds", "samples", "scene", "sealed", "sending", "settling", "shares", "shelf", "space",
    "standins", "storing", "takers", "test_told_in_words", "tidying", "timing", "told", "trials", "visits",
    "waking", "walk", "wording", "words", "world",
})  # fmt: skip
# Words that mean nothing else in this project: not even a comment uses them.
OLD_WORDS = frozenset({
    "CannotSeal", "FORM_THROUGH", "FeedShower", "Rerouted", "ask_back", "asks_back", "at_most", "bury",
    "entry_searches", "entry_shapes", "errand", "http_hints", "is_about_address", "let_go", "line_up",
    "network_watch", "notice_all", "open_house", "request_some", "run_sealed", "stand_down", "standins",
    "tell_complaints", "told_apart", "wait_until_asked",
})  # fmt: skip
# Old names and words that are still used, each `place: name`. Both lists only shrink.
STILL_OLD: frozenset[str] = frozenset()
STILL_USED: frozenset[str] = frozenset()


def public_classes(source: Path) -> Iterator[tuple[str, str]]:
    """Yields (class name, path below `source`) of each class of a module's own level."""
    for path in sorted(source.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, path.relative_to(source).as_posix()


def shared_names(classes: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Returns the places of each class name that has more than one, the providers' `Settings` left out."""
    places = defaultdict(list)
    for name, place in classes:
        if name == SETTINGS_OF_A_PROVIDER and place.startswith(PROVIDERS):
            continue
        places[name].append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


def old_names(tree: ast.AST) -> Iterator[str]:
    """Yields the replaced names that a module defines again."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name.lstrip("_") in OLD_CLASSES:
            yield f"class {node.name}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.lstrip("_") in OLD_FUNCTIONS:
            yield f"function {node.name}"


def old_names_of_file(path: Path) -> Iterator[str]:
    """Yields what a Python file defines or is named by a replaced name."""
    if path.stem in OLD_MODULES:
        yield "module"
    yield from old_names(ast.parse(path.read_text(encoding="utf-8")))


def texts() -> Iterator[Path]:
    for pattern in (
        "src/**/*.py",
        "src/**/*.html",
        "tests/**/*.py",
        "tools/**/*.py",
        "benchmarks/*.py",
        "docs/**/*.md",
    ):
        yield from (path for path in sorted(ROOT.glob(pattern)) if path != Path(__file__))


def test_public_classes_do_not_share_a_name() -> None:
    shared = shared_names(public_classes(SOURCE))
    assert {name: found for name, found in shared.items() if name not in STILL_SHARED} == {}
    assert sorted(STILL_SHARED - shared.keys()) == [], "no longer shared: take it off the list"


def test_no_replaced_name_comes_back() -> None:
    files = (path for path in texts() if path.suffix == ".py")
    found = {f"{path.relative_to(ROOT)}: {name}" for path in files for name in old_names_of_file(path)}
    assert sorted(found - STILL_OLD) == []
    assert sorted(STILL_OLD - found) == [], "no longer there: take it off the list"


def test_no_text_uses_a_replaced_word() -> None:
    pattern = re.compile(rf"\b({'|'.join(sorted(OLD_WORDS))})\b")
    found = {
        f"{path.relative_to(ROOT)}: {word}"
        for path in texts()
        for word in pattern.findall(path.read_text(encoding="utf-8"))
    }
    assert sorted(found - STILL_USED) == []
    assert sorted(STILL_USED - found) == [], "no longer there: take it off the list"


@pytest.mark.parametrize(
    ("classes", "shared"),
    [
        ([("Page", "a.py"), ("Page", "b.py")], {"Page": ["a.py", "b.py"]}),
        ([("Page", "a.py"), ("Pages", "b.py")], {}),
        ([("Settings", f"{PROVIDERS}a.py"), ("Settings", f"{PROVIDERS}b.py"), ("Settings", "tidings/settings.py")], {}),
        ([("Settings", "tidings/a.py"), ("Settings", "tidings/b.py")], {"Settings": ["tidings/a.py", "tidings/b.py"]}),
    ],
)
def test_a_shared_name_is_found(classes: list[tuple[str, str]], shared: Mapping[str, list[str]]) -> None:
    assert shared_names(classes) == shared
