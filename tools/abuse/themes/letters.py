"""Delivers hostile letters, by POST /mail and by LMTP as a mail server on the same machine would pass them on.

A bomb succeeds if it costs much time or memory, or if the service does not answer afterwards. Smuggling succeeds if one
letter becomes two: the end of data is CRLF.CRLF alone (RFC 5321, section 4.1.1.4), whatever looks like it.
"""

from __future__ import annotations

import base64
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

from abuse import client
from abuse.attempts import Attempt, Result
from abuse.client import HttpResponse
from abuse.people import Person, administrator
from abuse.service import Service, free_port
from abuse.testbed import Testbed

MAX_BYTES: Final = 10 * 2**20
# Of the processor, for one letter: the largest harmless one takes a third.
PROCESSOR_S: Final = 8.0
MEMORY_BYTES: Final = 500 * 2**20
PER_HOUR: Final = 300
TIMEOUT_S: Final = 120.0
LOOKS_LIKE_THE_END: Final = {
    "LF.LF": b"\n.\n", "CRLF.LF": b"\r\n.\n", "LF.CRLF": b"\n.\r\n", "CR.CR": b"\r.\r", "CRLF.CR": b"\r\n.\r",
    "CR.CRLF": b"\r.\r\n", "CRCRLF.CRCRLF": b"\r\r\n.\r\r\n", "NUL after the dot": b"\r\n.\0\r\n",
    "NUL before the dot": b"\r\n\0.\r\n", "two dots": b"\r\n..\r\n", "blank after the dot": b"\r\n. \r\n",
    "after a long line": b"x" * 65_536 + b".\r\n", "LF after a long line": b"x" * 65_535 + b"\n.\r\n",
}  # fmt: skip


def run(testbed: Testbed) -> Iterator[Result]:
    port = free_port()
    service = testbed.service(newsletters_lmtp=f"127.0.0.1:{port}", newsletters_address="l+{secret}@example.org")
    admin = administrator(service)
    secret = _address(admin)
    if _post(service, secret, _letter()).status != 200:
        raise RuntimeError("a letter cannot be delivered")
    yield from _bombs(testbed, service, secret)
    yield from _guesses(testbed, service, secret)
    yield _loop(service, secret)
    yield _flood(testbed, service, admin)
    yield from _smuggled(testbed, port, admin)
    yield from _commands(testbed, service, port, _address(admin))


def _address(admin: Person) -> str:
    made = admin.made("POST", "/v1/newsletters", {"name": f"n{secrets.token_hex(4)}"})
    return str(made["post_path"]).rpartition("/")[2]


def _post(service: Service, secret: str, raw: bytes, **headers: str) -> HttpResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.request(service, "POST", f"/mail/{secret}", headers=named, body=raw, timeout_s=TIMEOUT_S)


def _letter(*headers: str, body: bytes = b"Rain.") -> bytes:
    fixed = ["From: Mallory <m@evil.example>", f"Message-ID: <{secrets.token_hex(8)}@evil.example>", "Subject: Rain"]
    return "\r\n".join([*fixed, *headers, "", ""]).encode() + body


def _nested(depth: int) -> bytes:
    head = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n" for n in range(depth))
    return _letter(head.partition("\r\n")[0], body=head.partition("\r\n")[2].encode() + b"\r\nRain.")


