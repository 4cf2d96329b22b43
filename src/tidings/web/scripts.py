"""Joins our script modules when the service starts, so that a page loads one script without a build step.

Each module becomes a function that runs once and returns what it exports; a module's names are visible in it alone:

    const $counts = (() => { …; return { refresh }; })();
    const $marks = (() => { const { refresh } = $counts; …; return { mark, undo }; })();

Only the forms that our modules use are understood: `import { a, b as c } from "./x.js";` and `export` before `const`,
`function` or `async function`, each at the beginning of a line. Anything else raises ValueError.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_IMPORT = re.compile(r'^import (?:\{ ([^}]*) \} from )?"\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|const) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*|\bimport\(.*", re.MULTILINE)


def join_modules(modules: Mapping[str, str], name: str) -> str:
    """Returns one script with a module and all that it imports.

    modules: sources by name, without ".js". Raises ValueError for an unknown form, and if modules import each other.
    """
    functions = {one: _as_function(modules[one], one) for one in _ordered(modules, name)}
    return "".join(f"const ${one} = (() => {{\n{body}}})();\n" for one, body in functions.items())


def _ordered(modules: Mapping[str, str], name: str, before: tuple[str, ...] = ()) -> list[str]:
    """Returns the module's name after the names of the modules that it needs."""
    if name in before:
        raise ValueError(f"{name}.js imports itself: {' → '.join((*before, name))}")
    needed = [
        one
        for _names, imported in _IMPORT.findall(modules[name])
        for one in _ordered(modules, imported, (*before, name))
    ]
    return [*dict.fromkeys(needed), name]


def _as_function(source: str, name: str) -> str:
    exported = _EXPORT.findall(source)
    body = _IMPORT.sub(lambda match: _assignment(match[1] or "", match[2]), _EXPORT.sub("", source))
    if unknown := _OTHER.search(body):
        raise ValueError(f"{name}.js: cannot join {unknown[0]!r}")
    return f"{body}return {{ {', '.join(exported)} }};\n"


def _assignment(names: str, module: str) -> str:
    return f"const {{ {names.replace(' as ', ': ')} }} = ${module};" if names else ""
