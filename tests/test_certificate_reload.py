"""SIGHUP has the certificate read again: with real processes, sockets and clients that notice every failed request."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import signal
import ssl
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from support.certificates import Key, write_key, write_pair
from support.processes import is_running
from test_supervisor import Service, eventually
from tidings.base.errors import StartError
from tidings.runtime import certificates

pytestmark = pytest.mark.slow

REPLACED = "web worker replaced"


class TlsService(Service):
    """A service with TLS. It owns the two files, which tests replace."""

    def __init__(self, folder: Path, key: Key | None = None, **options: str) -> None:
        self.certificate, self.key = folder / "certificate.pem", folder / "key.pem"
        self.first_serial = write_pair(self.certificate, self.key, key)
        super().__init__(folder, TLS_CERTIFICATE=str(self.certificate), TLS_KEY=str(self.key), **options)

    def connect(self) -> http.client.HTTPSConnection:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=context)

    def serial(self) -> int:
        """Return the serial number of the certificate that a new connection gets."""
        connection = self.connect()
        with contextlib.closing(connection):
            connection.connect()
            assert isinstance(connection.sock, ssl.SSLSocket)
            found = connection.sock.getpeercert(binary_form=True)
            assert found
            return x509.load_der_x509_certificate(found).serial_number

    def hang_up(self) -> None:
        self.process.send_signal(signal.SIGHUP)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., TlsService]]:
    with contextlib.ExitStack() as stack:

        def start_service(**options: object) -> TlsService:
            service = TlsService(tmp_path, **options)  # type: ignore[arg-type]
            stack.callback(service.clean_up)
            return service.until_ready()  # type: ignore[return-value]

        yield start_service


class Visitor(threading.Thread):
    """A client that sends one request after another, and keeps what failed."""

    def __init__(self, service: TlsService, *, keeps_connection: bool) -> None:
        super().__init__()
        self._service, self._keeps_connection = service, keeps_connection
        self.failures: list[str] = []
        self.pids = set[int]()
        self.answers = 0
        self.is_done = threading.Event()

    def run(self) -> None:
        connection = self._service.connect()
        while not self.is_done.is_set():
            try:
                connection.request("GET", "/pid")
                response = connection.getresponse()
                self.pids.add(int(response.read()))
                assert response.status == 200
                self.answers += 1
            except Exception as error:  # noqa: BLE001  (each one is a lost request)
                self.failures.append(repr(error))
                connection.close()
            if not self._keeps_connection:
                connection.close()
        connection.close()


def test_no_request_fails_while_a_new_certificate_is_loaded(start: Callable[..., TlsService]) -> None:
    service = start(worker="obedient", WEB_WORKERS="2")
    worker = service.worker
    assert service.serial() == service.first_serial
    visitors = [Visitor(service, keeps_connection=number % 2 == 0) for number in range(4)]
    for visitor in visitors:
        visitor.start()
    assert eventually(lambda: len(set().union(*(one.pids for one in visitors))) == 2)
    old = set().union(*(one.pids for one in visitors))
    service.pids |= old
    serial = write_pair(service.certificate, service.key)

    service.hang_up()

    assert eventually(lambda: service.log.count(REPLACED) == 2), service.log
    assert eventually(lambda: service.serial() == serial)
    # The old processes end when their last connections have.
    assert eventually(lambda: not any(map(is_running, old)), within_s=120), service.log
    since = [visitor.answers for visitor in visitors]
    assert eventually(lambda: all(one.answers > before for one, before in zip(visitors, since, strict=True)))
    for visitor in visitors:
        visitor.is_done.set()
    for visitor in visitors:
        visitor.join()
        service.pids |= visitor.pids
    assert [one.failures for one in visitors] == [[], [], [], []]
    assert service.serial() == serial
    assert is_running(worker)
    assert [pid for pid in service.workers if is_running(pid)] == [worker]
    assert "error" not in service.log
    service.stop(signal.SIGTERM)
    assert service.process.returncode == 0, service.log


def test_a_connection_from_before_the_reload_is_served_and_asked_to_end(start: Callable[..., TlsService]) -> None:
    service = start()
    [old] = service.pids
    connection = service.connect()
    connection.request("GET", "/pid")
    assert int(connection.getresponse().read()) == old
    write_pair(service.certificate, service.key)

    service.hang_up()
    assert eventually(lambda: REPLACED in service.log), service.log

    def is_asked_to_leave() -> bool:
        connection.request("GET", "/pid")
        response = connection.getresponse()
        assert int(response.read()) == old
        return response.getheader("Connection") == "close"

    assert eventually(is_asked_to_leave)
    connection.close()
    service.pids.add(int(service.get("/pid")))
    assert len(service.pids) == 2


@pytest.mark.parametrize("key", ["EC", "RSA", "Ed25519"])
def test_keys_of_all_kinds_are_served_at_the_start_and_after_a_reload(
    start: Callable[..., TlsService], key: str
) -> None:
    service = start(key=new_key(key))
    assert service.serial() == service.first_serial
    serial = write_pair(service.certificate, service.key, new_key(key))

    service.hang_up()

    assert eventually(lambda: service.serial() == serial), service.log
    service.pids.add(int(service.get("/pid")))


def new_key(kind: str) -> Key:
    if kind == "RSA":
        return rsa.generate_private_key(65537, 2048)
    return ed25519.Ed25519PrivateKey.generate() if kind == "Ed25519" else ec.generate_private_key(ec.SECP256R1())


def spoil_key(service: TlsService) -> None:
    write_key(service.key, new_key("EC"))


def let_expire(service: TlsService) -> None:
    write_pair(service.certificate, service.key, valid_for=timedelta(days=-1))


def remove_key(service: TlsService) -> None:
    service.key.unlink()


def truncate(service: TlsService) -> None:
    service.certificate.write_text(service.certificate.read_text(encoding="ascii")[:100], encoding="ascii")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (spoil_key, "key values mismatch"),
        (let_expire, "certificate has expired"),
        (remove_key, "key.pem of TIDINGS_TLS_… cannot be read"),
        (truncate, "cannot be used together"),
    ],
)
def test_a_certificate_that_cannot_be_used_changes_nothing(
    start: Callable[..., TlsService], spoil: Callable[[TlsService], None], says: str
) -> None:
    service = start()
    [web] = service.pids
    spoil(service)

    service.hang_up()

    assert eventually(lambda: "certificate not reloaded, the old one stays" in service.log), service.log
    assert says in service.log
    assert (int(service.get("/pid")), service.serial()) == (web, service.first_serial)


def test_a_web_worker_that_is_restarted_has_the_certificate_that_was_checked(start: Callable[..., TlsService]) -> None:
    service = start()
    [web] = service.pids
    service.key.unlink()
    service.certificate.unlink()

    os.kill(web, signal.SIGKILL)

    def answers_again() -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            service.pids.add(int(service.get("/pid")))
        return len(service.pids) == 2

    assert eventually(answers_again), service.log
    assert service.serial() == service.first_serial


def test_an_expired_certificate_is_read_with_its_problem(tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate", tmp_path / "key"
    write_pair(certificate, key, valid_for=timedelta(days=-1))

    pair = certificates.read(certificate, key)

    with contextlib.closing(pair):
        assert (pair.problem, pair.expires_at) == ("certificate has expired", "")


def test_a_key_with_a_password_is_refused_without_asking_for_it(tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate", tmp_path / "key"
    write_pair(certificate, key)
    write_key(key, new_key("EC"), password=b"secret")

    with pytest.raises(StartError, match="the key has no password"):
        certificates.read(certificate, key)


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate", tmp_path / "key"
    write_pair(certificate, key)
    before = len(list(Path("/dev/fd").iterdir()))

    certificates.read(certificate, key).close()
    shutil.copy(tmp_path / "certificate", key)
    with pytest.raises(StartError):
        certificates.read(certificate, key)

    assert len(list(Path("/dev/fd").iterdir())) == before