def _bomb_letters() -> dict[str, tuple[str, bytes]]:
    """Return letters by name, with what each tries."""
    mixed = "Content-Type: multipart/mixed; boundary=b"
    html = "Content-Type: text/html"
    parts = b"".join(b"--b\r\nContent-Type: text/plain\r\n\r\nx\r\n" for _ in range(100_000))
    forwarded = b"--b\r\nContent-Type: message/rfc822\r\n\r\nFrom: a@b\r\n\r\nx\r\n" * 50_000
    return {
        "twenty nested parts": ("parts inside of parts, twenty times", _nested(20)),
        "deeply nested parts": ("parts inside of parts, 10,000 times", _nested(10_000)),
        "many parts": ("100,000 parts", _letter(mixed, body=parts)),
        "many messages": ("50,000 forwarded messages", _letter(mixed, body=forwarded)),
        "many headers": ("200,000 headers", _letter(*(f"X-{n}: y" for n in range(200_000)))),
        "a long header": ("one header of 9 MB", _letter("X-Long: " + "y" * 9_000_000)),
        "a folded header": ("a header of 400,000 lines", _letter("X-Long: y" + "\r\n y" * 400_000)),
        "many recipients": ("To with 300,000 addresses", _letter("To: " + ", ".join(["a@b.example"] * 300_000))),
        "encoded words": ("a subject of 100,000 encoded words", _letter("Subject: " + "=?utf-8?b?4oK=?= " * 100_000)),
        "many parameters": (
            "a name in 100,000 pieces",
            _letter("Content-Disposition: attachment; " + "; ".join(f"filename*{n}*=%FF" for n in range(100_000))),
        ),
        "comments": ("a sender of 1,000,000 brackets", _letter("From: " + "(" * 1_000_000 + " a@b.example")),
        "dates": ("a date of 1,000,000 digits", _letter("Date: Fri, " + "9" * 1_000_000)),
        "base64 without an end": ("9 MB of base64", _letter("Content-Transfer-Encoding: base64", body=b"QUFB" * 2_300_000)),
        "uuencode": ("9 MB of uuencode", _letter("Content-Transfer-Encoding: uuencode", body=b"begin 644 x\n" + b"M" * 9_000_000)),
        "open tags": ("a million open tags", _letter(html, body=b"<div>" * 1_000_000)),
        "open tables": ("500,000 tables inside of tables", _letter(html, body=b"<table><tr><td>" * 500_000)),
        "open comments": ("a million comments that do not end", _letter(html, body=b"<!--" * 1_000_000)),
        "open styles": ("styles without an end", _letter(html, body=b"<div style='" * 500_000)),
        "one picture often": (
            "a picture of 290 kB, named 100,000 times",
            _letter(
                "Content-Type: multipart/related; boundary=b",
                body=b"--b\r\nContent-Type: text/html\r\n\r\n" + b"<img src=cid:x>" * 100_000
                + b"\r\n--b\r\nContent-Type: image/png\r\nContent-ID: <x>\r\nContent-Transfer-Encoding: base64\r\n\r\n"
                + base64.b64encode(bytes(290_000)) + b"\r\n--b--\r\n",
            ),
        ),
        "links to confirm": ("100,000 links", _letter(html, body=b"<a href=https://evil.example/confirm>confirm</a>" * 100_000)),
        "text of links": ("9 MB of addresses", _letter(body=b"https://evil.example/ " * 400_000)),
    }  # fmt: skip


def _bombs(testbed: Testbed, service: Service, secret: str) -> Iterator[Result]:
    for name, (tries, raw) in testbed.choose(_bomb_letters().items(), 4):
        attempt = Attempt(f"bomb: {name}", f"delivers {tries}", "it takes much of the machine, or ends the service")
        processor = service.processor_s()
        try:
            status = _post(service, secret, raw[:MAX_BYTES]).status
        except OSError as error:
            yield Result(attempt, f"no answer: {error}")
            continue
        took, memory = service.processor_s() - processor, service.memory_bytes()
        problems = [
            f"status {status}" if status not in (200, 400, 413, 429) else "",
            f"{took:.1f} s of the processor" if took > PROCESSOR_S else "",
            f"{memory // 2**20} MiB of memory" if memory > 2 * MEMORY_BYTES else "",
            "" if _is_ready(service) else "the service does not answer",
        ]
        yield Result(attempt, ", ".join(filter(None, problems)))
    attempt = Attempt("a byte too many", "delivers 10 MiB and a byte", "it is stored")
    status = _post(service, secret, _letter(body=b"x" * (MAX_BYTES + 1))).status
    yield Result(attempt, "" if status == 413 else f"status {status}")
    attempt = Attempt("a packed letter", "says that a letter is packed by gzip", "it is unpacked")
    status = _post(service, secret, b"\x1f\x8b\x08" + bytes(100), Content_Encoding="gzip").status
    yield Result(attempt, "" if status in (200, 400, 415) else f"status {status}")


