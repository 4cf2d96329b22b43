"""The endpoint for agents: each message is one POST. There are no sessions, and nothing is sent unasked."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from tidings.agents import protocol
from tidings.agents.app import AGENTS_PATH, AgentCaller, error_response, rpc_error
from tidings.agents.methods import InThread, Methods
from tidings.agents.protocol import RpcError, RpcRequest
from tidings.base.errors import TidingsError
from tidings.domain.accounts.rights import KeyScope
from tidings.http.endpoints import Routes
from tidings.http.requests import Request
from tidings.http.responses import empty, json

routes = Routes("Agents")


@routes.post(AGENTS_PATH, scope=KeyScope.READ)
async def receive(caller: AgentCaller, methods: Methods, in_thread: InThread, request: Request) -> Response:
    """Answer a message of the Model Context Protocol, or several ones of a client that sends them together."""
    incoming = protocol.read(request.content, request.headers)
    if not incoming.requests:
        return empty(202)
    if incoming.is_batch:
        return json([await _one_of_many(one, caller, methods, in_thread) for one in incoming.requests])
    (one,) = incoming.requests
    try:
        return json(_answered(one, await methods.answer(one, caller.user, caller.rights, in_thread)))
    except Exception as error:  # noqa: BLE001 - every error becomes an answer to the message
        return error_response(error, request, one.id)


async def _one_of_many(one: RpcRequest, caller: AgentCaller, methods: Methods, in_thread: InThread) -> dict[str, Any]:
    """Return the answer to a message of a batch: an error of one does not keep the others from being answered."""
    try:
        return _answered(one, await methods.answer(one, caller.user, caller.rights, in_thread))
    except RpcError as error:
        return error.body()
    except TidingsError as error:
        return rpc_error(error, one.id).body()


def _answered(request: RpcRequest, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


AGENT_ROUTES = routes.all
