"""Serves our own style sheet, scripts and icons: read once, addressed by a fingerprint, cached by browsers for a year.

A page has one style sheet, its family's (`STYLES`): files of `static/css`, joined, so that a page for reading does not
load the styles of settings. The script that pages load is one file, too: SCRIPT with all that it imports. All URLs
carry the same fingerprint, a hash of all files.

Script modules are joined without a build step: each becomes a function that runs once and returns what it exports, and
its names are visible in it alone:

    const $counts = (() => { …; return { refresh }; })();
    const $marks = (() => { const { refresh } = $counts; …; return { mark, post }; })();
    export { $counts, $marks };

A module that exports `painted`, a promise, holds back those after it: `await $start.painted;`.

All other modules are parts, which pages load with `import()` when they need them. A part takes what it imports from the
joined script, so that nothing runs twice, or from other parts:

    import { $marks } from "./reading.js";
    const { mark, post } = $marks;

Only the forms that our modules use are understood: `import { a, b as c } from "./x.js";` and `export` before `const`,
`function` or `async function`, each at the beginning of a line. Anything else raises ValueError.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tidings import metrics
from tidings.http.requests import Request
from tidings.http.responses import SMALLEST, coding_for, send_response
from tidings.web.security import SANDBOX_HEADERS

_FIRST, _LAST = ("tokens", "base", "controls", "layout"), ("overlays", "adapts", "print")
# By name of the style sheet: the files that it joins, in order. A layout names its sheet in the block `style`.
STYLES = {
    "tidings": (*_FIRST, "lists", "article", "reading", *_LAST),
    "pages": (*_FIRST, "article", "pages", *_LAST),
    "feeds": (*_FIRST, "pages", "feeds", *_LAST),
    "settings": (*_FIRST, "pages", "settings", *_LAST),
}
# The script of all pages with a session.
SCRIPT = "reading"
# Scripts of pages that work without a session. They import nothing.
ALONE = frozenset({"passkeys", "sign_in"})
WORKER = "js/worker.js"
PREFIX = "/static/"
_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "webmanifest": "application/manifest+json",
}
# Strings are kept unchanged; everywhere else, white space matters only between words.
_STYLE_PART = re.compile(r"""("[^"]*"|'[^']*')|/\*.*?\*/|\s*([{};,])\s*|(:)\s+|\s+""", re.DOTALL)
_IMMUTABLE = "public, max-age=31536000, immutable"
_REVALIDATED = "public, no-cache"


class Assets:
    """The static files of the pages, ready to send."""

    def __init__(self) -> None:
        folder = files("tidings.web").joinpath("static")
        css = {one.name.removesuffix(".css"): one.read_text("utf-8") for one in folder.joinpath("css").iterdir()}
        modules = {
            one.name.removesuffix(".js"): strip_script(one.read_text(encoding="utf-8"))
            for one in folder.joinpath("js").iterdir()
        }
        self._files = {WORKER: modules.pop("worker").encode()}
        self._files |= {
            f"{sheet}.css": strip_styles("\n".join(css[name] for name in names)).encode()
            for sheet, names in STYLES.items()
        }
        scripts = join_modules(modules, SCRIPT)
        self._files |= {f"js/{name}.js": script.encode() for name, script in scripts.items()}
        self.parts = sorted(f"js/{name}.js" for name in scripts.keys() - {SCRIPT, *ALONE})
        """Names of the scripts that pages load when they need them."""
        self._files |= {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}
        everything = b"".join(name.encode() + content for name, content in sorted(self._files.items()))
        self.fingerprint = hashlib.sha256(everything).hexdigest()[:10]
        self._ready: dict[tuple[str, str], bytes] = {}

    def path(self, name: str) -> str:
        """Return the path of a file, below the base path. Raises KeyError if the file does not exist."""
        self._files[name]
        return f"{PREFIX}{self.fingerprint}/{name}"

    def content(self, name: str) -> bytes:
        """Return a file as it is served, uncompressed. Raises KeyError if the file does not exist."""
        return self._files[name]

    def size(self, ending: str) -> int:
        """Return the size in bytes of all files whose name ends with `ending`, uncompressed."""
        return sum(len(content) for name, content in self._files.items() if name.endswith(ending))

    def response(self, request: Request) -> Response | None:
        """Return the response, or None if the file does not exist.

        A URL with the fingerprint of another version gets the current file, which the browser must revalidate.
        """
        fingerprint, name = request.path_params["fingerprint"], request.path_params["name"]
        if name not in self._files:
            return None
        etag = f'"{self.fingerprint}"'
        cached = _IMMUTABLE if fingerprint == self.fingerprint else _REVALIDATED
        headers = {"Cache-Control": cached, "ETag": etag, **SANDBOX_HEADERS}
        if etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers={**headers, "Vary": "Accept-Encoding"})
        coding = coding_for(request.headers.get("accept-encoding", ""), SMALLEST)
        if coding is not None:
            headers["Content-Encoding"] = coding
        return Response(self._encoded(name, coding), 200, headers, _TYPES[name.rpartition(".")[2]])

    def _encoded(self, name: str, coding: str | None) -> bytes:
        if coding is None:
            return self._files[name]
        if (name, coding) not in self._ready:
            self._ready[name, coding] = SMALLEST[coding](self._files[name])
        return self._ready[name, coding]


