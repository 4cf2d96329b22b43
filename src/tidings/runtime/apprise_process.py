"""The process in which Apprise runs: its users write addresses, and a hundred plugins do with them as they please.

    its parent ── length, errand ──► stdin │ Apprise │ stdout ── length, report ──► its parent

Before it hears of the first address it seals itself: an audit hook of Python (PEP 578) sees every connection, file and
process that anything here asks for, whichever library does it, and lets pass only what `Seal` allows. It lives until
its stdin ends; `services.deliveries.apprise` starts it, kills it when it takes too long, and starts another.
"""

from __future__ import annotations

import contextlib
import logging
import mimetypes
import os
import resource
import signal
import sys
import sysconfig
import zoneinfo
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import apprise
import msgspec
from apprise.common import PersistentStoreMode
from apprise.manager_plugins import NotificationManager
from apprise.plugins.base import NotifyBase

from tidings.domain.integrations.notification_text import AppriseReport, AppriseRequest, UrlProblem
from tidings.domain.ipc import LENGTH_BYTES
from tidings.domain.messages import Message, msg, verbatim
from tidings.net.guard import AddressGuard

MAX_MEMORY_BYTES = 768 * 2**20
# Speaks to mail servers, over sockets like the others.
NON_HTTP_PLUGINS = frozenset({"NotifyEmail"})


class AccessDenied(PermissionError):
    """An OSError: libraries expect such from sockets and files."""


class Sandbox:
    """Restricts what this process may do. It cannot be lifted once it is active.

    denied_connections: messages about denied connections, for the user.
    """

    _PROCESSES = (
        "subprocess.",
        "os.exec",
        "os.fork",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.system",
        "pty.",
    )
    _CHANGES = (
        *("os.chmod", "os.chown", "os.link", "os.mkdir", "os.putenv", "os.remove", "os.rename", "os.rmdir"),
        *("os.symlink", "os.truncate", "os.utime", "shutil.", "tempfile."),
        *("ctypes.", "ftplib.", "socket.bind", "socket.sethostname", "sqlite3.", "syslog.", "webbrowser."),
    )
    _LISTINGS = ("os.listdir", "os.scandir")
    _SENDING = ("socket.connect", "socket.sendto", "socket.sendmsg")

    def __init__(self, guard: AddressGuard, readable: Iterable[str]) -> None:
        self._guard = guard
        self._readable = [Path(path).resolve() for path in readable if path]
        self.denied_connections: list[Message] = []
        self.denied_operations: list[Message] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in self._SENDING:
            self._check_address(arguments[1])
        elif event == "open":
            self._check_file(*arguments[:3])
        elif event in self._LISTINGS:
            self._check_path(arguments[0])
        elif event.startswith((*self._PROCESSES, *self._CHANGES)):
            raise self._refusal(msg("It wanted to do something on this machine ({event}).", event=event))

    def _check_address(self, address: Any) -> None:
        if address is None:  # of a socket that is connected already
            return
        host = address[0] if isinstance(address, tuple) else None
        # The library would resolve a name without the guard.
        if not isinstance(host, str) or not self._guard.allows(host):
            # Without the address that the name resolves to: the network of the operator stays private.
            self.denied_connections.append(self._guard.refusal("It").text)
            raise AccessDenied(self.denied_connections[-1].english())

    def _check_file(self, path: Any, mode: Any, flags: Any) -> None:
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        if writes or (isinstance(mode, str) and set(mode) & set("wax+")):
            raise self._refusal(msg("It wanted to write a file on this machine."))
        self._check_path(path)

    def _check_path(self, path: Any) -> None:
        if isinstance(path, int):
            return
        wanted = Path(os.fsdecode(path or ".")).resolve()
        if not any(wanted.is_relative_to(allowed) for allowed in self._readable):
            raise self._refusal(msg("It wanted to read a file on this machine."))

    def _refusal(self, reason: Message) -> AccessDenied:
        self.denied_operations.append(reason)
        return AccessDenied(reason.english())


