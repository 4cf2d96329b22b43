"""TCP connections for other protocols pass the same guard as requests."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from functools import partial

import pytest

from support.ports import free_port
from tidings.net.errors import AddressRefused, ConnectTimeout, HostUnreachable, TlsError
from tidings.net.guard import AddressGuard
from tidings.net.sockets import Dialer


def dialer(*answers: str, allows: bool = True) -> Dialer:
    async def lookup(_host: str) -> Sequence[str]:
        if not answers:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return answers

    return Dialer(AddressGuard(allow_private_networks=allows), lookup=lookup)


def addresses(made: Dialer, host: str = "mail.example.org", *, is_loopback_only: bool = False) -> list[str]:
    async def ask() -> list[str]:
        return [*await made.addresses(host, timeout_s=60, is_loopback_only=is_loopback_only)]

    return asyncio.run(ask())


def test_private_addresses_that_a_name_resolves_to_are_left_out() -> None:
    assert addresses(dialer("10.0.0.1", "93.184.215.14", "::1", allows=False)) == ["93.184.215.14"]
    with pytest.raises(AddressRefused, match="private or local network"):
        addresses(dialer("10.0.0.1", "169.254.169.254", allows=False))
    with pytest.raises(AddressRefused, match="private or local network"):
        addresses(dialer(allows=False), "127.0.0.1")


def test_the_socket_is_checked_again() -> None:
    # The answer of another lookup, which no caller should pass.
    with pytest.raises(AddressRefused):
        dialer(allows=False).connect("mail.example.org", 993, ["127.0.0.1"], has_tls=False, timeout_s=60)


def test_connections_to_this_machine_alone() -> None:
    assert addresses(dialer("192.168.1.1", "127.0.0.1"), is_loopback_only=True) == ["127.0.0.1"]
    with pytest.raises(AddressRefused, match="needs TLS"):
        addresses(dialer("192.168.1.1"), is_loopback_only=True)


def test_a_name_that_does_not_exist_is_told() -> None:
    with pytest.raises(HostUnreachable, match=r"no host named mail\.example\.org"):
        addresses(dialer())


def test_a_name_server_that_does_not_answer_is_told() -> None:
    async def lookup(_host: str) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    async def ask() -> None:
        await Dialer(AddressGuard(), lookup=lookup).addresses("mail.example.org", timeout_s=0.01)

    with pytest.raises(ConnectTimeout, match="name server"):
        asyncio.run(ask())


def test_the_next_address_is_tried() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        made = dialer().connect("mail.example.org", port, ["127.0.0.9", "127.0.0.1"], has_tls=False, timeout_s=60)
        with made:
            assert made.getpeername() == ("127.0.0.1", port)


def test_what_is_wrong_is_told() -> None:
    with pytest.raises(HostUnreachable, match=r"mail\.example\.org refuses the connection"):
        dialer().connect("mail.example.org", free_port(), ["127.0.0.1"], has_tls=False, timeout_s=60)
    with socket.create_server(("127.0.0.1", 0), backlog=1) as server:
        # It never speaks.
        connect = partial(dialer().connect, "mail.example.org", server.getsockname()[1], ["127.0.0.1"])
        with pytest.raises(ConnectTimeout):
            connect(has_tls=True, timeout_s=0.2)


def test_a_server_without_tls_is_told() -> None:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"* OK ready\r\n")
        writer.close()

    async def connect() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            await asyncio.to_thread(
                dialer().connect, "mail.example.org", port, ["127.0.0.1"], has_tls=True, timeout_s=60
            )

    with pytest.raises((TlsError, HostUnreachable), match=r"mail\.example\.org"):
        asyncio.run(connect())
