"""An agent that uses the tools of agents as the model test of syncing does."""

from __future__ import annotations

from typing import Any

import msgspec

from tidings.agents.confirmations import Confirmations
from tidings.agents.methods import TOOLS
from tidings.agents.tool import ToolCall
from tidings.domain.accounts.users import User
from tidings.rules.services import RuleServices
from tidings.services.accounts.server_secret import ServerSecret
from tidings.wiring.services import AllServices

LONG_AGO = "2000-01-01"


class ReadingAgent:
    """Keeps which entries `list_unread` has listed, and from where it goes on."""

    def __init__(self) -> None:
        self.since = LONG_AGO
        self.seen: set[int] = set()
        self.known: set[int] = set()
        """Entries that had arrived when it last asked."""

    def use(self, services: AllServices, user: User, tool_name: str, **arguments: Any) -> Any:
        """Return the result of a tool, as an agent gets it."""
        tool = TOOLS[tool_name]
        confirmations = Confirmations(ServerSecret(services.database))
        call = ToolCall(tool_name, user, services, services.of(RuleServices), confirmations, "mark")
        return msgspec.to_builtins(tool.run(call, tool.read(arguments)))

    def read_unread(self, services: AllServices, user: User, limit: int) -> list[int]:
        """Return what is unread since the last time, in the order in which it arrived."""
        listed: list[int] = []
        while True:
            page = self.use(services, user, "list_unread", since=self.since, limit=limit)
            listed += [int(one["id"]) for one in page["entries"]]
            self.since = page["next_since"]
            if not page["has_more"]:
                return listed

    def search(self, services: AllServices, user: User, limit: int) -> list[dict[str, Any]]:
        """Return all entries, newest first."""
        found: list[dict[str, Any]] = []
        cursor: str | None = ""
        while cursor is not None:
            page = self.use(services, user, "search", query="", limit=limit, cursor=cursor)
            found += page["entries"]
            cursor = page["next_cursor"]
        return found
