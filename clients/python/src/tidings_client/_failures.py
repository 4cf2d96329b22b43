"""The root of the errors, and how a response becomes one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2


class TidingsError(Exception):
    """Any failure of a request."""


class Unreachable(TidingsError):
    """The service did not respond: a wrong address, no network, or a timeout. The cause is the error of httpx2."""


class ApiError(TidingsError):
    """The service refused a request. `tidings_client.errors` has a class for each documented status."""

    def __init__(
        self, status: int, detail: str, *, code: str = "", field: str = "", title: str = "", retry_after_s: int = 0
    ) -> None:
        super().__init__(detail)
        self.status = status
        """The HTTP status."""
        self.detail = detail
        """What happened and what to do, as a sentence."""
        self.code = code
        """What went wrong, for programs: one of `errors.ErrorCode`. Empty if something else than Tidings answered."""
        self.field = field
        """The parameter or the member of the body that is wrong, or empty."""
        self.title = title
        """What the code means in general."""
        self.retry_after_s = retry_after_s
        """How long the service asks to wait, 0 if it does not say."""

    def __str__(self) -> str:
        return f"{self.detail} ({self.status}{', ' * bool(self.code)}{self.code})"


def failure_of(response: httpx2.Response, kinds: Mapping[int, type[ApiError]]) -> ApiError:
    """Return the error that a response stands for. Its body has been read. kinds: the class for each status."""
    problem = _problem(response)
    text = {name: value for name, value in problem.items() if isinstance(value, str)}
    return kinds.get(response.status_code, ApiError)(
        response.status_code,
        text.get("detail") or text.get("error_message") or _without_body(response),
        code=text.get("code") or str(response.headers.get("X-Error-Code", "")),
        field=text.get("field", ""),
        title=text.get("title", ""),
        retry_after_s=retry_after_s(response) or 0,
    )


def retry_after_s(response: httpx2.Response) -> int | None:
    """Return the Retry-After of a response in seconds, None if it has none. Tidings never sends a date there."""
    text = response.headers.get("Retry-After", "")
    return int(text) if text.isascii() and text.isdecimal() else None


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Turn errors of the connection into Unreachable."""
    try:
        yield
    except httpx2.HTTPError as error:
        raise Unreachable(f"{url} did not answer: {str(error) or type(error).__name__}") from error


def _problem(response: httpx2.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _without_body(response: httpx2.Response) -> str:
    if response.is_redirect:
        return f"The service is at another address: {response.headers.get('Location', '')}"
    return (
        f"The answer was {response.status_code} {response.reason_phrase}, and not from Tidings. Is the address right?"
    )
