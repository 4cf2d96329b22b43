"""Measures by processor time whether the work of a reader grows in proportion to its input."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator

from doubling.readers import READERS, Reader
from doubling.texts import PIECES, repeated

TIMES = 4
# Linear work takes 4 times as long, squared work 16 times. Between them is room for caches and collections.
MAX_FACTOR = 9.0
# Seconds. Less is never a finding: at the sizes used, squared work takes longer even where each step is fast.
MIN_S = 0.06
# Seconds. A text of this size takes a few milliseconds; what takes so long is not measured at a larger size.
HOPELESS_S = 1.5
TRIES = 3


def findings(reader: Reader, pieces: dict[str, str] | None = None) -> Iterator[tuple[str, str]]:
    """Yield the name of each text, and what was measured if the time grows faster than the text, else ""."""
    for name, piece in (pieces or PIECES).items():
        for frame in reader.frames:
            label = name if frame == "%s" else f"{name} in {frame}"
            yield label, _growth(reader, [frame.replace("%s", repeated(piece, size)) for size in _sizes(reader)])


def _sizes(reader: Reader) -> tuple[int, int, int, int]:
    """Return four sizes. The first one warms up, and shows work so bad that the others would take minutes."""
    return reader.size // 16, reader.size, TIMES * reader.size, TIMES * TIMES * reader.size


def _growth(reader: Reader, texts: list[str]) -> str:
    """A second and third measurement are made only if the first one is bad; the shortest times count.

    Then the largest text tells growth from a step: from some size on, such as where a button has too much text for one,
    a reader may do what it does not do with less.
    """
    *before, small, large, largest = texts
    took_s = 0.0
    for text in (*before, small):
        if (took_s := _took_s(reader, text)) > HOPELESS_S:
            return f"{len(text):,} characters took {took_s:.3f} s"
    small_s, large_s = took_s, _took_s(reader, large)
    for _ in range(TRIES - 1):
        if large_s <= max(MIN_S, MAX_FACTOR * small_s):
            return ""
        small_s, large_s = min(small_s, _took_s(reader, small)), min(large_s, _took_s(reader, large))
    if large_s <= max(MIN_S, MAX_FACTOR * small_s) or _took_s(reader, largest) <= MAX_FACTOR * large_s:
        return ""
    return f"{len(small):,} characters took {small_s:.3f} s, {len(large):,} took {large_s:.3f} s"


def _took_s(reader: Reader, text: str) -> float:
    # A collection looks at all objects of the process, which has nothing to do with the text.
    gc.disable()
    try:
        started = time.process_time()
        reader.run(text)
        return time.process_time() - started
    finally:
        gc.enable()


def readers_named(names: list[str]) -> list[Reader]:
    return [reader for reader in READERS if not names or reader.name in names]
