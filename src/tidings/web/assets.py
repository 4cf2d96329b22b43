"""Our own style sheet, scripts and drawings: read once, told apart by a fingerprint, kept by browsers for a year.

The style sheet is one file for the browser and several for us, joined in the order of STYLES. All addresses carry the
same fingerprint, of everything together, so that scripts may import each other by relative names.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable

from tidings.http.compression import coding_for, compressed
from tidings.http.replies import Reply
from tidings.http.requests import Request
from tidings.web.security import NOTHING_RUNS

STYLES = ("tokens", "base", "controls", "layout", "lists", "article", "reading", "feeds", "settings", "adapts", "print")
PREFIX = "/static/"
_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "webmanifest": "application/manifest+json",
}
_FOREVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "public, no-cache"


class Assets:
    def __init__(self) -> None:
        folder = files("tidings.web").joinpath("static")
        styles = [folder.joinpath("css", f"{name}.css").read_bytes() for name in STYLES]
        self._files = {"tidings.css": b"\n".join(styles)} | {
            name: content for name, content in _read(folder) if not name.startswith("css/")
        }
        everything = b"".join(name.encode() + content for name, content in sorted(self._files.items()))
        self.fingerprint = hashlib.sha256(everything).hexdigest()[:10]
        self._ready: dict[tuple[str, str | None], Reply] = {}

    def path(self, name: str) -> str:
        """Below the base path. KeyError for what there is not."""
        self._files[name]
        return f"{PREFIX}{self.fingerprint}/{name}"

    def size(self, ending: str) -> int:
        """Bytes of all files of a kind, uncompressed."""
        return sum(len(content) for name, content in self._files.items() if name.endswith(ending))

    def answer(self, request: Request) -> Reply | None:
        """None when there is no such file. An address of an earlier version gets what there is now, for once."""
        fingerprint, _, name = request.path.removeprefix(PREFIX).partition("/")
        if name not in self._files:
            return None
        etag = f'"{self.fingerprint}"'
        cached = _FOREVER if fingerprint == self.fingerprint else _ASK_AGAIN
        headers = (("Cache-Control", cached), ("ETag", etag), ("Vary", "Accept-Encoding"), *NOTHING_RUNS)
        if etag in request.headers.get("if-none-match", ""):
            return Reply(304, headers=headers)
        made = self._made(name, request.headers.get("accept-encoding", ""))
        return Reply(200, made.body, made.content_type, (*headers, *made.headers))

    def _made(self, name: str, accepted: str) -> Reply:
        coding = coding_for(accepted)
        known = self._ready.get((name, coding))
        if known is None:
            content_type = _TYPES[name.rpartition(".")[2]]
            known = compressed(Reply(200, self._files[name], content_type), accepted)
            self._ready[name, coding] = known
        return known


def _read(folder: Traversable, prefix: str = "") -> list[tuple[str, bytes]]:
    found = []
    for child in folder.iterdir():
        if child.is_dir():
            found += _read(child, f"{prefix}{child.name}/")
        elif child.name.rpartition(".")[2] in _TYPES:
            found.append((prefix + child.name, child.read_bytes()))
    return found
