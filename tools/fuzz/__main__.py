"""`python -m fuzz parser|cleaner|letters [seconds]`: looks for input that breaks a promise.

It ends with the first one that it finds, or when time is up.

A finding is kept below build/fuzz/. It becomes a folder of tests/corpus/findings, see the note there.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import atheris

from fuzz.limits import MAX_INPUT_BYTES

TARGETS = ("parser", "cleaner", "letters")
FOLDER = Path(__file__).parents[2] / "build" / "fuzz"


def main() -> int:
    name, seconds = [*sys.argv[1:], "600"][:2] if sys.argv[1:] else ("", "")
    if name not in TARGETS or not seconds.isdigit():
        sys.stderr.write(f"usage: python -m fuzz {'|'.join(TARGETS)} [seconds]\n")
        return 2
    with atheris.instrument_imports(include=["tidings.content"]):
        target = importlib.import_module(f"fuzz.{name}")
    seeds, words = FOLDER / name, FOLDER / f"{name}.words"
    seeds.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds()):
        (seeds / f"seed-{number}").write_bytes(seed[:MAX_INPUT_BYTES])
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.WORDS))
    options = [
        str(seeds),
        f"-max_total_time={seconds}",
        f"-max_len={MAX_INPUT_BYTES}",
        f"-dict={words}",
        f"-artifact_prefix={FOLDER}/{name}-",
        # For what never ends. What only takes too long is noticed by the checks, which look at processor time.
        "-timeout=60",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options], target.check)
    atheris.Fuzz()
    return 0


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    sys.exit(main())
