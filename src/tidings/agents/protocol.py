"""Reads messages of the Model Context Protocol: JSON-RPC 2.0 over HTTP POST, in all revisions that clients speak.

    2026-07-28   each request says its version and its client; nothing precedes it
    2025-…       `initialize` agrees on a version, which further requests have in a header; we keep no session

Sources: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http, and the same of
2025-11-25, 2025-06-18 and 2025-03-26; https://www.jsonrpc.org/specification
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct
from starlette.datastructures import Headers

# The newest first.
MODERN_VERSIONS: Final = ("2026-07-28",)
LEGACY_VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26")
VERSIONS: Final = (*MODERN_VERSIONS, *LEGACY_VERSIONS)
# Of a request without the header.
WITHOUT_HEADER: Final = "2025-03-26"
# The only revision with batches.
WITH_BATCHES: Final = "2025-03-26"
MAX_BATCH: Final = 20

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022

VERSION_HEADER: Final = "mcp-protocol-version"
_METHOD_HEADER: Final = "mcp-method"
_NAME_HEADER: Final = "mcp-name"
_META: Final = "io.modelcontextprotocol/"
_VERSION_META: Final = f"{_META}protocolVersion"
_CAPABILITIES_META: Final = f"{_META}clientCapabilities"
SERVER_META: Final = f"{_META}serverInfo"

Id = int | str


class RpcError(Exception):
    """An error that is answered in the form of JSON-RPC.

    code: of JSON-RPC and of the protocol; what they do not define has the number of its HTTP status.
    request_id: None if it could not be read.
    """

    def __init__(
        self,
        code: int,
        message: str,
        *,
        status: int = 400,
        request_id: Id | None = None,
        data: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id
        self.data = data
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """Return the error as JSON-RPC writes it."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        found = {} if self.request_id is None else {"id": self.request_id}
        return {"jsonrpc": "2.0", **found, "error": error}


class RpcRequest(Struct, frozen=True):
    """A request that is to be answered."""

    id: Id
    method: str
    params: dict[str, Any]
    version: str
    """The revision of the protocol that it follows."""

    @property
    def is_modern(self) -> bool:
        return self.version in MODERN_VERSIONS

    def error(self, code: int, message: str, **more: Any) -> RpcError:
        """Return an error for this request. Clients of older revisions take any other status for a lost session."""
        status = {METHOD_NOT_FOUND: 404, INVALID_PARAMS: 400}.get(code, 400) if self.is_modern else 200
        return RpcError(code, message, request_id=self.id, **{"status": status, **more})


class Incoming(Struct, frozen=True):
    """The body of a POST."""

    requests: Sequence[RpcRequest]
    """None for notifications, which are accepted without an answer."""
    is_batch: bool = False


def read(body: bytes, headers: Headers) -> Incoming:
    """Return what a client has sent. Raises RpcError."""
    sent_version = _single(headers, VERSION_HEADER)
    if sent_version is not None and sent_version not in VERSIONS:
        raise _unsupported(sent_version)
    try:
        message = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"The body is not JSON: {error}.") from error
    if not isinstance(message, list):
        request = _read_one(message, headers, sent_version)
        return Incoming(() if request is None else (request,))
    if (sent_version or WITHOUT_HEADER) != WITH_BATCHES:
        raise RpcError(INVALID_REQUEST, f"Version {sent_version} has no batches: send each message on its own.")
    if not 1 <= len(message) <= MAX_BATCH:
        raise RpcError(INVALID_REQUEST, f"A batch has 1 to {MAX_BATCH} messages.")
    read_ones = [_read_one(one, headers, sent_version) for one in message]
    if any(request is not None and request.method == "initialize" for request in read_ones):
        raise RpcError(INVALID_REQUEST, "initialize cannot be a part of a batch.")
    return Incoming([request for request in read_ones if request is not None], is_batch=True)


def _read_one(message: Any, headers: Headers, sent_version: str | None) -> RpcRequest | None:
    """Return a request, None for a notification or, before 2026, a response."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'A message is an object with "jsonrpc": "2.0".')
    method, request_id, params = message.get("method"), message.get("id"), message.get("params", {})
    is_number = isinstance(request_id, int) and not isinstance(request_id, bool)
    known_id: Id | None = request_id if is_number or isinstance(request_id, str) else None
    if not isinstance(method, str):
        is_answer = method is None and ("result" in message or "error" in message)
        if is_answer and sent_version not in MODERN_VERSIONS:
            return None
        raise RpcError(INVALID_REQUEST, "A message needs a method: this server asks clients nothing.")
    if "id" not in message:
        return None
    if known_id is None:
        raise RpcError(INVALID_REQUEST, "The id of a request is a text or a whole number.")
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params is an object.", request_id=known_id)
    version = _version(method, params, headers, sent_version, known_id)
    return RpcRequest(known_id, method, params, version)


def _version(method: str, params: Mapping[str, Any], headers: Headers, sent_version: str | None, request_id: Id) -> str:
    """Return the revision that a request follows, and check what it has to have in that revision."""
    given = params.get("_meta")
    meta: Mapping[str, Any] = given if isinstance(given, dict) else {}
    said = meta.get(_VERSION_META)
    if said is None and sent_version not in MODERN_VERSIONS:
        return sent_version or WITHOUT_HEADER

    def mismatch(what: str) -> RpcError:
        return RpcError(HEADER_MISMATCH, f"Header mismatch: {what}", request_id=request_id)

    if said is None:
        raise RpcError(INVALID_PARAMS, f"params._meta needs {_VERSION_META}.", request_id=request_id)
    if sent_version is None:
        raise mismatch("the header MCP-Protocol-Version is missing.")
    if said != sent_version:
        raise mismatch(f"MCP-Protocol-Version is {sent_version}, and the body says {said!r:.40}.")
    if not isinstance(meta.get(_CAPABILITIES_META), dict):
        raise RpcError(INVALID_PARAMS, f"params._meta needs {_CAPABILITIES_META}.", request_id=request_id)
    if (sent_method := _single(headers, _METHOD_HEADER)) != method:
        raise mismatch(f"Mcp-Method is {sent_method or 'missing'}, and the body says {method[:80]}.")
    sent_name, name = _decoded(_single(headers, _NAME_HEADER)), params.get("name")
    if method == "tools/call" and sent_name != name:
        raise mismatch(f"Mcp-Name is {sent_name or 'missing'}, and the body says {name!r:.80}.")
    return sent_version


def _unsupported(version: str, request_id: Id | None = None) -> RpcError:
    return RpcError(
        UNSUPPORTED_VERSION,
        f"Version {version[:40]!r} is not supported: use one of {', '.join(VERSIONS)}.",
        request_id=request_id,
        data={"supported": VERSIONS, "requested": version[:40]},
    )


def _single(headers: Headers, name: str) -> str | None:
    """Return a header, None if it is missing. Raises RpcError if it is there twice: others may use the other one."""
    values = headers.getlist(name)
    if len(values) > 1:
        raise RpcError(HEADER_MISMATCH, f"Header mismatch: {name} is there more than once.")
    return values[0].strip() if values else None


def _decoded(value: str | None) -> str | None:
    """Return the value of a header that may be in Base64, None if it cannot be read."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
