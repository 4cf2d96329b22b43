"""What tests of mailboxes ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.debian import ProgramMissing
from support.dovecot import CERTIFICATE, Dovecot, dovecot


@pytest.fixture(scope="session")
def imap_server() -> Iterator[Dovecot]:
    try:
        with dovecot() as server:
            yield server
    except ProgramMissing as error:
        pytest.skip(str(error))


@pytest.fixture
def trusts_localhost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have this process trust the certificate of the tests."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
