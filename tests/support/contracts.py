"""Contract files: interfaces that others rely on, stored as text so that reviews show every change."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "contracts"


def compare(name: str, text: str, *, write: bool) -> None:
    """write: make it the new contract instead (`make contracts`)."""
    path = FOLDER / name
    if write:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return
    kept = path.read_text() if path.exists() else ""
    assert text == kept, f"contracts/{name} is not true any more: if that is meant, run `make contracts` and look at it"
