"""Parameters of a request, from the form and from the query: clients differ in where they put them."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.http import forms
from tidings.http.binding import INT64
from tidings.http.requests import Request
from tidings.services.accounts.app_logins import FeverLogin

# Numbers with more digits are limited without parsing, since int() takes quadratic time.
_MAX_DIGITS: Final = 30


class Parameters:
    """The parameters of a request. Names are flags: many have no value.

    If a name is sent twice, the first value counts, and the form comes before the query.
    """

    def __init__(self, request: Request) -> None:
        """Raise InvalidInput for a form or a query that is not UTF-8 text, or contains NUL."""
        self._values: dict[str, str] = {}
        for name, value in [*forms.fields(request), *request.query]:
            self._values.setdefault(name, value.strip())

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def text(self, name: str) -> str:
        """Return the value, "" if it was not sent."""
        return self._values.get(name, "")

    def number(self, name: str) -> int | None:
        """Return a whole number, limited to 64 bits; None if it was not sent. Raises InvalidInput for any other text.

        A fraction is dropped: some clients send times with one.
        """
        text = self.text(name)
        return None if not text else _number(name, text.partition(".")[0] or "0")

    def ids(self, name: str, most: int) -> list[int]:
        """Return the ids of a list separated by commas, `most` at most. Raises InvalidInput for any other text."""
        parts = [part.strip() for part in self.text(name).split(",")]
        return [_number(name, part) for part in parts if part][:most]


def _number(name: str, text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise InvalidInput(verbatim(f"{name}: {text[:40]!r} is not a whole number."), field=name)
    value = int(digits) if len(digits) <= _MAX_DIGITS else INT64 - 1
    return max(-value, -INT64) if text.startswith("-") else min(value, INT64 - 1)


class FeverCaller(Struct, frozen=True):
    """login: None without a key, or with an unknown one."""

    login: FeverLogin | None = None


def key_of(request: Request) -> str:
    """Return the key, which is in the form or, from clients that mark with GET, in the query; "" without one."""
    return Parameters(request).text("api_key")
