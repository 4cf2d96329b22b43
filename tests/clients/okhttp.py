"""Requests as OkHttp writes them, the HTTP library of many Android apps, and what parsers of those apps take."""

from __future__ import annotations

import json
from typing import Any

from clients.apps import plain
from clients.shapes import JsonShape, misfits
from support.people import HttpResponse

# What an app sends that gives itself no name.
AGENT = {"User-Agent": "okhttp/4.12.0", "Accept-Encoding": "gzip"}


def form_of_parts(*fields: tuple[str, str]) -> tuple[bytes, dict[str, str]]:
    """Return the body and its header as the app's HTTP library writes them."""
    boundary = "3b7d2c1e-52f2-4f86-9d5e-6a1f0c2d9e77"
    parts = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n'
        f"Content-Length: {len(value.encode())}\r\n\r\n{value}\r\n"
        for name, value in fields
    )
    return f"{parts}--{boundary}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def fitting(answer: HttpResponse, shape: JsonShape) -> Any:
    """Return the response's JSON, all of which the app's parser takes."""
    assert answer.status == 200, answer
    found = json.loads(plain(answer))
    assert misfits(found, shape) == []
    return found
