"""The child process that runs Apprise: users enter service URLs, and about a hundred plugins act on them.

    parent ── length, request ──► stdin │ Apprise │ stdout ── length, report ──► parent

Before it reads the first request it enters a sandbox: an audit hook of Python (PEP 578) sees every connection, file and
process that any library asks for, and permits only what `Sandbox` allows. The process ends when its stdin ends.
`deliveries.apprise` starts it, kills it when it takes too long, and starts another.
"""

from __future__ import annotations

import logging
import mimetypes
import os
import re
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

from tidings.base.ipc import framed, read_message
from tidings.base.messages import Message, msg, verbatim
from tidings.deliveries.notification_text import AppriseReport, AppriseRequest, UrlProblem
from tidings.net.guard import AddressGuard
from tidings.runtime.limited_process import limit_resources

MAX_MEMORY_BYTES = 768 * 2**20
# It sends mail through sockets, which the sandbox checks like the connections of the others.
NON_HTTP_PLUGINS = frozenset({"NotifyEmail"})
# They work only with files of this machine, whose names their address has.
FILE_PLUGINS = frozenset({"NotifyVapid"})
# How the warnings of Apprise's plugins begin when `requests` or a socket fails.
_NO_CONNECTION = re.compile("connection error", re.IGNORECASE)


class AccessDenied(PermissionError):
    """The sandbox denied an operation. It is an OSError because libraries handle errors of sockets and files."""


class Sandbox:
    """Restricts what this process may do. It cannot be lifted once it is active.

    denied_connections, denied_operations: what was denied, as messages for the user.
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
            raise self._refusal(msg("It tried to do something on this machine ({event}).", event=event))

    def _check_address(self, address: Any) -> None:
        if address is None:  # the socket is connected already
            return
        host = address[0] if isinstance(address, tuple) else None
        # A host name is denied too: the library would resolve it without the guard.
        if not isinstance(host, str) or not self._guard.allows(host):
            # The message lacks the address that the name resolves to: the network of the operator stays private.
            self.denied_connections.append(self._guard.refusal("It").text)
            raise AccessDenied(self.denied_connections[-1].english())

    def _check_file(self, path: Any, mode: Any, flags: Any) -> None:
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        if writes or (isinstance(mode, str) and set(mode) & set("wax+")):
            raise self._refusal(msg("It tried to write a file on this machine."))
        self._check_path(path)

    def _check_path(self, path: Any) -> None:
        if isinstance(path, int):
            return
        resolved = Path(os.fsdecode(path or ".")).resolve()
        if not any(resolved.is_relative_to(allowed) for allowed in self._readable):
            raise self._refusal(msg("It tried to read a file on this machine."))

    def _refusal(self, reason: Message) -> AccessDenied:
        self.denied_operations.append(reason)
        return AccessDenied(reason.english())


class _FirstWarning(logging.Handler):
    """Keeps the first warning that Apprise logs about a failed message: it is the most useful one."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.message: Message | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self.message = self.message or verbatim(record.getMessage()[:200])


