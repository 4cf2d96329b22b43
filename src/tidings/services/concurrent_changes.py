"""Changes that several requests of a user make at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tidings.engine.errors import ConcurrentChange

Result = TypeVar("Result")


def repeat_if_concurrent(change: Callable[[], Result]) -> Result:
    """Return what `change` returns, at the second try if another request made the same change during the first.

    Apps move many feeds into a new folder with requests at the same time. change: looks what there is, in a transaction
    of its own.
    """
    try:
        return change()
    except ConcurrentChange:
        return change()
