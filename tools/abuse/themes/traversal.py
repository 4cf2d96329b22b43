"""Requests paths outside of the folder of static files, and invalid ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

from abuse import client, pages
from abuse.attempts import Attempt, Result
from abuse.owned_resources import example
from abuse.people import administrator, person
from abuse.testbed import Testbed

READ = "a file from outside is answered, or an answer 500"
TAKEN = "an answer 2xx, or an answer 500"
UP = (
    "../",
    "..%2f",
    "%2e%2e/",
    "%2e%2e%2f",
    "..\\",
    "..%5c",
    "%252e%252e%252f",
    "..;/",
    "....//",
    "..%c0%af",
    "%c0%ae%c0%ae/",
    "..%00/",
    ".%2e/",
    "%uff0e%uff0e/",
    "..//",
    "/../",
    "..%0d/",
)
TARGETS = ("etc/passwd", "etc/passwd%00.css", "proc/self/environ", "etc/passwd?x.css")
OWN = (
    "app.py",
    "routes.py",
    "templates/sign_in.html",
    "__init__.py",
    "locale/de.po",
    "../cli.py",
    "../settings/options.py",
)
IDS = (
    "0", "-1", "1.0", "1e3", "0x1", "+1", " 1", "1 ", "01", "1'", "1 or 1=1", "1;select 1", "1--", "../1", "..", ".", "%00", "1%00", "1%0a",
    "9223372036854775808", "18446744073709551616", "9" * 400, "١", "１", "²", "null", "true", "[]", "{}", "NaN", "Infinity", "a", "%", "%25", "*", "1,2", "1/",
)  # fmt: skip


def run(testbed: Testbed) -> Iterator[Result]:
    yield from _files(testbed)
    yield from _ids(testbed)


def _files(testbed: Testbed) -> Iterator[Result]:
    """Try the paths below every folder from which pages load files."""
    html = client.request(testbed.shared, "GET", "/sign-in").text
    folders = {link.rpartition("/")[0] for link in pages.links(html) if "." in link.rpartition("/")[2]}
    folders |= {match.rpartition("/")[0] for match in re.findall(r'src="(/[^"]+)"', html)}
    folders |= {"", "/icons", "/docs", "/v1", "/static"}
    paths = [f"{folder}/{up * 10}{target}" for folder in sorted(folders) for up in UP for target in TARGETS]
    paths += [f"{folder}/{name}" for folder in sorted(folders) for name in OWN]
    paths += [f"{folder}/{up}{name}" for folder in sorted(folders) for up in UP for name in OWN[:4]]
    paths += [
        f"{folder}{target}"
        for folder in sorted(folders)
        for target in ("//etc/passwd", "/%2fetc/passwd", "/file:///etc/passwd")
    ]
    for path in testbed.choose(paths, 60):
        received = client.raw(testbed.shared, f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        body = received.partition(b"\r\n\r\n")[2]
        signs = (b"root:x:", b"TIDINGS_", b"from __future__", b"import annotations", b"{% ", b"msgid ")
        trouble = [sign.decode() for sign in signs if sign in body] or ["500"] * received.startswith(b"HTTP/1.1 500")
        yield Result(Attempt(f"file {path}", "a path out of the folder", READ), ", ".join(trouble))


def _ids(testbed: Testbed) -> Iterator[Result]:
    document = client.request(testbed.shared, "GET", "/v1/openapi.json").json()
    user, head = person(testbed.shared), administrator(testbed.shared)
    operations = [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if "_id}" in path and method in ("get", "post", "put", "delete")
    ]
    for method, path, operation in testbed.choose(operations, 4):
        for number in testbed.choose(IDS, 8):
            address = re.sub(r"\{\w+\}", lambda match: number if "%" in number else quote(number, safe=""), path)  # noqa: B023
            who = head if path.startswith("/v1/users") else user
            answer = who.api(method, address, example(operation))
            # A list of something that does not exist may be empty.
            is_empty = answer.status == 200 and '"total":0' in answer.text
            through = answer.status >= 500 or (answer.status < 300 and not is_empty)
            yield Result(
                Attempt(f"id {number[:30]!r}: {method} {path}", "an id that is none", TAKEN),
                f"{answer.status} {answer.text[:150]}" if through else "",
            )
    for path in testbed.choose(
        (
            "/feeds/%s",
            "/categories/%s",
            "/entries/%s",
            "/unread/%s",
            "/feeds/%s/edit",
            "/icons/%s",
            "/share/%s",
            "/lists/%s/unread",
        ),
        3,
    ):
        user.cookies or user.sign_in()
        for number in testbed.choose(IDS, 8):
            answer = user.get(path % (number if "%" in number else quote(number, safe="")))
            through = answer.status >= 500
            yield Result(
                Attempt(f"page id {number[:30]!r}: {path}", "an id that is none", "an answer 500"),
                f"{answer.status} {answer.text[:150]}" if through else "",
            )
