"""Programs for Node that tests use: each is a folder with `package.json` and a lock, installed when it is needed."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from support import debian
from support.debian import ProgramMissing

MIN_MAJOR = 20


def installed(folder: Path) -> Path:
    """Return a folder with the program and what it needs, verified by the lock. Raises ProgramMissing.

    It stays in the virtual environment until the lock or the program changes.
    """
    node()
    npm = debian.program("npm")
    files = sorted(file for file in folder.iterdir() if file.is_file())
    digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:16]
    target = Path(sys.prefix) / "node-programs" / f"{folder.name}-{digest}"
    target.parent.mkdir(exist_ok=True)
    with (target.parent / f"{folder.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            _install(npm, files, target)
    return target


def node() -> Path:
    """Return where Node is. Raises ProgramMissing, for too old a version as well."""
    program = debian.program("node", "nodejs")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    major = version.removeprefix("v").partition(".")[0]
    if not major.isdecimal() or int(major) < MIN_MAJOR:
        raise ProgramMissing(f"node is {version}: version {MIN_MAJOR} or newer is needed")
    return program


def _install(npm: Path, files: list[Path], target: Path) -> None:
    unfinished = target.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    for file in files:
        shutil.copy(file, unfinished)
    command = [str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        done = subprocess.run(
            command,
            cwd=unfinished,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ProgramMissing("`npm ci` took too long") from None
    if done.returncode:
        last = done.stdout.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise ProgramMissing(f"`npm ci` failed: {last[0]}")
    unfinished.rename(target)
