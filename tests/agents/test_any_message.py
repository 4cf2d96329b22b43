"""Whatever a client sends, it is read or refused in the form of the protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from agents.agent import META, NEWEST
from tidings.agents.methods import TOOLS
from tidings.agents.protocol import VERSIONS, RpcError, read
from tidings.base.errors import InvalidField

E = TypeVar("E", bound=Exception)
T = TypeVar("T")

NAMES = st.sampled_from(["jsonrpc", "id", "method", "params", "_meta", "name", f"{META}protocolVersion", "result"])
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["2.0", "tools/call", NEWEST])
)
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5))
REQUESTS = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": st.integers() | st.text(max_size=3), "method": st.text(max_size=12)},
    optional={"params": ANYTHING},
)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "mcp-protocol-version": st.sampled_from([*VERSIONS, "", "1900-01-01"]),
        "mcp-method": st.sampled_from(["tools/call", "=?base64?x?="]),
        "mcp-name": st.sampled_from(["search", "=?base64?!?=", "=?base64?/w==?="]),
    },
)


@given(ANYTHING | REQUESTS | st.lists(REQUESTS, max_size=3), HEADERS)
def test_a_message_is_read_or_refused(message: Any, headers: dict[str, str]) -> None:
    found = outcome(RpcError, lambda: read(json.dumps(message).encode(), Headers(headers)))
    if isinstance(found, RpcError):
        assert found.status in (400, 404)
        assert found.body()["error"]["code"] in {-32700, -32600, -32602, -32020, -32022}
    else:
        assert all(request.version in VERSIONS for request in found.requests)


@given(st.sampled_from(sorted(TOOLS)), st.dictionaries(st.text(max_size=8) | st.just("query"), ANYTHING, max_size=3))
def test_arguments_fit_or_are_named(name: str, sent: dict[str, Any]) -> None:
    tool = TOOLS[name]
    found = outcome(InvalidField, lambda: tool.read(sent))
    if isinstance(found, InvalidField):
        assert f"See the inputSchema of {name}." in found.message
    else:
        assert isinstance(found, tool.arguments)


def outcome(error: type[E], function: Callable[[], T]) -> T | E:
    """Return what a function returns, or the error that it raises."""
    try:
        return function()
    except error as raised:
        return raised