class AppriseRunner:
    """Executes requests with Apprise, in the sandbox."""

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
        self._first_warning = _FirstWarning()
        logger = logging.getLogger("apprise")
        logger.addHandler(self._first_warning)
        logger.propagate = False

    def run(self, request: AppriseRequest) -> AppriseReport:
        """Try every URL, even if others fail. Returns the problems."""
        results = (self._notify(number, url, request) for number, url in enumerate(request.urls, 1))
        return AppriseReport([problem for problem in results if problem is not None])

    def _notify(self, number: int, url: str, request: AppriseRequest) -> UrlProblem | None:
        self._first_warning.message = None
        self._sandbox.denied_connections.clear()
        self._sandbox.denied_operations.clear()
        scheme = url.partition("://")[0].lower() if "://" in url else ""
        service = self._service(url)
        if service is None:
            return UrlProblem(number, scheme, self._unusable_reason(scheme), is_url_invalid=True)
        if host := self._forbidden_host(service):
            return UrlProblem(number, scheme, self._guard.refusal(host).text, is_url_invalid=True)
        if request.only_check or self._sent(service, request):
            return None
        reasons = (
            *self._sandbox.denied_connections,
            self._first_warning.message,
            *self._sandbox.denied_operations,
            msg("It did not get through."),
        )
        reason = next(reason for reason in reasons if reason is not None)
        is_unreachable = bool(self._sandbox.denied_connections or _NO_CONNECTION.search(reason.english()))
        return UrlProblem(number, scheme, reason, is_unreachable=is_unreachable)

    def _service(self, url: str) -> NotifyBase | None:
        try:
            service = apprise.Apprise.instantiate(url, asset=self._asset)
        except Exception:  # noqa: BLE001 - a plugin that fails on a URL cannot use it
            return None
        return service if service is not None and is_remote(type(service)) else None

    def _sent(self, service: NotifyBase, request: AppriseRequest) -> bool:
        body = f"{request.text}\n{request.url}" if request.url else request.text
        try:
            return bool(service.notify(body=body, title=request.title))
        except Exception as error:  # noqa: BLE001 - a failing plugin must not stop the others
            self._first_warning.message = self._first_warning.message or _plugin_failed(error)
            return False

    def _forbidden_host(self, service: NotifyBase) -> str:
        """Return the host if the guard refuses it without a DNS lookup, else "". In some URLs the host is a token."""
        host = str(getattr(service, "host", "") or "").strip("[]")
        return "" if not host or self._guard.allows_through_proxy(host) else host

    def _unusable_reason(self, scheme: str) -> Message:
        plugin = next((candidate for candidate in plugins() if scheme in schemes(candidate)), None)
        if plugin is None:
            return msg("Apprise does not know this service.")
        if not is_remote(plugin):
            return msg("This kind of service is not allowed here, or needs a library that is not installed.")
        return msg("Apprise does not understand this address: something is missing in it.")


def _plugin_failed(error: Exception) -> Message:
    return msg("The plugin failed ({name}).", name=type(error).__name__)


def plugins() -> Iterable[type[NotifyBase]]:
    """Return the plugins of all services that Apprise supports, whether they can be used here or not."""
    manager: Any = NotificationManager
    known: Iterable[type[NotifyBase]] = manager().plugins()
    return known


def schemes(plugin: type[NotifyBase]) -> list[str]:
    """Return the schemes of the plugin's URLs."""
    declared: list[Any] = [plugin.protocol, plugin.secure_protocol]
    return [name for names in declared for name in ([names] if isinstance(names, str) else names or ())]


def is_remote(plugin: type[NotifyBase]) -> bool:
    """Return whether a plugin is Apprise's own and usable, needs no files, and sends by HTTP or mail."""
    package = ".".join(plugin.__module__.split(".")[:3])
    if not package.startswith("apprise.plugins.") or not plugin.enabled or plugin.__name__ in FILE_PLUGINS:
        return False
    if plugin.__name__ in NON_HTTP_PLUGINS:
        return True
    parts = [module for name, module in sys.modules.items() if name == package or name.startswith(f"{package}.")]
    return any(hasattr(part, "requests") for part in parts)


def readable_paths() -> list[str]:
    """Return the paths of modules that may still be imported, and of time zones.

    Certificate authorities are not among them: OpenSSL reads these without Python, so the hook does not see it.
    """
    paths = sysconfig.get_paths()
    return [paths["stdlib"], paths["platstdlib"], *sys.path, *zoneinfo.TZPATH]


def serve(requests: BinaryIO, reports: BinaryIO, runner: AppriseRunner) -> None:
    """Answer requests until the pipe ends."""
    decoder = msgspec.msgpack.Decoder(AppriseRequest)
    while message := read_message(requests):
        request = decoder.decode(message)
        report = msgspec.msgpack.encode(runner.run(request))
        reports.write(framed(report))
        reports.flush()


def main() -> None:
    """Command-line arguments: whether private networks may be reached (1 or 0), and the setting that allows it."""
    guard = AddressGuard(allow_private_networks=sys.argv[1] == "1", setting=sys.argv[2])
    logging.getLogger().addHandler(logging.NullHandler())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes the pipe
    limit_resources({resource.RLIMIT_CORE: 0, resource.RLIMIT_AS: MAX_MEMORY_BYTES})
    # Read files now that the sandbox would deny later.
    sys.dont_write_bytecode = True
    mimetypes.init()
    apprise.Apprise.instantiate("json://example.org")
    sandbox = Sandbox(guard, readable_paths())
    runner = AppriseRunner(guard, sandbox)
    sys.addaudithook(sandbox)
    serve(sys.stdin.buffer, sys.stdout.buffer, runner)


if __name__ == "__main__":
    main()
