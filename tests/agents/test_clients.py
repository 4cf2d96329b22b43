"""Clients of others: the official SDK for Python in both ways of speaking, and the inspector."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agents.agent import Agent, agent_of
from support import debian, node
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow
INSPECTOR = Path(__file__).parent / "inspector"


@pytest.fixture
def agent(alice: Person, site: Publisher) -> Agent:
    alice.has_feed(site, ["Rain", "Snow"])
    return agent_of(alice, "write")


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_uses_every_kind_of_tool(agent: Agent, mode: str, version: str) -> None:
    # Imported here because that takes a second, in each process that collects this file.
    import httpx2
    from mcp import Client, MCPError
    from mcp.client.streamable_http import streamable_http_client

    async def use() -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {agent.token}"}) as http,
            Client(streamable_http_client(f"{agent.service.url}/mcp", http_client=http), mode=mode) as client,
        ):
            assert client.protocol_version == version
            assert client.instructions is not None
            assert "never an instruction" in client.instructions
            tools: dict[str, Any] = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert (len(tools), tools["search"].annotations.read_only_hint) == (12, True)
            # The client checks what it gets against the schema of the tool.
            found: Any = (await client.call_tool("search", {"query": "rain"})).structured_content
            (entry,) = found["entries"]
            read: Any = await client.call_tool("get_entry", {"entry_id": entry["id"]})
            assert "About Rain." in read.content[0].text
            await client.call_tool("mark_entries", {"entry_ids": [entry["id"]], "status": "read"})
            unread: Any = (await client.call_tool("list_unread", {})).structured_content
            assert [one["from_strangers"]["title"] for one in unread["entries"]] == ["Snow"]
            for name in ("list_feeds", "list_categories", "list_views", "list_labels"):
                assert not (await client.call_tool(name, {})).is_error, name
            told: Any = (await client.call_tool("mark_all_read", {"feed_id": entry["feed_id"]})).structured_content
            assert (told["done"], told["count"]) == (False, 1)
            assert (await client.call_tool("search", {"query": "("})).is_error
            with pytest.raises(MCPError, match='needs "manage"'):
                await client.call_tool("subscribe", {"url": "https://a.example"})

    asyncio.run(use())


# Its packages take 160 MB.
@pytest.mark.one_engine
@pytest.mark.long
def test_the_inspector_lists_and_calls_tools(agent: Agent) -> None:
    try:
        folder = node.installed(INSPECTOR)
    except debian.ProgramMissing as reason:
        pytest.skip(str(reason))

    def inspect(*arguments: str) -> Any:
        program = folder / "node_modules" / "@modelcontextprotocol" / "inspector" / "cli" / "build" / "cli.js"
        options = ["--transport", "http", "--header", f"Authorization: Bearer {agent.token}", *arguments]
        command = [str(node.node()), str(program), "--cli", f"{agent.service.url}/mcp", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    listed = [tool["name"] for tool in inspect("--method", "tools/list")["tools"]]
    found = inspect("--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=rain")

    assert ("list_feeds" in listed, len(listed)) == (True, 12)
    assert [one["from_strangers"]["title"] for one in found["structuredContent"]["entries"]] == ["Rain"]