def _is_ready(service: Service) -> bool:
    try:
        return client.request(service, "GET", "/readyz", timeout_s=30).status == 200
    except OSError:
        return False


def _guesses(testbed: Testbed, service: Service, secret: str) -> Iterator[Result]:
    guesses = {
        "a part of it": secret[:-1], "something after it": secret + "a", "another letter": secret[:-1] + ("b" if secret[-1] == "a" else "a"),
        "a wildcard": "%25" * 32, "another wildcard": "_" * 32, "the number of its row": "1", "nothing": "",
        "a quote": "'%20OR%20'1'='1", "a folder above": "..%2F" + secret, "a NUL": secret + "%00",
        "letters that look alike": secret[:-1] + "%C3%A0",
    }  # fmt: skip
    unknown = _post(service, "a" * 32, _letter())
    for name, guess in testbed.choose(guesses.items(), 3):
        attempt = Attempt(f"guessed secret: {name}", "delivers to a secret that is nearly right", "it is delivered")
        answer = _post(service, guess, _letter())
        yield Result(attempt, f"status {answer.status}" if answer.status < 300 else "")
    attempt = Attempt("deleted secret", "compares a deleted address with one that never was", "they differ")
    admin = administrator(service)
    made = admin.made("POST", "/v1/newsletters", {"name": "gone"})
    admin.made("DELETE", f"/v1/newsletters/{made['id']}")
    gone = _post(service, str(made["post_path"]).rpartition("/")[2], _letter())
    yield Result(attempt, "" if (gone.status, gone.body) == (unknown.status, unknown.body) else f"{gone.text}")


def _loop(service: Service, secret: str) -> Result:
    attempt = Attempt("loop", "delivers one automatic reply 20 times", "it is stored again")
    raw = _letter("Auto-Submitted: auto-replied", "X-Loop: reader@example.org", "Precedence: bulk")
    results = [_post(service, secret, raw).json()["result"] for _ in range(20)]
    return Result(attempt, f"{results}" if results != ["stored"] + ["repeated"] * 19 else "")


def _flood(testbed: Testbed, service: Service, admin: Person) -> Result:
    attempt = Attempt(
        "flood", "delivers more than 300 letters in an hour", "they are taken, or another address is closed"
    )
    if testbed.short:
        return Result(attempt, not_tried="only in the long form")
    flooded, other = _address(admin), _address(admin)
    statuses = [_post(service, flooded, _letter()).status for _ in range(PER_HOUR + 5)]
    taken, open_ = statuses.count(200), _post(service, other, _letter()).status
    # The hour may end in between.
    return Result(attempt, f"{taken} taken, the other {open_}" if taken > 2 * PER_HOUR or open_ != 200 else "")


