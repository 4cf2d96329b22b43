"""Every leaf by its name, found by looking into the folder: a new module there is all it takes."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Final

from tidings.domain.integrations import leaves
from tidings.domain.integrations.leaf import Leaf, leaf_of


def _found() -> dict[str, Leaf]:
    modules = (import_module(f"{leaves.__name__}.{found.name}") for found in pkgutil.iter_modules(leaves.__path__))
    return {leaf.name: leaf for leaf in sorted(map(leaf_of, modules), key=lambda leaf: leaf.name)}


REGISTRY: Final = _found()
# Those that an entry can be saved to; they are what `has_integrations` counts.
SAVE_TARGETS: Final = frozenset(name for name, leaf in REGISTRY.items() if leaf.saves)
# Those that are told of new entries.
NOTIFIED: Final = frozenset(name for name, leaf in REGISTRY.items() if leaf.notifies)
