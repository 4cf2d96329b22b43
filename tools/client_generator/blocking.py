"""Derives blocking code from code with `async` and `await`."""

from __future__ import annotations

import re

# In this order; whole words only.
REPLACEMENTS = (
    ("async def", "def"),
    ("async with", "with"),
    ("async for", "for"),
    ("await ", ""),
    (r"a(read|close)\(", r"\1("),
    ("aiter_bytes", "iter_bytes"),
    ("__aenter__", "__enter__"),
    ("__aexit__", "__exit__"),
    ("asyncio", "time"),
    ("asynccontextmanager", "contextmanager"),
    ("AsyncIterator", "Iterator"),
    ("AsyncClient", "Client"),
    ("AsyncConnection", "Connection"),
    ("_async_connection", "_connection"),
    ("`_connection.py` from this file: the same with blocking calls", "this file from `_async_connection.py`"),
    ("with coroutines", "with blocking calls"),
)


def derived(text: str) -> str:
    """Return the same code with blocking calls."""
    for pattern, replacement in REPLACEMENTS:
        text = re.sub(rf"(?<![\w`]){pattern}" if pattern[0] != "`" else pattern, replacement, text)
    return text