class Lmtp:
    """A connection of a mail server that sends whatever it is given."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self.replies = self.socket.makefile("rb")
        self.reply()

    def reply(self) -> bytes:
        """Return the last line of a reply; b"" at the end of the connection."""
        line = self.replies.readline()
        while line[3:4] == b"-":
            line = self.replies.readline()
        return line

    def say(self, *commands: bytes) -> list[bytes]:
        """Send commands at once, and return the reply to each."""
        self.socket.sendall(b"".join(command + b"\r\n" for command in commands))
        return [self.reply() for _ in commands]

    def close(self) -> None:
        self.replies.close()
        self.socket.close()


def _recipient(secret: str) -> bytes:
    return b"RCPT TO:<l+" + secret.encode() + b"@example.org>"


def _smuggled(testbed: Testbed, port: int, admin: Person) -> Iterator[Result]:
    for name, looks in testbed.choose(LOOKS_LIKE_THE_END.items(), 4):
        attempt = Attempt(f"smuggled letter: {name}", "hides a second letter in a first one", "two letters arrive")
        first, second = _address(admin), _address(admin)
        hidden = [
            b"MAIL FROM:<boss@bank.example>",
            _recipient(second),
            b"DATA",
            b"From: boss@bank.example",
            b"",
            b"Pay.",
        ]
        session = Lmtp(port)
        session.say(b"LHLO evil.example", b"MAIL FROM:<m@evil.example>", _recipient(first), b"DATA")
        session.socket.sendall(_letter() + looks + b"\r\n".join(hidden) + b"\r\n.\r\n")
        session.reply()
        # What was smuggled has its replies before this one.
        noop = session.say(b"NOOP smuggled")[0]
        session.close()
        counts = {one["post_path"].rpartition("/")[2]: one["letters"] for one in admin.made("GET", "/v1/newsletters")}
        stored = (counts[first], counts[second])
        yield Result(attempt, "" if stored == (1, 0) and noop.startswith(b"250") else f"{stored} letters, {noop!r}")


def _commands(testbed: Testbed, service: Service, port: int, secret: str) -> Iterator[Result]:
    begin = (b"LHLO evil.example", b"MAIL FROM:<m@evil.example>")
    floods: Mapping[str, tuple[str, bytes]] = {
        "commands at once": ("100,000 commands before the first reply is read", b"NOOP\r\n" * 100_000),
        "a command without an end": ("one command of 5 MB", b"RCPT TO:<" + b"a" * 5_000_000),
        "NULs": ("a megabyte of NUL", bytes(1_000_000)),
        "unknown commands": ("50,000 commands that do not exist", b"EVIL\r\n" * 50_000),
        "recipients that do not exist": ("20,000 guessed recipients", b"\r\n".join([*begin, *[_recipient("a" * 32)] * 20_000, b""])),
    }  # fmt: skip
    for name, (tries, sent) in testbed.choose(floods.items(), 2):
        attempt = Attempt(f"flood: {name}", f"sends {tries}", "another mail server is not served")
        session = Lmtp(port)
        session.socket.settimeout(5)
        # It may be closed, or take no more until replies are read.
        with suppress(OSError):
            session.socket.sendall(sent)
        reply = _delivered(port, secret)
        session.close()
        yield Result(attempt, "" if reply.startswith(b"250") and _is_ready(service) else f"{reply!r}")
    attempt = Attempt("idle connections", "opens 200 connections and says nothing", "another mail server is not served")
    idle = [socket.create_connection(("127.0.0.1", port), 60) for _ in range(200)]
    reply = _delivered(port, secret)
    for one in idle:
        one.close()
    yield Result(attempt, "" if reply.startswith(b"250") else f"{reply!r}")
    attempt = Attempt(
        "recipients that exist", "asks by VRFY and EXPN", "known and unknown secrets have different replies"
    )
    session = Lmtp(port)
    told = {
        known: session.say(*(command + b" l+" + known + b"@example.org" for command in (b"VRFY", b"EXPN")))
        for known in (secret.encode(), b"a" * 32)
    }
    session.close()
    shown = {known: [reply.replace(known, b"") for reply in replies] for known, replies in told.items()}
    yield Result(attempt, f"{told}" if len({tuple(one) for one in shown.values()}) > 1 else "")
    attempt = Attempt("a byte too many by LMTP", "delivers 10 MiB and a byte", "it is stored")
    reply = _delivered(port, secret, b"x" * 900 + b"\r\n", times=MAX_BYTES // 902 + 2)
    yield Result(attempt, "" if reply.startswith(b"552") else f"{reply!r}")


def _delivered(port: int, secret: str, line: bytes = b"Rain.\r\n", *, times: int = 1) -> bytes:
    """Deliver a letter in a session of its own. Returns the reply."""
    session = Lmtp(port)
    try:
        session.say(b"LHLO mail.example", b"MAIL FROM:<a@mail.example>", _recipient(secret), b"DATA")
        session.socket.sendall(_letter() + line * times + b".\r\n")
        return session.reply()
    except OSError as error:
        return str(error).encode()
    finally:
        session.close()
