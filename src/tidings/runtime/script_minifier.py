"""Makes our scripts small when the service starts, in a child process.

The library that does it is written in Go, whose runtime starts threads and handles signals. In a process of its own it
takes neither memory nor signals from those that serve, and none of them forks while its threads run.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import structlog

TIMEOUT_S = 20

log = structlog.get_logger()


@cache
def minify_script(source: str) -> str:
    """Return the script with shorter names, without comments and blanks; as it was where that cannot be done.

    A page works with either: a machine that cannot start the child process serves a larger script.
    """
    command = [sys.executable, "-m", "tidings.runtime.script_process"]
    try:
        child = subprocess.run(command, input=source.encode(), capture_output=True, timeout=TIMEOUT_S, check=True)  # noqa: S603
    except subprocess.CalledProcessError as error:
        log.warning("scripts not minified", error=error.stderr.decode(errors="replace").strip()[-500:])
    except (OSError, subprocess.TimeoutExpired) as error:
        log.warning("scripts not minified", error=str(error))
    else:
        return child.stdout.decode()
    return source
