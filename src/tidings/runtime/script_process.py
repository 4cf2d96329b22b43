"""The child process that makes our scripts small when the service starts: shorter names, no comments, no blanks.

    web process ── script ──► stdin │ minify │ stdout ── smaller script

It imports nothing of Tidings; `runtime.script_minifier` starts it. The exit code is not 0 if the script cannot be read.
"""

from __future__ import annotations

import sys

import minify

# Newer syntax than this is not used by the library when it rewrites ours.
ECMASCRIPT = 2022


def main() -> None:
    minify.config({"js-version": ECMASCRIPT})
    small = minify.string("text/javascript", sys.stdin.buffer.read().decode())
    sys.stdout.buffer.write(small.encode())


if __name__ == "__main__":
    main()
