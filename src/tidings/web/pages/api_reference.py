"""The API reference at /docs/api: the OpenAPI document as a plain page, without any script."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from html import escape
from itertools import starmap
from typing import Any

from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope, Send

from tidings import __version__
from tidings.http.responses import send_response
from tidings.web.pages.api_reference_parts import ERRORS, OPERATION, PAGE, TYPE

Json = Mapping[str, Any]

# The page does not load anything or run scripts.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
KINDS = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false", "null": "null"}


class Reference:
    """An ASGI application of one page, rendered on the first request."""

    def __init__(self, document: Callable[[], Json]) -> None:
        self._document = document

    @cached_property
    def _page(self) -> bytes:
        return page(self._document()).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] in ("GET", "HEAD"):
            response = HTMLResponse(self._page, 200, _HEADERS)
        else:
            response = HTMLResponse(b"", 405, {**_HEADERS, "Allow": "GET, HEAD"})
        await send_response(response, scope, receive, send)


def page(document: Json) -> str:
    """Return the page as HTML. document: OpenAPI 3.1, as `tidings.api` generates it."""
    groups: dict[str, list[tuple[str, str, Json]]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            groups[operation["tags"][0]].append((method.upper(), path, operation))
    info = document["info"]
    return PAGE.format(
        title=escape(info["title"]),
        about="".join(f"<p>{escape(text)}</p>" for text in info["description"].split("\n\n")),
        document=escape(document["servers"][0]["url"].rstrip("/") + "/v1/openapi.json"),
        contents="".join(_contents(tag, operations) for tag, operations in groups.items()),
        operations="".join(
            f'<section><h2 id="{_anchor(tag)}">{escape(tag)}</h2>{"".join(starmap(_operation, group))}</section>'
            for tag, group in groups.items()
        ),
        errors=_errors(document["components"]["responses"], document["x-error-codes"]),
        types="".join(_type(name, schema) for name, schema in document["components"]["schemas"].items()),
        version=escape(__version__),
    )


def _contents(tag: str, operations: Iterable[tuple[str, str, Json]]) -> str:
    links = "".join(
        f'<li><a href="#{one["operationId"]}"><b>{method}</b> {_path(path)}</a></li>'
        for method, path, one in operations
    )
    return f'<li><a href="#{_anchor(tag)}">{escape(tag)}</a><ul>{links}</ul></li>'


def _operation(method: str, path: str, operation: Json) -> str:
    answers = operation["responses"].items()
    return OPERATION.format(
        id=operation["operationId"],
        method=method,
        path=_path(path),
        summary=escape(operation["summary"]) + ".",
        description=escape(operation.get("description", "")),
        access=_access(operation.get("security", ())),
        parameters=_table("Parameters", [_parameter(parameter) for parameter in operation.get("parameters", ())]),
        body=_content("Body", operation.get("requestBody", {}).get("content", {})),
        answers="".join(_answer(status, answer) for status, answer in answers if "$ref" not in answer),
        errors=" ".join(f'<a href="#errors">{status}</a>' for status, answer in answers if "$ref" in answer) or "none",
    )


def _access(security: Iterable[Json]) -> str:
    """Return who may call an operation."""
    scopes = [scope for way in security for scope in way.get("key", ())]
    if not scopes:
        return '<p class="soft">Needs no credentials.</p>' if not security else ""
    return f'<p class="soft">API keys need the scope <code>{escape(scopes[0])}</code>.</p>'


def _parameter(parameter: Json) -> tuple[str, str, str]:
    return parameter["name"], _kind(parameter["schema"]), escape(parameter.get("description", ""))


def _answer(status: str, answer: Json) -> str:
    return _content(f"Answer {status}", answer["content"]) if "content" in answer else f"<h4>Answer {status}</h4>"


def _content(title: str, contents: Json) -> str:
    if not contents:
        return ""
    # The same body in several forms is shown in the first.
    first = next(iter(contents.values()))
    kinds = ", ".join(
        _kind(one["schema"]) if kind == "application/json" else f"<code>{escape(kind)}</code>"
        for kind, one in contents.items()
    )
    return f"<h4>{title}: {kinds}</h4>{_example(first.get('example'))}"


def _example(example: Any) -> str:
    if example is None:
        return ""
    text = example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)
    return f"<details><summary>Example</summary><pre>{escape(text)}</pre></details>"


def _errors(responses: Json, codes: Mapping[str, str]) -> str:
    rows = "".join(
        f"<tr><td>{escape(answer['description'])}</td><td>{_message(answer['content']['application/json'])}</td></tr>"
        for answer in responses.values()
    )
    lines = "".join(
        f'<tr id="error-{escape(code)}"><th scope=row><code>{escape(code)}</code></th><td>{escape(title)}</td></tr>'
        for code, title in codes.items()
    )
    return ERRORS.format(rows=rows, codes=lines)


def _message(content: Json) -> str:
    example = content.get("example")
    return f"<q>{escape(example['error_message'])}</q>" if example else ""


def _type(name: str, schema: Json) -> str:
    required = schema.get("required", ())
    rows = [
        (field, _kind(one) + (", needed" if field in required else ""), escape(one.get("description", "")))
        for field, one in schema["properties"].items()
    ]
    return TYPE.format(name=escape(name), description=escape(schema.get("description", "")), fields=_table("", rows))


def _table(title: str, rows: list[tuple[str, str, str]]) -> str:
    if not rows:
        return ""
    heading = f"<h4>{title}</h4>" if title else ""
    lines = "".join(
        f"<tr><th scope=row><code>{escape(name)}</code></th><td>{kind}</td><td>{text}</td></tr>"
        for name, kind, text in rows
    )
    return f"{heading}<div class=wide><table>{lines}</table></div>"


def _kind(schema: Json) -> str:
    """Return the type of a value in words, as HTML."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#type-{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_kind(schema_) for schema_ in schema["anyOf"])
    if "enum" in schema:
        return "one of " + ", ".join(f"<code>{escape(str(word))}</code>" for word in schema["enum"] if word is not None)
    kinds = schema.get("type", ())
    return " or ".join(_plain(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)) or "anything"


def _plain(kind: str, schema: Json) -> str:
    if kind == "array":
        return f"list of {_kind(schema['items'])}"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"map to {_kind(values)}" if values else "object"
    if schema.get("format") == "date-time" and kind == "string":
        return "moment (RFC 3339)"
    return KINDS[kind] + (_range(schema) if kind in ("integer", "number") else "")


def _range(schema: Json) -> str:
    match schema.get("minimum"), schema.get("maximum"):
        case None, None:
            return ""
        case minimum, None:
            return f" from {minimum}"
        case None, maximum:
            return f" up to {maximum}"
        case minimum, maximum:
            return f" from {minimum} to {maximum}"
    raise AssertionError(schema)


def _path(path: str) -> str:
    """Return the path as HTML that may wrap after each slash."""
    return escape(path).replace("/", "/<wbr>").replace("{", "<var>{").replace("}", "}</var>")


def _anchor(tag: str) -> str:
    return "about-" + tag.lower().replace(" ", "-")
