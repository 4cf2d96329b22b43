"""A Dovecot for tests: a real IMAP server on this machine."""

from __future__ import annotations

import imaplib
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from support.debian import ProgramMissing, program
from support.ports import free_port

CERTIFICATE: Final = Path(__file__).with_name("localhost.pem")
PASSWORD: Final = 'pa"s\\swörd'
# Of the user nobody, to whom all mail belongs.
_NOBODY: Final = 65_534
_CONFIGURATION: Final = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <{certificate}
ssl_key = <{certificate}
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_failure_delay = 0
auth_cache_size = 0
mail_location = maildir:{folder}/mail/%u
mail_max_userip_connections = 100
first_valid_uid = 500
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={nobody} gid={nobody} home={folder}/mail/%u
}}
service imap-login {{
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
  }}
}}
"""


class Dovecot:
    """A running server. port: without TLS. tls_port: with the certificate of `localhost`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port, self.tls_port = free_port(), free_port()

    def write(self) -> Path:
        mail = self._folder / "mail"
        mail.mkdir()
        os.chown(mail, _NOBODY, _NOBODY)
        path = self._folder / "dovecot.conf"
        text = _CONFIGURATION.format(
            folder=self._folder,
            certificate=CERTIFICATE,
            nobody=_NOBODY,
            password=PASSWORD,
            port=self.port,
            tls_port=self.tls_port,
        )
        path.write_text(text)
        return path

    @property
    def log(self) -> str:
        path = self._folder / "dovecot.log"
        return path.read_text() if path.exists() else ""


class ImapAccount:
    """An account of the server, as a mail program uses it. Every name is an account, with the same password."""

    password = PASSWORD

    def __init__(self, server: Dovecot, name: str) -> None:
        self.server = server
        self.name = name

    @contextmanager
    def _signed_in(self) -> Iterator[imaplib.IMAP4]:
        with imaplib.IMAP4("127.0.0.1", self.server.port, timeout=60) as imap:
            imap.authenticate("PLAIN", lambda _: f"\0{self.name}\0{self.password}".encode())
            yield imap

    def create(self, folder: str) -> None:
        """folder: in modified UTF-7, with quotes if it has blanks."""
        with self._signed_in() as imap:
            assert imap.create(folder)[0] == "OK"

    def delete(self, folder: str) -> None:
        with self._signed_in() as imap:
            assert imap.delete(folder)[0] == "OK"

    def append(self, *messages: bytes, folder: str = "INBOX", days_ago: float = 0) -> None:
        """Put messages into a folder. days_ago: when they arrived."""
        with self._signed_in() as imap:
            for message in messages:
                arrived = imaplib.Time2Internaldate(time.time() - days_ago * 86_400)
                assert imap.append(folder, "", arrived, message)[0] == "OK"

    def flags(self, folder: str = "INBOX") -> list[str]:
        """Return the flags of each message, without \\Recent."""
        with self._signed_in() as imap:
            imap.select(folder, readonly=True)
            _, found = imap.fetch("1:*", "(FLAGS)")
        every = [imaplib.ParseFlags(one) for one in found if isinstance(one, bytes)]
        return [b" ".join(flag for flag in flags if flag != b"\\Recent").decode() for flags in every]


@contextmanager
def dovecot() -> Iterator[Dovecot]:
    """Run a server. Raises ProgramMissing, which says why there is none."""
    if os.getuid() != 0:
        raise ProgramMissing("dovecot needs root to read the mail of its users")
    path = program("dovecot", "dovecot-imapd")
    # Its own users have to reach it, which pytest's folders do not allow.
    folder = Path(tempfile.mkdtemp(prefix="tidings-dovecot-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        server = Dovecot(folder)
        process = subprocess.Popen([path, "-F", "-c", server.write()])
        try:
            _wait_for(server, process)
            yield server
        finally:
            process.terminate()
            process.wait(60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(server: Dovecot, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, server.log
        with suppress(OSError), socket.create_connection(("127.0.0.1", server.tls_port), 5) as connection:
            tls = ssl.create_default_context(cafile=str(CERTIFICATE))
            with tls.wrap_socket(connection, server_hostname="localhost") as secure:
                if secure.recv(4) == b"* OK":
                    return
        time.sleep(0.05)
    raise AssertionError(f"dovecot does not answer:\n{server.log}")
