"""The documentation of settings, commands and dependencies agrees with the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tidings.cli import app
from tidings.settings import OPTIONS, Option

ROOT = Path(__file__).parents[1]
HANDBOOK = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


def sections() -> dict[str, str]:
    """Return the text below the heading of each setting, by the name of the setting."""
    _, *found = re.split(r"^### `(\w+)`\n", CONFIGURATION, flags=re.MULTILINE)
    return dict(zip(found[::2], found[1::2], strict=True))


def test_every_setting_has_a_section_and_every_section_a_setting() -> None:
    assert sorted(sections()) == sorted(option.name for option in OPTIONS)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_a_section_has_default_allowed_values_and_help_as_declared(option: Option) -> None:
    section = sections()[option.name]
    # A default that is computed is declared as a description instead of a value.
    is_description = option.derive is not None or option.default is None
    default = (option.default or "none") if is_description else f"`{option.default}`"

    assert f"- Default: {default}\n" in section
    assert f"- Allowed: {option.allowed}\n" in section
    assert (f"- From a file: `{option.file_variant}`\n" in section) == option.has_file_variant
    assert option.help in " ".join(section.split())


@pytest.mark.parametrize("option", [option for option in OPTIONS if option.default and not option.derive])
def test_a_default_is_a_valid_value(option: Option) -> None:
    assert option.default
    option.parse(option.default)


@pytest.mark.parametrize("page", HANDBOOK, ids=lambda page: page.name)
def test_settings_that_a_page_mentions_exist(page: Path) -> None:
    known = {name for option in OPTIONS for name in (option.name, option.file_variant)} | {"TIDINGS_CONFIG"}
    mentioned = set(re.findall(r"\bTIDINGS_[A-Z][A-Z_]*\b", page.read_text(encoding="utf-8")))

    assert mentioned - known == set()


@pytest.mark.parametrize("page", HANDBOOK, ids=lambda page: page.name)
def test_commands_that_a_page_mentions_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))

    assert set(re.findall(r"(?:`|^    )make ([a-z-]+)", text, flags=re.MULTILINE)) - targets == set()
    for name in re.findall(r"(?:`|^    )tidings ([a-z]+)", text, flags=re.MULTILINE):
        assert app[name] is not None


@pytest.mark.parametrize("page", HANDBOOK, ids=lambda page: page.name)
def test_links_between_pages_have_a_target(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)]*)\)", page.read_text(encoding="utf-8")):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), flags=re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in anchors


def test_every_dependency_is_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    explained = (ROOT / "docs" / "decisions" / "001-dependencies.md").read_text(encoding="utf-8")
    names = [re.split(r"[^\w.-]", line)[0].split(">")[0] for line in project["dependencies"]]

    assert [name for name in names if f"`{name}`" not in explained] == []


def test_locks_have_hashes_and_no_addresses() -> None:
    for lock in (ROOT / "requirements").glob("*.txt"):
        text = lock.read_text(encoding="utf-8")
        assert "://" not in text
        assert not re.search(r"^-", text, flags=re.MULTILINE)
        assert text.count("==") <= text.count("--hash=sha256:")
