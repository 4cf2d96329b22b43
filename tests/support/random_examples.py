"""How many random examples a property is tried with, and how large a load is: more in `make test-long`.

`make test` tries the same examples each time, so that it fails for what was changed. `make test-long` tries
new ones.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("tests", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=500)


def in_long_run(number: int, *, otherwise: int) -> int:
    """Return the first number in `make test-long`, for a test that asks the same with more load there."""
    return number if settings.get_current_profile_name() == "long" else otherwise


def examples(count: int) -> int:
    """Return `count`, or ten times as many in `make test-long`."""
    return 10 * count if settings.get_current_profile_name() == "long" else count
