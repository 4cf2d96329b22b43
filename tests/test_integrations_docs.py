"""What the handbook says of integrations is what there is."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tidings.deliveries import integration_changes as changes
from tidings.deliveries import placeholders
from tidings.deliveries.integration_changes import IntegrationSettings
from tidings.deliveries.providers import __name__ as leaves
from tidings.deliveries.registry import REGISTRY

PAGE = (Path(__file__).parents[1] / "docs" / "integrations.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", REGISTRY)
def test_each_service_has_a_row_with_its_required_settings(name: str) -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")]

    assert len(lines) == len(REGISTRY[name].events & {"save_entry", "new_entries"})
    needed = [field.name for field in REGISTRY[name].fields if field.is_required or field.is_secret]
    if name != "custom":  # told in a section of its own
        assert [field for field in needed if f"`{field}`" not in lines[0]] == []


def test_each_row_is_about_an_existing_service() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(REGISTRY)


@pytest.mark.parametrize("name", sorted(set(REGISTRY) - {"webhook", "custom"}))
def test_each_provider_names_the_documentation_of_its_service(name: str) -> None:
    assert "https://" in str(sys.modules[f"{leaves}.{name}"].__doc__)


def test_documented_placeholders_and_filters_exist() -> None:
    documented = set(re.findall(r"`\{\{(\w+)\}\}`", PAGE))

    assert documented == set(placeholders.PLACEHOLDERS)
    assert all(f"`{name}`" in PAGE or f"|{name}" in PAGE for name in placeholders.FILTERS)


def test_the_documented_example_is_valid() -> None:
    (example,) = re.findall(r'^    (\{"custom".*?\}\})$', PAGE, re.MULTILINE | re.DOTALL)
    provider = REGISTRY["custom"]

    created = changes.merge(
        provider,
        IntegrationSettings(enabled=False, settings=provider.settings()),
        json.loads(example)["custom"],
        check_url=lambda _: None,
        may_share=lambda _before, _after: True,
        make_secret=lambda: "",
    )

    assert created.enabled


@pytest.mark.parametrize("name", REGISTRY)
def test_settings_keep_their_secrets_out_of_traces(name: str) -> None:
    provider = REGISTRY[name]
    texts = {field.name: "s3cret" for field in provider.fields if field.type is str}

    assert "s3cret" not in repr(provider.settings(**texts))
