"""Writes _async_client.py: a method for each operation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from client_generator.operations import Operation, Parameter
from client_generator.text import GENERATED, docstring, sentence

HEAD = f'''"""The operations of the API, with coroutines.

{GENERATED}
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import IO, Any, Literal, Unpack

from httpx2 import ServerSentEvent

from tidings_client import models
from tidings_client._async_connection import AsyncConnection
from tidings_client._exchange import Call, segment


class AsyncClient(AsyncConnection):
'''


def text(operations: Iterable[Operation]) -> str:
    """Return the module."""
    parts = [HEAD, docstring("A service with all operations of its API", indent="    ")]
    for tag, listed in groupby(operations, lambda one: one.tag):
        parts.append(f"\n    # {tag}\n\n")
        parts += ["\n".join("".join(method) for method in _methods(one)) + "\n" for one in listed]
    return "".join(parts)


def _methods(operation: Operation) -> Iterator[Iterator[str]]:
    yield _method(operation)
    if operation.items:
        member, kind = operation.items
        about = f"Yield what `{operation.name}` lists, page after page: `limit` is the size of a page."
        yield _each(operation, kind, about, f"_items({_call(operation)}, {json.dumps(member)})")
    elif operation.has_pages:
        about = f"Yield the answers of `{operation.name}`, page after page, until nothing more has changed."
        yield _each(operation, operation.answer_type, about, f"_pages({_call(operation)})")


def _method(operation: Operation) -> Iterator[str]:
    kind, call = operation.answer_type, _call(operation)
    if operation.answer == "events":
        # A generator: it is not awaited.
        yield f"    def {operation.name}({_arguments(operation)}) -> AsyncIterator[{kind}]:\n"
        yield _about(operation, "Yields events until the connection ends.")
        yield f"        return self._events({call})\n"
        return
    yield f"    async def {operation.name}({_arguments(operation)}) -> {kind}:\n"
    yield _about(operation)
    match operation.answer:
        case "json":
            yield f"        answer: {kind} = await self._json({call})\n        return answer\n"
        case "text":
            yield f"        return await self._text({call})\n"
        case "file":
            yield f"        await self._download({call}, file)\n"
        case _:
            yield f"        await self._nothing({call})\n"


def _each(operation: Operation, kind: str, about: str, does: str) -> Iterator[str]:
    """Yield the method for all pages of a list."""
    yield f"    def iter_{operation.name}({_arguments(operation)}) -> AsyncIterator[{kind}]:\n"
    yield docstring(about, indent="        ")
    yield f"        return self.{does}\n"


def _arguments(operation: Operation) -> str:
    first = [f"{one.keyword}: {one.type}" for one in operation.in_path]
    if operation.answer == "file":
        first.append("file: IO[bytes]")
    if operation.file_type:
        first.append("file: bytes | IO[bytes]")
    if operation.body_type and not operation.has_members:
        first.append(f"body: {operation.body_type}")
    arguments = ["self", *first, *(["/"] if first else [])]
    named = [*(() if operation.query_type else operation.query), *operation.headers]
    words = [
        f"{one.keyword}: {one.type}" if one.is_required else f"{one.keyword}: {one.type} | None = None" for one in named
    ]
    arguments += ["*", *words] if words else []
    if operation.has_members:
        arguments.append(f"**body: Unpack[{operation.body_type}]")
    if operation.query_type:
        arguments.append(f"**query: Unpack[models.{operation.query_type}]")
    return ", ".join(arguments)


def _call(operation: Operation) -> str:
    arguments = [json.dumps(operation.method), _path(operation)]
    if operation.query_type:
        arguments.append("query=query")
    elif operation.query:
        arguments.append(f"query={_dict(operation.query)}")
    if operation.commas:
        arguments.append(f"commas=({', '.join(map(json.dumps, operation.commas))},)")
    if operation.headers:
        arguments.append(f"headers={_dict(operation.headers)}")
    if operation.body_type:
        arguments.append("body=body")
    if operation.file_type:
        arguments.append(f"file=file, file_type={json.dumps(operation.file_type)}")
    if operation.is_conditional:
        arguments.append("is_conditional=True")
    if operation.is_public:
        arguments.append("is_repeatable=False")
    return f"Call({', '.join(arguments)})"


def _path(operation: Operation) -> str:
    texts = {one.name: one.keyword if one.type == "int" else f"segment({one.keyword})" for one in operation.in_path}
    path = re.sub(r"\{(\w+)\}", lambda found: f"{{{texts[found[1]]}}}", operation.path)
    return f'f"{path}"' if texts else json.dumps(path)


def _dict(parameters: Iterable[Parameter]) -> str:
    return f"{{{', '.join(f'{json.dumps(one.name)}: {one.keyword}' for one in parameters)}}}"


def _about(operation: Operation, more: str = "") -> str:
    """Return the docstring of a method."""
    named = [*(() if operation.query_type else operation.query), *operation.headers]
    described = [f"{one.keyword}: {one.description.rstrip('.')}." for one in named if one.description]
    scope = f"An API key needs the scope {operation.scope}." if operation.scope not in ("", "read") else ""
    about = [sentence(operation.description) if operation.description else "", more]
    if operation.answer == "file":
        about.append("file: what is received is written to it.")
    if operation.file_type:
        about.append("file: it is sent as it is; one that is open is read from where it stands.")
    return docstring(operation.summary, [" ".join(filter(None, about)), " ".join(described), scope], indent="        ")
