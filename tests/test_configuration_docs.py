"""The documentation of settings, commands and dependencies agrees with the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from support import distributed
from tidings.cli import app
from tidings.settings import OPTIONS, Option
from tidings.settings.loading import REMOVED

ROOT = Path(__file__).parents[1]
HANDBOOK = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


def sections() -> dict[str, str]:
    """Return the text below the heading of each setting, by the name of the setting."""
    _, *found = re.split(r"^### `(\w+)`\n", CONFIGURATION, flags=re.MULTILINE)
    return dict(zip(found[::2], found[1::2], strict=True))


def test_every_setting_has_a_section_and_every_section_a_setting() -> None:
    assert sorted(sections()) == sorted(option.name for option in OPTIONS)


def test_each_section_has_default_allowed_values_and_help_as_declared() -> None:
    texts = sections()
    for option in OPTIONS:
        _check_section(option, texts[option.name])


def _check_section(option: Option, section: str) -> None:
    # A default that is computed is declared as a description instead of a value.
    is_description = option.derive is not None or option.default is None
    default = (option.default or "none") if is_description else f"`{option.default}`"

    assert f"- Default: {default}\n" in section, option.name
    assert f"- Allowed: {option.allowed}\n" in section, option.name
    assert (f"- From a file: `{option.file_variant}`\n" in section) == option.has_file_variant, option.name
    assert option.help in " ".join(section.split()), option.name


def test_each_default_is_a_valid_value() -> None:
    for option in OPTIONS:
        if option.default and not option.derive:
            option.parse(option.default)


def test_settings_that_pages_mention_exist() -> None:
    known = {name for option in OPTIONS for name in (option.name, option.file_variant)}
    known |= {"TIDINGS_CONFIG", distributed.VARIABLE, *REMOVED}
    mentioned = {
        name: page.name
        for page in HANDBOOK
        for name in re.findall(r"\bTIDINGS_[A-Z][A-Z_]*\b", page.read_text(encoding="utf-8"))
    }

    assert {name: page for name, page in mentioned.items() if name not in known} == {}


def test_commands_that_pages_mention_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    mentioned = set()
    for page in HANDBOOK:
        text = page.read_text(encoding="utf-8")
        assert set(re.findall(r"(?:`|^    )make ([a-z-]+)", text, flags=re.MULTILINE)) - targets == set(), page
        mentioned |= set(re.findall(r"(?:`|^    )tidings ([a-z]+)", text, flags=re.MULTILINE))
    for name in mentioned:
        assert app[name] is not None


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
