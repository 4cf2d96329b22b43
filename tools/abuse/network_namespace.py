"""A network namespace in which every address belongs to this machine and a name server of ours resolves every name.

    unshare (user, network, mounts) ─► loopback up, local routes for all of IPv4 and IPv6 ─► name server ─► attempts

A connection to 10.0.0.1 or to the metadata service of a cloud reaches our listener, which counts it, instead of
failing; a name can resolve to any address. Needs Linux with user namespaces, `unshare` (util-linux) and `ip`
(iproute2). Sources: unshare(1), ip-route(8), RFC 1035.
"""

from __future__ import annotations

import json
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from abuse.attempts import Attempt, Result
from abuse.testbed import Testbed, Theme

# Public addresses that stand for the publisher of the attacker.
PUBLIC_V4, PUBLIC_V6 = "45.33.32.10", "2600:3c00::10"
_A, _CNAME, _AAAA = 1, 5, 28


class NamespaceUnavailable(Exception):
    """The network namespace cannot be created on this machine. The message says why."""


def run_in_namespace(testbed: Testbed, module: str) -> Iterator[Result]:
    """Call `run_inside` of a theme's module in a process inside the namespace, and yield its results."""
    command = _command()
    arguments = json.dumps(
        {"module": module, "short": testbed.short, "settings": testbed.settings, "folder": str(testbed.folder)}
    )
    with subprocess.Popen(
        [*command, sys.executable, "-m", "abuse.network_namespace", arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            found = json.loads(line)
            yield Result(Attempt(**found.pop("attempt")), **found)
    if process.returncode:
        raise RuntimeError(f"the attempts in the network namespace ended with {process.returncode}")


def _command() -> list[str]:
    """Return the command that runs a program in new namespaces. Raises NamespaceUnavailable."""
    if not (shutil.which("unshare") and shutil.which("ip")):
        raise NamespaceUnavailable("needs the programs unshare (util-linux) and ip (iproute2)")
    command = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--fork", "--kill-child", "--"]
    probe = subprocess.run(
        [*command, "ip", "link", "set", "lo", "up"], capture_output=True, text=True, errors="replace", check=False
    )
    if probe.returncode:
        raise NamespaceUnavailable(f"needs user namespaces: {probe.stderr.strip()}")
    return command


def _set_up_namespace() -> None:
    """Set up addresses, routes and name resolution. Called inside the new namespaces."""
    for command in (
        "ip link set lo up",
        f"ip address add {PUBLIC_V4}/32 dev lo",
        f"ip -6 address add {PUBLIC_V6}/128 dev lo",
        "ip route add local 0.0.0.0/0 dev lo",
        "ip -6 route add local ::/0 dev lo",
    ):
        subprocess.run(command.split(), check=True)
    folder = Path(tempfile.mkdtemp(prefix="tidings-abuse-names-"))
    for name, content in {
        "resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
        "hosts": "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n10.0.0.7 intranet\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    }.items():
        if Path("/etc", name).exists():
            (folder / name).write_text(content)
            subprocess.run(["mount", "--bind", folder / name, Path("/etc", name)], check=True)
    _serve_names()


def _serve_names() -> None:
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))
    requested: Counter[tuple[str, int]] = Counter()

    def serve() -> None:
        while True:
            question, client = server.recvfrom(2048)
            server.sendto(_answer(question, requested), client)

    threading.Thread(target=serve, daemon=True).start()


def _answer(message: bytes, asked: Counter[tuple[str, int]]) -> bytes:
    """Return the DNS response to a message with one question (RFC 1035, section 4)."""
    labels, at = [], 12
    while message[at]:
        labels.append(message[at + 1 : at + 1 + message[at]].decode("latin-1"))
        at += 1 + message[at]
    (kind,) = struct.unpack("!H", message[at + 1 : at + 3])
    name = ".".join(labels).lower()
    asked[name, kind] += 1
    found = addresses(name, asked[name, kind])
    records = b"".join(_record(kind, address) for address in found)
    count = sum(bool(_record(kind, address)) for address in found)
    flags = 0x8180 if found else 0x8183  # NXDOMAIN for a name without addresses
    return message[:2] + struct.pack("!HHHHH", flags, 1, count, 0, 0) + message[12 : at + 5] + records


def _record(kind: int, address: IPv4Address | IPv6Address) -> bytes:
    """Return a resource record with a TTL of 0 s, so that each connection looks the name up again."""
    if kind != (_A if address.version == 4 else _AAAA):
        return b""
    return b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(address.packed)) + address.packed


def addresses(name: str, times: int) -> list[IPv4Address | IPv6Address]:
    """Return what a name resolves to. times: the number of this lookup of the name, from 1.

    public.test         our public addresses
    10-0-0-1.v4.test    10.0.0.1
    0--1.v6.test        0::1
    both-A.test         first public, then A, in one answer
    flip-A-….test       public at first, A from the second time on
    flop-A-….test       alternately A and public, A first
    """
    public: list[IPv4Address | IPv6Address] = [IPv4Address(PUBLIC_V4)]
    label, _, zone = name.partition(".")
    if zone == "v4.test":
        return [ip_address(label.replace("-", "."))]
    if zone == "v6.test":
        return [ip_address(label.replace("-", ":"))]
    kind, _, rest = label.partition("-")
    if zone == "test" and kind in ("both", "flip", "flop"):
        private = ip_address(".".join(rest.split("-")[:4]))
        if kind == "both":
            return [*public, private]
        return [private] if (times > 1 if kind == "flip" else times % 2) else public
    return public if zone == "test" and label.startswith("public") else []


def main(arguments: Sequence[str]) -> int:
    from importlib import import_module

    given = json.loads(arguments[0])
    _set_up_namespace()
    testbed = Testbed(short=given["short"], settings=given["settings"], folder=Path(given["folder"]))
    run_inside: Theme = import_module(given["module"]).run_inside
    try:
        for result in run_inside(testbed):
            print(json.dumps(asdict(result)), flush=True)
    finally:
        testbed.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