def strip_styles(source: str) -> str:
    """Return a style sheet without comments and needless white space."""
    stripped = _STYLE_PART.sub(lambda part: part[1] or part[2] or part[3] or _blank_for(part[0]), source)
    return stripped.replace(";}", "}").strip()


def _blank_for(part: str) -> str:
    return "" if part.startswith("/*") else " "


def strip_script(source: str) -> str:
    """Return a script without indentation, blank lines, and lines that are comments.

    Nothing else is removed, so that this is right for every script in which no string and no comment spans lines.
    """
    lines = (line.strip() for line in source.split("\n"))
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


class StaticFiles:
    """An ASGI application for the route /static/{fingerprint}/{name:path}.

    otherwise: answers for files that do not exist.
    """

    def __init__(self, assets: Assets, otherwise: ASGIApp) -> None:
        self._assets = assets
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request = Request(scope, receive)
        response = self._assets.response(request)
        if response is None:
            await self._otherwise(scope, receive, send)
        else:
            await send_response(response, scope, receive, send)
            metrics.record_request("none", request.method, response.status_code, time.perf_counter() - started)


_IMPORT = re.compile(r'^import (?:\{ ([^}]*) \} from )?"\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|const) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def join_modules(modules: Mapping[str, str], first: str) -> dict[str, str]:
    """Return the scripts to serve: one with the first module and all that it imports, and one for each other module.

    modules: sources by name, without ".js"; names of the result are the same. Raises ValueError for an unknown form,
    and if modules of the first script import each other.
    """
    joined = _ordered(modules, first)
    functions = "".join(_called(modules[name], name) for name in joined)
    exports = ", ".join(f"${name}" for name in joined if _EXPORT.search(modules[name]))
    parts = {name: _as_part(source, name, joined, first) for name, source in modules.items() if name not in joined}
    return {first: f"{functions}export {{ {exports} }};\n", **parts}


def _ordered(modules: Mapping[str, str], name: str, before: tuple[str, ...] = ()) -> list[str]:
    """Return the module's name after the names of the modules that it needs."""
    if name in before:
        raise ValueError(f"{name}.js imports itself: {' → '.join((*before, name))}")
    needed = [
        one
        for _names, imported in _IMPORT.findall(modules[name])
        for one in _ordered(modules, imported, (*before, name))
    ]
    return [*dict.fromkeys(needed), name]


def _called(source: str, name: str) -> str:
    exported = _EXPORT.findall(source)
    result = f"const ${name} = " if exported else ""
    wait = f"await ${name}.painted;\n" if "painted" in exported else ""
    return f"{result}(() => {{\n{_as_function(source, name, exported)}}})();\n{wait}"


def _as_function(source: str, name: str, exported: Sequence[str]) -> str:
    body = _IMPORT.sub(lambda match: _assignment(match[1] or "", match[2]), _EXPORT.sub("", source))
    _refuse_other(body, name)
    return f"{body}return {{ {', '.join(exported)} }};\n" if exported else body


def _as_part(source: str, name: str, joined: Collection[str], first: str) -> str:
    _refuse_other(_IMPORT.sub("", _EXPORT.sub("", source)), name)
    needed = [one for _names, one in _IMPORT.findall(source) if one in joined]
    body = _IMPORT.sub(lambda match: _assignment(match[1] or "", match[2]) if match[2] in joined else match[0], source)
    return f'import {{ {", ".join(f"${one}" for one in needed)} }} from "./{first}.js";\n{body}' if needed else body


def _refuse_other(body: str, name: str) -> None:
    if unknown := _OTHER.search(body):
        raise ValueError(f"{name}.js: cannot join {unknown[0]!r}")


def _assignment(names: str, module: str) -> str:
    return f"const {{ {names.replace(' as ', ': ')} }} = ${module};\n" if names else ""
