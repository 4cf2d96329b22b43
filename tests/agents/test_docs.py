"""docs/agents.md is right: the table of tools, the settings, and the request that it shows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agents.agent import agent_of
from support.people import Person
from support.publisher import Publisher
from tidings.agents.methods import TOOLS
from tidings.agents.protocol import VERSIONS

pytestmark = pytest.mark.one_engine
TEXT = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")


def test_the_table_has_every_tool_with_its_scope() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| .+ \|$", TEXT, re.MULTILINE)
    assert rows == [(tool.name, str(tool.scope)) for tool in TOOLS.values()]
    assert all(version in TEXT for version in VERSIONS)


def test_the_settings_are_json() -> None:
    blocks = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)
    assert ["tidings" in json.loads(block)["mcpServers"] for block in blocks] == [True, True]


def test_the_request_is_answered(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Snow"])
    found = re.search(r"-d '(.*?)'\n```", TEXT)
    assert found is not None

    answer = agent_of(alice, "read").send(found[1].encode())

    (entry,) = answer.json()["result"]["structuredContent"]["entries"]
    assert entry["from_strangers"]["title"] == "Rain"
