"""A client for the API of Tidings, a feed reader that you run yourself.

    from tidings_client import Client

    with Client("https://reader.example.org", token="…") as client:
        for entry in client.iter_entries(status="unread"):
            print(entry["title"], entry["url"])

`Client` has a method for each operation of the API, and `AsyncClient` has the same methods as coroutines. Answers are
the JSON of the service; `tidings_client.models` has their types. Errors are in `tidings_client.errors`.
"""

from __future__ import annotations

from httpx2 import ServerSentEvent

from tidings_client._async_client import AsyncClient
from tidings_client._client import Client
from tidings_client._failures import ApiError, TidingsError, Unreachable

__all__ = ["ApiError", "AsyncClient", "Client", "ServerSentEvent", "TidingsError", "Unreachable"]
__version__ = "0.3.0"
