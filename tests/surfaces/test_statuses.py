"""The statuses of errors that mean the same on every surface."""

from __future__ import annotations

import pytest

from tidings.api import replies
from tidings.base.errors import LocalShortage, StoreUnavailable, TidingsError
from tidings.fever import app as fever
from tidings.greader import app as greader
from tidings.http.requests import RequestTooSlow
from tidings.web import error_pages


@pytest.mark.parametrize("surface", [replies, error_pages, greader, fever], ids=["api", "web", "greader", "fever"])
@pytest.mark.parametrize(
    ("error", "status"), [(LocalShortage, 503), (StoreUnavailable, 503), (RequestTooSlow, 408), (TidingsError, 400)]
)
def test_every_surface_has_the_same_status_for_a_common_error(
    surface: object, error: type[TidingsError], status: int
) -> None:
    table: tuple[tuple[type[TidingsError], int], ...] = surface.STATUSES  # type: ignore[attr-defined]

    assert next(found for kind, found in table if issubclass(error, kind)) == status
