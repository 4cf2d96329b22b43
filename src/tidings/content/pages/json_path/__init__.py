"""Paths into JSON: RFC 9535, with filters and the five functions of the standard.

    $.posts[*]   posts   data.items[0]   $..article   $['a key'][1:5]   meta["first","second"]
    $.posts[?@.price < 10 && match(@.name, 'x.*')]

    text ─► parsing ─► JsonPath ─► evaluation, within a budget of steps ─► values

What this reader takes beyond the standard: `$` and `@` at the beginning may be left out, and a name after a point may
have hyphens. A path of a field begins at the item, and `$` in its filters is the item, too.
"""

from tidings.content.pages.json_path.evaluation import (
    MAX_STEPS,
    MAX_VALUES,
    FailedStep,
    JsonPath,
    find,
    first_failure,
    names_in,
)
from tidings.content.pages.json_path.parsing import parse_path

__all__ = [
    "MAX_STEPS",
    "MAX_VALUES",
    "FailedStep",
    "JsonPath",
    "find",
    "first_failure",
    "names_in",
    "parse_path",
]