class _Complaints(logging.Handler):
    """What Apprise says of a message that did not get through: the first line of it is the best."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.first: Message | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self.first = self.first or verbatim(record.getMessage()[:200])


class AppriseRunner:
    def __init__(self, guard: AddressGuard, sandbox: Sandbox) -> None:
        self._guard = guard
        self._sandbox = sandbox
        self._asset = apprise.AppriseAsset(
            storage_mode=PersistentStoreMode.MEMORY,
            secure_logging=True,
            async_mode=False,
            app_id="Tidings",
            app_desc="Tidings",
            app_url="",
        )
        self._complaints = _Complaints()
        logger = logging.getLogger("apprise")
        logger.addHandler(self._complaints)
        logger.propagate = False

    def run(self, errand: AppriseRequest) -> AppriseReport:
        """Every address is tried, whatever becomes of the others."""
        found = (self._one(number, url, errand) for number, url in enumerate(errand.urls, 1))
        return AppriseReport([problem for problem in found if problem is not None])

    def _one(self, number: int, url: str, errand: AppriseRequest) -> UrlProblem | None:
        self._complaints.first = None
        self._sandbox.denied_connections.clear()
        self._sandbox.denied_operations.clear()
        scheme = url.partition("://")[0].lower() if "://" in url else ""
        service = self._service(url)
        if service is None:
            return UrlProblem(number, scheme, self._why_not(scheme), is_about_address=True)
        if host := self._forbidden_host(service):
            return UrlProblem(number, scheme, self._guard.refusal(host).text, is_about_address=True)
        if errand.only_check or self._sent(service, errand):
            return None
        reasons = (
            *self._sandbox.denied_connections,
            self._complaints.first,
            *self._sandbox.denied_operations,
            msg("It did not get through."),
        )
        return UrlProblem(number, scheme, next(reason for reason in reasons if reason is not None))

    def _service(self, url: str) -> NotifyBase | None:
        try:
            service = apprise.Apprise.instantiate(url, asset=self._asset)
        except Exception:  # noqa: BLE001 - a plugin that stumbles over an address does not understand it
            return None
        return service if service is not None and is_remote(type(service)) else None

    def _sent(self, service: NotifyBase, errand: AppriseRequest) -> bool:
        body = f"{errand.text}\n{errand.url}" if errand.url else errand.text
        try:
            return bool(service.notify(body=body, title=errand.title))
        except Exception as error:  # noqa: BLE001 - one plugin must not take the others with it
            self._complaints.first = self._complaints.first or _plugin_failed(error)
            return False

    def _forbidden_host(self, service: NotifyBase) -> str:
        """What can be said without looking a name up. In some addresses a token stands there: it is no address then."""
        host = str(getattr(service, "host", "") or "").strip("[]")
        return "" if not host or self._guard.allows_through_proxy(host) else host

    def _why_not(self, scheme: str) -> Message:
        plugin = next((one for one in plugins() if scheme in schemes(one)), None)
        if plugin is None:
            return msg("Apprise knows no such service.")
        if not is_remote(plugin):
            return msg("This kind of service is not allowed here, or needs a library that is not installed.")
        return msg("Apprise does not understand this address: something is missing in it.")


def _plugin_failed(error: Exception) -> Message:
    return msg("The plugin failed ({name}).", name=type(error).__name__)


def plugins() -> Iterable[type[NotifyBase]]:
    """Every service that Apprise knows, whether it can be used here or not."""
    manager: Any = NotificationManager
    found: Iterable[type[NotifyBase]] = manager().plugins()
    return found


def schemes(plugin: type[NotifyBase]) -> list[str]:
    """How its addresses begin."""
    named: list[Any] = [plugin.protocol, plugin.secure_protocol]
    return [one for names in named for one in ([names] if isinstance(names, str) else names or ())]


def is_remote(plugin: type[NotifyBase]) -> bool:
    """One of Apprise's own that works here, and speaks to others by HTTP, or mail: not to this machine's desktop."""
    home = ".".join(plugin.__module__.split(".")[:3])
    if not home.startswith("apprise.plugins.") or not plugin.enabled:
        return False
    if plugin.__name__ in NON_HTTP_PLUGINS:
        return True
    parts = [module for name, module in sys.modules.items() if name == home or name.startswith(f"{home}.")]
    return any(hasattr(part, "requests") for part in parts)


def readable_paths() -> list[str]:
    """Where Python keeps what it still may have to import, and time zones. OpenSSL reads its authorities by itself."""
    paths = sysconfig.get_paths()
    return [paths["stdlib"], paths["platstdlib"], *sys.path, *zoneinfo.TZPATH]


def serve(errands: BinaryIO, reports: BinaryIO, notifier: AppriseRunner) -> None:
    decoder = msgspec.msgpack.Decoder(AppriseRequest)
    while length := errands.read(LENGTH_BYTES):
        errand = decoder.decode(errands.read(int.from_bytes(length)))
        report = msgspec.msgpack.encode(notifier.run(errand))
        reports.write(len(report).to_bytes(LENGTH_BYTES) + report)
        reports.flush()


def main() -> None:
    """Arguments: whether private networks may be reached (1 or 0), and the setting that says so."""
    guard = AddressGuard(allow_private_networks=sys.argv[1] == "1", setting=sys.argv[2])
    logging.getLogger().addHandler(logging.NullHandler())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which tells us by closing the pipe
    for what, amount in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, MAX_MEMORY_BYTES)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (amount, amount))
    # What would be read later is read now.
    sys.dont_write_bytecode = True
    mimetypes.init()
    apprise.Apprise.instantiate("json://example.org")
    sandbox = Sandbox(guard, readable_paths())
    notifier = AppriseRunner(guard, sandbox)
    sys.addaudithook(sandbox)
    serve(sys.stdin.buffer, sys.stdout.buffer, notifier)


if __name__ == "__main__":
    main()
