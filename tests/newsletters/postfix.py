"""A Postfix of its own: Debian's program in a folder of the test, on a port of this machine."""

from __future__ import annotations

import os
import re
import shutil
import smtplib
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from support.debian import ProgramMissing, program
from support.ports import free_port

_TIMEOUT_S: Final = 120
# What every one needs, and nothing that depends on this machine's own.
_MAIN: Final = """
compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
maillog_file = {folder}/log
maillog_file_prefixes = {folder}
myhostname = mx.example.org
mydestination = example.org
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
smtpd_tls_security_level = none
# Waits for what it has just asked, and tries again, within a second.
address_verify_poll_delay = 1s
address_verify_poll_count = 60
queue_run_delay = 1s
minimal_backoff_time = 1s
maximal_backoff_time = 1s
transport_retry_time = 1s
"""
_MASTER: Final = """
127.0.0.1:{port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 1 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
proxywrite unix - - n - 1 proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
local unix - n n - - local
virtual unix - n n - - virtual
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
"""


class Postfix:
    """A running mail server. port: of SMTP."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self.port = port
        self.queue_folder = folder / "queue"

    @property
    def log(self) -> str:
        return (self._folder / "log").read_text(encoding="utf-8", errors="replace")

    def send(self, raw: bytes, *recipients: str) -> dict[str, tuple[int, bytes]]:
        """Hand in a message by SMTP. Returns the refusals by recipient. Raises if all were refused."""
        with smtplib.SMTP("127.0.0.1", self.port, timeout=_TIMEOUT_S) as client:
            return client.sendmail("bounce@tides.example", recipients, raw, mail_options=["BODY=8BITMIME"])

    @property
    def queue(self) -> str:
        """What waits to be delivered."""
        return _run("postqueue", "-c", str(self._folder), "-p").stdout


@contextmanager
def postfix(*lines: str) -> Iterator[Postfix]:
    """Run a mail server. lines: of main.cf. Raises ProgramMissing if it cannot be had, or if root does not run this."""
    program("postfix")
    if os.getuid() != 0:
        raise ProgramMissing("only root can start Postfix")
    # Its users must reach it, and its sockets need a short path.
    folder = Path(tempfile.mkdtemp(prefix="postfix-", dir="/tmp"))
    folder.chmod(0o755)
    port = free_port()
    (folder / "main.cf").write_text(_MAIN.format(folder=folder) + "\n".join([*lines, ""]))
    (folder / "master.cf").write_text(_MASTER.format(port=port))
    (folder / "queue").mkdir()
    try:
        started = _run("postfix", "-c", str(folder), "start")
        assert started.returncode == 0, started.stdout
        try:
            yield Postfix(folder, port)
        finally:
            _run("postfix", "-c", str(folder), "stop")
    finally:
        shutil.rmtree(folder)


def _run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program(name, "postfix")), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=_TIMEOUT_S, check=False,
    )  # fmt: skip


def documented(heading: str, page: Path) -> list[str]:
    """Return the lines of configuration below a heading of a page: those with an indent and an equals sign."""
    text = page.read_text(encoding="utf-8").partition(f"\n{heading}\n")[2]
    return re.findall(r"^    (\w+ = .+)$", re.split(r"^#", text, flags=re.MULTILINE)[0], flags=re.MULTILINE)
