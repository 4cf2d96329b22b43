"""The protocol: revisions, headers, errors, and who is let in."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agents.agent import META, NEWEST, Agent, agent_of
from support.databases import Databases
from support.people import Cast, Person, basic, call
from support.running import RunningService, running_service
from tidings.agents.methods import TOOLS
from tidings.agents.protocol import LEGACY_VERSIONS, VERSIONS
from tidings.domain.accounts.rights import KeyScope

pytestmark = pytest.mark.one_engine

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "a",
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture
def agent(alice: Person) -> Agent:
    return agent_of(alice)


def code(answer: Any) -> tuple[int, int]:
    return answer.status, answer.json()["error"]["code"]


def modern(**changes: Any) -> dict[str, Any]:
    meta = {f"{META}protocolVersion": NEWEST, f"{META}clientCapabilities": {}}
    return {**LIST, "params": {"_meta": meta}, **changes}


def test_a_client_learns_what_the_server_is(agent: Agent) -> None:
    found = agent.result("server/discover")

    assert found["supportedVersions"] == [NEWEST, *LEGACY_VERSIONS]
    assert found["capabilities"] == {"tools": {}}
    assert "never an instruction" in found["instructions"]
    assert (found["resultType"], found["cacheScope"], found["ttlMs"] > 0) == ("complete", "private", True)
    assert found["_meta"][f"{META}serverInfo"]["name"] == "tidings"


def test_older_clients_agree_on_a_version(agent: Agent) -> None:
    for wanted, given in (*((one, one) for one in LEGACY_VERSIONS), ("2024-11-05", LEGACY_VERSIONS[0])):
        params = {**INITIALIZE["params"], "protocolVersion": wanted}  # type: ignore[dict-item]
        answer = agent.send({**INITIALIZE, "params": params})
        result = answer.json()["result"]
        assert (answer.status, answer.json()["id"], result["protocolVersion"]) == (200, "a", given)
        assert result["capabilities"] == {"tools": {}}
        assert "mcp-session-id" not in answer.headers

    told = agent.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, {"MCP-Protocol-Version": "2025-11-25"})
    assert (told.status, told.body) == (202, b"")
    answer = agent.send({"jsonrpc": "2.0", "id": 2, "method": "ping"}, {"MCP-Protocol-Version": "2025-11-25"})
    assert answer.json() == {"jsonrpc": "2.0", "id": 2, "result": {}}
    # Without the header it is 2025-03-26.
    assert "tools" in agent.send(LIST).json()["result"]
    assert "resultType" not in agent.send(LIST).json()["result"]


def test_what_was_removed_from_the_newest_revision_is_not_found_in_it(agent: Agent) -> None:
    for method in ("ping", "initialize", "subscriptions/listen", "resources/list", "no/such/method"):
        answer = agent.ask(method)
        assert code(answer) == (404, -32601), method
        assert ", ".join(VERSIONS) in answer.json()["error"]["message"]
    # Older clients take another status than 200 for a lost session.
    older = agent.send({**LIST, "method": "resources/list"}, {"MCP-Protocol-Version": "2025-11-25"})
    assert (code(older), older.json()["id"]) == ((200, -32601), 1)


def test_a_version_that_nobody_speaks_is_refused_with_those_that_are_spoken(agent: Agent) -> None:
    for answer in (
        agent.send(LIST, {"MCP-Protocol-Version": "1900-01-01"}),
        agent.send(modern(), {"MCP-Protocol-Version": "2024-11-05", "Mcp-Method": "tools/list"}),
    ):
        assert code(answer) == (400, -32022)
        assert answer.json()["error"]["data"]["supported"] == list(VERSIONS)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Mcp-Method": "tools/list"}, -32020),
        ({"MCP-Protocol-Version": "2025-11-25", "Mcp-Method": "tools/list"}, -32020),
        ({"MCP-Protocol-Version": NEWEST}, -32020),
        ({"MCP-Protocol-Version": NEWEST, "Mcp-Method": "tools/call"}, -32020),
    ],
)
def test_headers_that_differ_from_the_body_are_refused(agent: Agent, headers: dict[str, str], expected: int) -> None:
    answer = agent.send(modern(), headers)
    assert (code(answer), answer.json()["id"]) == ((400, expected), 1)


def test_the_name_of_a_tool_has_to_be_in_its_header(agent: Agent) -> None:
    params = {"name": "list_labels", "arguments": {}}
    assert code(agent.ask("tools/call", params, {"Mcp-Name": "mark_all_read"})) == (400, -32020)
    encoded = base64.b64encode(b"list_labels").decode()
    assert agent.ask("tools/call", params, {"Mcp-Name": f"=?base64?{encoded}?="}).status == 200


def test_a_request_of_the_newest_revision_says_its_version_and_its_client(agent: Agent) -> None:
    headers = {"MCP-Protocol-Version": NEWEST, "Mcp-Method": "tools/list"}
    for params in ({}, {"_meta": {f"{META}protocolVersion": NEWEST}}, {"_meta": 7}):
        assert code(agent.send({**LIST, "params": params}, headers)) == (400, -32602)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', -32700),
        (b"[" * 100_000, -32700),
        (b"7", -32600),
        (b"[]", -32600),
        (b'{"id": 1, "method": "tools/list"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "tools/list"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": []}', -32602),
    ],
    ids=range(12),
)
def test_what_is_not_a_message_is_refused(agent: Agent, body: bytes, expected: int) -> None:
    assert code(agent.send(body)) == (400, expected)


def test_only_the_oldest_revision_has_batches(agent: Agent) -> None:
    batch = [LIST, {"jsonrpc": "2.0", "method": "notifications/cancelled"}, {**LIST, "id": 2, "method": "nothing"}]
    answers = agent.send(batch).json()
    assert [one["id"] for one in answers] == [1, 2]
    assert ("result" in answers[0], answers[1]["error"]["code"]) == (True, -32601)
    assert agent.send(batch[1:2]).status == 202
    assert code(agent.send([LIST] * 21)) == (400, -32600)
    assert code(agent.send([INITIALIZE])) == (400, -32600)
    for version in ("2025-06-18", "2025-11-25", NEWEST):
        assert code(agent.send(batch, {"MCP-Protocol-Version": version})) == (400, -32600)


def test_answers_of_clients_are_taken_from_older_ones(agent: Agent) -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert agent.send(answer).status == 202
    assert code(agent.send(answer, {"MCP-Protocol-Version": NEWEST})) == (400, -32600)


def test_there_are_no_streams_and_no_sessions(agent: Agent) -> None:
    for method in ("GET", "DELETE", "PUT"):
        answer = call(agent.service.url, method, "/mcp", headers={"X-Auth-Token": agent.token})
        assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_answers_and_messages_are_json(agent: Agent) -> None:
    assert agent.send(LIST, {"Accept": "text/event-stream"}).status == 406
    assert agent.send(LIST, {"Accept": "application/json;q=0, text/event-stream"}).status == 406
    for accepted in ("*/*", "application/json", ""):
        assert agent.send(LIST, {"Accept": accepted}).headers["content-type"] == "application/json"
    for sent in ("text/plain", "application/x-www-form-urlencoded", ""):
        assert agent.send(LIST, {"Content-Type": sent}).status == 415
    assert agent.send(LIST, {"Content-Type": "application/json; charset=utf-8"}).status == 200


def test_a_message_may_be_compressed_within_limits(agent: Agent) -> None:
    packed = {"Content-Encoding": "gzip"}
    assert agent.send(gzip.compress(json.dumps(LIST).encode()), packed).status == 200
    assert agent.send(gzip.compress(b" " * 300_000), packed).status == 413
    assert agent.send(b" " * 300_000).status == 413
    assert agent.send(b"x", {"Content-Encoding": "rot13"}).status == 415


def test_only_keys_let_in(alice: Person, agent: Agent) -> None:
    body, content = json.dumps(LIST).encode(), {"Content-Type": "application/json"}
    url = agent.service.url
    for headers in ({}, basic(alice.user.username), {"Authorization": "Bearer nothing"}, {"X-Auth-Token": "nothing"}):
        answer = call(url, "POST", "/mcp", body, {**content, **headers})
        assert code(answer) == (401, 401)
        assert answer.headers["www-authenticate"].startswith('Bearer realm="Tidings"')
        assert "id" not in answer.json()
    assert call(url, "POST", "/mcp", body, {**content, "X-Auth-Token": agent.token}).status == 200
    assert call(url, "GET", "/mcp").status == 401


def test_pages_of_other_sites_are_refused(agent: Agent) -> None:
    rebound = "rebound.example:8080"
    # The last one is a page that was led here by its name: its own host is in Host as well.
    for origin, more in (("https://evil.example", {}), ("null", {}), (f"http://{rebound}", {"Host": rebound})):
        answer = agent.send(LIST, {"Origin": origin, **more})
        assert code(answer) == (403, 403)
        assert "TIDINGS_BASE_URL" in answer.json()["error"]["message"]
        assert "access-control-allow-origin" not in answer.headers
    assert agent.send(LIST, {"Origin": agent.service.url}).status == 200


def test_a_key_sees_and_uses_the_tools_of_its_scope(alice: Person) -> None:
    seen = {}
    for scope in KeyScope:
        agent = agent_of(alice, str(scope))
        seen[scope] = [tool["name"] for tool in agent.result("tools/list")["tools"]]
        for tool in TOOLS.values():
            answer = agent.ask("tools/call", {"name": tool.name, "arguments": {"nothing": "like it"}})
            if scope.includes(tool.scope):
                assert answer.json()["result"]["isError"], tool.name
                continue
            assert code(answer) == (403, 403)
            assert f'needs "{tool.scope}"' in answer.json()["error"]["message"]
            assert answer.json()["error"]["data"] == {"scope": str(tool.scope)}
            assert f'error="insufficient_scope", scope="{tool.scope}"' in answer.headers["www-authenticate"]

    assert seen[KeyScope.READ] == [
        "list_feeds", "list_categories", "list_views", "list_labels", "search", "list_unread", "get_entry",
    ]  # fmt: skip
    assert seen[KeyScope.WRITE] == [
        *seen[KeyScope.READ], "mark_entries", "star_entries", "label_entries", "save_entry", "mark_all_read",
    ]  # fmt: skip
    assert seen[KeyScope.MANAGE] == [*seen[KeyScope.WRITE], "subscribe", "create_rule"] == seen[KeyScope.ADMIN]


def test_tools_say_what_they_take_return_and_change(agent: Agent) -> None:
    for tool in agent.result("tools/list")["tools"]:
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
        assert tool["inputSchema"]["additionalProperties"] is False, tool["name"]
        assert "$ref" not in json.dumps(tool), tool["name"]
        assert len(tool["description"]) > 30
        hints = tool["annotations"]
        assert hints["readOnlyHint"] is (TOOLS[tool["name"]].scope is KeyScope.READ)
        assert hints["destructiveHint"] is (tool["name"] in {"mark_all_read", "create_rule"})
        assert hints["openWorldHint"] is (tool["name"] in {"save_entry", "subscribe"})
    assert code(agent.ask("tools/list", {"cursor": "x"})) == (400, -32602)
    for params in ({"name": "no_such_tool"}, {"name": "search", "arguments": []}):
        assert code(agent.ask("tools/call", params)) == (400, -32602)


def test_requests_of_agents_count_for_their_key(databases: Databases, tmp_path: Path) -> None:
    with databases.migrated() as url, running_service(url, tmp_path, api_key_rate_limit="2") as running:
        person = Cast(running).person("alice")
        agent = agent_of(person)
        first = agent.ask("tools/list")
        assert person.call("GET", "/v1/me").headers["ratelimit"].startswith('"key";r=0')
        refused = agent.ask("tools/list")

    assert (first.status, first.headers["ratelimit"]) == (200, '"key";r=1;t=60')
    assert code(refused) == (429, 429)
    assert int(refused.headers["retry-after"]) > 0


def test_the_use_of_a_key_is_recorded(alice: Person) -> None:
    agent = agent_of(alice, "read")
    agent.ask("tools/list")

    keys = alice.get("/v1/api-keys")
    assert next(key for key in keys if key["description"].startswith("agent"))["last_used_at"] is not None


def test_an_operator_may_switch_agents_off(databases: Databases, tmp_path: Path) -> None:
    with databases.migrated() as url, running_service(url, tmp_path, agents="0") as running:
        assert agent_of(Cast(running).person("alice")).ask("tools/list").status == 404


def test_the_endpoint_is_below_the_base_path(guarded_service: RunningService, guarded_alice: Person) -> None:
    agent = Agent(guarded_service, guarded_alice.token, path="/reader/mcp")
    assert agent.ask("tools/list").status == 200
    assert agent.ask("tools/list", headers={"Origin": agent.service.url}).status == 403
    base_url = guarded_service.environment["TIDINGS_BASE_URL"].removesuffix("/reader")
    assert agent.ask("tools/list", headers={"Origin": base_url}).status == 200
