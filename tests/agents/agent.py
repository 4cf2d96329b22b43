"""An agent of the tests: it speaks the newest revision of the protocol, by plain HTTP."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from support.people import HttpResponse, Person, call
from support.running import RunningService

NEWEST = "2026-07-28"
META = "io.modelcontextprotocol/"
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Agent:
    """path: where the service has its endpoint."""

    service: RunningService
    token: str
    path: str = "/mcp"
    headers: Mapping[str, str] = field(default_factory=dict)

    def send(self, message: Any, headers: Mapping[str, str] | None = None) -> HttpResponse:
        """Send a message, or anything else, with the headers of none of the revisions. bytes: sent as they are."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        sent = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **self.headers,
            **(headers or {}),
        }
        return call(self.service.url, "POST", self.path, body, sent)

    def ask(
        self, method: str, params: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> HttpResponse:
        """Send a request of the newest revision."""
        meta = {f"{META}protocolVersion": NEWEST, f"{META}clientCapabilities": {}}
        message = {
            "jsonrpc": "2.0", "id": next(_numbers), "method": method, "params": {"_meta": meta, **(params or {})},
        }  # fmt: skip
        name = {"Mcp-Name": params["name"]} if params and method == "tools/call" else {}
        return self.send(message, {"MCP-Protocol-Version": NEWEST, "Mcp-Method": method, **name, **(headers or {})})

    def result(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        answer = self.ask(method, params)
        assert answer.status == 200, f"{answer.status}: {answer.body[:500]!r}"
        return answer.json()["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        """Return the whole result of a tool, which may be an error that a model reads."""
        return self.result("tools/call", {"name": tool, "arguments": arguments})

    def use(self, tool: str, **arguments: Any) -> Any:
        """Return the structured content of a tool that succeeds."""
        result = self.call(tool, **arguments)
        assert not result["isError"], result["content"][0]["text"]
        return result["structuredContent"]

    def fail(self, tool: str, **arguments: Any) -> str:
        """Return what a model reads about a tool that fails."""
        result = self.call(tool, **arguments)
        assert result["isError"], result
        text: str = result["content"][0]["text"]
        return text


def agent_of(person: Person, scope: str = "", **more: Any) -> Agent:
    """Return the agent of a person, with a key of this scope; with the person's own key for none."""
    if not scope:
        return Agent(person.service, person.token, **more)
    key = person.post("/v1/api-keys", {"description": f"agent {next(_numbers)}", "scope": scope})
    return Agent(person.service, key["token"], **more)


def within_marks(text: str) -> str:
    """Return what is between the marks of strangers, and assert that the marks are where they belong."""
    found = re.search(r"<<<strangers ([0-9a-f]{32})\n(.*)\nstrangers \1>>>\Z", text, re.DOTALL)
    assert found is not None, text
    assert found[1] not in found[2], "the content has its own mark"
    return found[2]
