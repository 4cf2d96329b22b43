"""Uses rules that are cheap one by one and expensive together: tries, checks, saving.

Processor time of the service is measured instead of the time, so that other load does not matter.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Final
from urllib.parse import urlencode

from abuse import client, pages
from abuse.attempts import Attempt, Result
from abuse.people import Person, person
from abuse.testbed import Testbed

MAX_CPU_S: Final = 12
# After the browser has left: what one rule may take, and the rest of the request.
MAX_CPU_AFTER_LEAVING_S: Final = 4
ENTRIES: Final = 10
# Long, because the machine may be busy: what counts is the processor time.
TIMEOUT_S: Final = 180
_DOUBLING: Final = 'replace("lorem"|"loremlorem"),' * 30
_LINES: Final = "\n".join(rf"EntryTitle={number}(\pL{{9}}x{{9}}){{9}}" for number in range(5_000))
# What is tried: settings of a feed with entries of 240,000 characters.
RULES: Final[Mapping[str, Mapping[str, str]]] = {
    "doubling": {"rewrite_rules": _DOUBLING},
    "many selectors": {"rewrite_rules": ('remove("' + "p > " * 400 + 'b"),') * 100},
    "lists of files": {"rewrite_rules": "add_enclosure_links," * 5_000},
    "titles": {"rewrite_rules": 'replace_title("a|o"|"$0$0"),' * 60},
    "filters of the content": {
        "block_filter_entry_rules": "\n".join(
            rf"EntryContent=(l+o*r?)+y{number}[a-q][^u-z]{{13}}x" for number in range(2_000)
        )
    },
    "expressions to compile": {"block_filter_entry_rules": _LINES},
    "expressions to compile in replacements": {
        "rewrite_rules": "".join(rf'replace("{number}\pL{{12}}"|"b"),' for number in range(4_000))
    },
}
SUCCEEDS_IF: Final = f"more than {MAX_CPU_S} s of processor time, or no answer"


def run(testbed: Testbed) -> Iterator[Result]:
    user = person(testbed.shared)
    user.sign_in()
    feed_id = _feed(testbed, user, "tried")
    for number in range(ENTRIES):
        body = {"url": f"http://127.0.0.1/{number}", "title": f"Lorem {number}", "content": "lorem " * 40_000}
        user.made("POST", f"/v1/feeds/{feed_id}/entries/import", body)
    chosen = testbed.choose(RULES.items(), 2)
    for name, rules in chosen:
        yield _measured(
            testbed, f"try: {name}", "rules are tried on stored entries", partial(_try, user, feed_id, rules)
        )
        yield _measured(testbed, f"save: {name}", "rules are saved by an app", partial(_save, user, feed_id, rules))
    for name, rules in chosen:
        yield _measured(
            testbed,
            f"check: {name}",
            "a feed with these rules is subscribed to and checked",
            partial(_feed, testbed, user, f"checked {name}", rules),
        )
    yield _leaving(testbed, user, feed_id)


def _measured(testbed: Testbed, name: str, tries: str, act: Callable[[], object]) -> Result:
    service = testbed.shared
    before = service.processor_s()
    trouble = ""
    try:
        act()
    except OSError as error:
        trouble = f"no answer: {error}; "
    used = service.processor_s() - before
    if used > MAX_CPU_S:
        trouble += f"{used:.1f} s of processor time"
    return Result(Attempt(name, tries, SUCCEEDS_IF), trouble)


def _feed(testbed: Testbed, user: Person, name: str, rules: Mapping[str, str] | None = None) -> int:
    """Return the id of a new feed, 0 if it was refused."""
    item = f"<item><title>Lorem</title><guid>{name}%d</guid><description>{'lorem ' * 40_000}</description></item>"
    items = "".join(item % number for number in range(ENTRIES)) if rules else ""
    path = f"/rules-{name.replace(' ', '-')}.xml"
    url = testbed.publisher.serve(
        path, f'<?xml version="1.0"?><rss version="2.0"><channel><title>a</title>{items}</channel></rss>'
    )
    answer = user.api("POST", "/v1/feeds", {"feed_url": url, **(rules or {})}, timeout_s=TIMEOUT_S)
    return int(answer.json().get("feed_id", 0)) if answer.status < 300 else 0


def _form(user: Person, feed_id: int, rules: Mapping[str, str]) -> bytes:
    page = user.get(f"/feeds/{feed_id}/edit").text
    form = next(form for form in pages.forms(page) if "rewrite_rules" in form.values)
    return urlencode({**form.values, **rules}).encode()


def _try(user: Person, feed_id: int, rules: Mapping[str, str]) -> None:
    headers = {"Cookie": _cookies(user), "Content-Type": pages.URLENCODED}
    path, body = f"/feeds/{feed_id}/try", _form(user, feed_id, rules)
    client.request(user.service, "POST", path, headers=headers, body=body, timeout_s=TIMEOUT_S)


def _cookies(user: Person) -> str:
    return "; ".join(f"{name}={value}" for name, value in user.cookies.items())


def _save(user: Person, feed_id: int, rules: Mapping[str, str]) -> None:
    headers = {**user.basic, "Content-Type": "application/json"}
    path, body = f"/v1/feeds/{feed_id}", json.dumps(rules).encode()
    client.request(user.service, "PUT", path, headers=headers, body=body, timeout_s=TIMEOUT_S)
    cleared = json.dumps(dict.fromkeys(rules, "")).encode()
    client.request(user.service, "PUT", path, headers=headers, body=cleared, timeout_s=TIMEOUT_S)


def _leaving(testbed: Testbed, user: Person, feed_id: int) -> Result:
    """Starts tries and closes their connections: a server that goes on works for nobody."""
    service = testbed.shared
    body = _form(user, feed_id, {"rewrite_rules": _DOUBLING})
    head = (
        f"POST /feeds/{feed_id}/try HTTP/1.1\r\nHost: {service.host}:{service.port}\r\nCookie: {_cookies(user)}\r\n"
        f"Content-Type: {pages.URLENCODED}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection = socket.create_connection((service.host, service.port), timeout=10)
    connection.sendall(head.encode() + body)
    before = service.processor_s()
    with suppress(TimeoutError):
        # It has begun.
        connection.settimeout(1)
        connection.recv(1)
    connection.close()
    time.sleep(8)
    used = service.processor_s() - before
    return Result(
        Attempt(
            "leave a try",
            "a try is started, and its connection closed after a second",
            f"more than {MAX_CPU_AFTER_LEAVING_S} s of processor time in the next 8 s",
        ),
        f"{used:.1f} s of processor time" if used > MAX_CPU_AFTER_LEAVING_S else "",
    )
