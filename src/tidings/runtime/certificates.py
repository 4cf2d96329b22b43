"""The certificate of the web server and its private key: read together, checked, and kept in memory.

    read files ─► key fits? ─► handshake in memory: valid now, for servers? ─► TlsPair

Granian reads both from files, in each web worker and whenever one is restarted. A renewal may replace these files at
any moment, so the workers are given copies in memory: what they read is always what was checked.
"""

from __future__ import annotations

import os
import ssl
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tidings.base.errors import StartError

# Two flights of each side are enough for TLS 1.3.
_HANDSHAKE_STEPS = 4


@dataclass(frozen=True)
class TlsPair:
    """A certificate and its key, as files that a forked process can read."""

    certificate: Path
    key: Path
    expires_at: str = ""
    """As OpenSSL writes it; empty if the certificate is not valid now."""
    problem: str = ""
    """Why clients that know the issuer would refuse the certificate now; empty if they would not."""
    descriptors: tuple[int, ...] = ()

    def close(self) -> None:
        """Give the memory back. Processes that have been forked keep their own descriptors."""
        for descriptor in self.descriptors:
            os.close(descriptor)


def read(certificate: Path, key: Path) -> TlsPair:
    """Return copies of both files. Raises StartError if they cannot be read, or do not belong together."""
    pair = _copied(certificate, key)
    try:
        expires_at, problem = _handshake(_server_context(pair, certificate, key), pair.certificate)
    except StartError:
        pair.close()
        raise
    return replace(pair, expires_at=expires_at, problem=problem)


def _copied(certificate: Path, key: Path) -> TlsPair:
    contents = [_contents(file) for file in (certificate, key)]
    if not hasattr(os, "memfd_create"):  # Linux only
        return TlsPair(certificate.resolve(), key.resolve())
    descriptors = tuple(_in_memory(content) for content in contents)
    copies = [Path(f"/proc/self/fd/{descriptor}") for descriptor in descriptors]
    return TlsPair(copies[0], copies[1], descriptors=descriptors)


def _contents(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise StartError(f"the file {file} of TIDINGS_TLS_… cannot be read: {error.strerror}") from error


def _in_memory(content: bytes) -> int:
    descriptor = os.memfd_create("tls")
    with os.fdopen(descriptor, "wb", closefd=False) as copy:
        copy.write(content)
    return descriptor


def _server_context(pair: TlsPair, certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # Without a password here, OpenSSL would ask for one on the terminal.
        context.load_cert_chain(pair.certificate, pair.key, password="")
    except ssl.SSLError as error:
        reason = (error.reason or "").lower().replace("_", " ")
        raise StartError(
            f"the certificate {certificate} and the key {key} cannot be used together: {reason or 'not PEM'};"
            " both are PEM, the certificate of the server comes first, and the key has no password"
        ) from error
    return context


def _handshake(server_context: ssl.SSLContext, certificate: Path) -> tuple[str, str]:
    """Return when the certificate expires, or "" and why a client that trusts its issuer refuses it now."""
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname = False
    # The certificate itself is trusted, whoever issued it: what is left to check are its times and its purpose.
    client_context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    client_context.load_verify_locations(certificate)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(to_client, to_server)
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    try:
        for _ in range(_HANDSHAKE_STEPS):
            for side in (client, server):
                with suppress(ssl.SSLWantReadError):
                    side.do_handshake()
    except ssl.SSLCertVerificationError as error:
        return "", error.verify_message
    except ssl.SSLError as error:
        return "", error.reason or str(error)
    return str((client.getpeercert() or {}).get("notAfter", "")), ""
