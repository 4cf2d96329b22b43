"""TCP connections behind the address guard, for protocols other than HTTP.

    host ── lookup ── addresses ── keep the allowed ones ── socket ── check again ── connect ── TLS

The address that was checked is the one that is connected to: names are resolved once, and the socket gets an address.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Final

from tidings.base.errors import LocalShortage
from tidings.base.messages import Message, msg
from tidings.base.shortages import is_shortage
from tidings.net.connections import REASONS, tls_reason
from tidings.net.errors import AddressRefused, ConnectTimeout, HostUnreachable, TlsError
from tidings.net.guard import AddressGuard, GuardedResolver, Lookup, SystemLookup

_MAX_ADDRESSES: Final = 4
_TRUST: Final = msg("Its certificate has to be valid for this name.")


class Dialer:
    """Connects to servers, in one event loop. lookup: resolves names; by default as the operating system does."""

    def __init__(self, guard: AddressGuard, *, lookup: Lookup | None = None) -> None:
        self._guard = guard
        self._system_lookup = SystemLookup(4)
        self._resolver = GuardedResolver(guard, lookup or self._system_lookup)
        self._tls: ssl.SSLContext | None = None

    def close(self) -> None:
        self._system_lookup.close()

    async def addresses(self, host: str, *, timeout_s: float, is_loopback_only: bool = False) -> Sequence[str]:
        """Return the addresses of a host to which connections are allowed.

        is_loopback_only: addresses of this machine alone. Raises AddressRefused, HostUnreachable and ConnectTimeout.
        """
        try:
            async with asyncio.timeout(timeout_s):
                found = await self._resolver.addresses(host)
        except TimeoutError as error:
            raise ConnectTimeout(msg("The name server of {host} does not answer.", host=host)) from error
        except OSError as error:
            raise HostUnreachable(
                msg("There is no host named {host}, or its name server does not answer.", host=host)
            ) from error
        if is_loopback_only and not (found := [one for one in found if ip_address(one).is_loopback]):
            raise AddressRefused(msg("{host} is not this machine: a connection to it needs TLS.", host=host))
        return found[:_MAX_ADDRESSES]

    def connect(
        self, host: str, port: int, addresses: Sequence[str], *, has_tls: bool, timeout_s: float
    ) -> socket.socket:
        """Return a connection to the first of these addresses that accepts it. It blocks: call it in a thread.

        addresses: the result of `addresses`. host: the name that the certificate has to have. timeout_s: for each step,
        and afterwards for each operation on the socket.
        Raises AddressRefused, HostUnreachable, ConnectTimeout and TlsError.
        """
        last: Exception = HostUnreachable(_sentence(REASONS[errno.EHOSTUNREACH], host))
        for address in addresses:
            try:
                return self._connect(host, port, address, has_tls=has_tls, timeout_s=timeout_s)
            except (HostUnreachable, ConnectTimeout) as error:
                last = error
        raise last

    def secure(self, connection: socket.socket, host: str) -> socket.socket:
        """Return a connection with TLS over one without, which is closed if that fails. It blocks.

        host: the name that the certificate has to have. Raises HostUnreachable, ConnectTimeout and TlsError.
        """
        try:
            return self._verifying().wrap_socket(connection, server_hostname=host)
        except OSError as error:
            connection.close()
            raise _translated(error, host) from error

    def _connect(self, host: str, port: int, address: str, *, has_tls: bool, timeout_s: float) -> socket.socket:
        (info, *_) = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        made: socket.socket | None = None
        try:
            made = self._guard.open_socket(info)
            made.settimeout(timeout_s)
            made.connect(info[4])
            return self._verifying().wrap_socket(made, server_hostname=host) if has_tls else made
        except BaseException as error:
            if made is not None:
                made.close()
            if isinstance(error, OSError):
                raise _translated(error, host) from error
            raise

    def _verifying(self) -> ssl.SSLContext:
        # Loading the certificate authorities takes time.
        self._tls = self._tls or ssl.create_default_context()
        return self._tls


def _translated(error: OSError, host: str) -> Exception:
    if is_shortage(error):
        return LocalShortage()
    if isinstance(error, TimeoutError):
        return ConnectTimeout(msg("Connecting to {host} took too long.", host=host))
    if isinstance(error, ssl.SSLError | ssl.CertificateError):
        failure = msg("The secure connection to {host} failed: {reason}.", host=host, reason=tls_reason(error))
        return TlsError(failure, hint=_TRUST)
    return HostUnreachable(_sentence(REASONS.get(error.errno or 0, REASONS[errno.EHOSTUNREACH]), host))


def _sentence(reason: Message, host: str) -> Message:
    return msg("{problem}. Check the host and the port.", problem=reason.with_values(host=host))
