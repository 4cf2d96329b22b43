"""Sends a request again and again on eight connections, and counts the responses a second.

wrk sends it if it is installed, otherwise threads of this process do, which slows down short answers.
"""

from __future__ import annotations

import http.client
import json
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

CONNECTIONS: Final = 8
TURN_S: Final = 1.0
# A turn with fewer answers than FEW says little, one without any says nothing: it is repeated with LONG_TURN_S. Without
# any again, one is assumed: the ratio is then a lower bound.
FEW, LONG_TURN_S = 5 * CONNECTIONS, 8.0
_BY_TURNS: Final = """local bodies, sent = {{{bodies}}}, 0
function request() sent = sent + 1; return wrk.format(nil, nil, nil, bodies[sent % #bodies + 1]) end
"""


class Request(Struct, frozen=True):
    """A request, as each connection sends it. status: the expected one, of a right answer."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = {}
    bodies: tuple[str, ...] = ("",)
    """Sent by turns, so that a request can switch a state and switch it back."""
    status: int = 200


def sender() -> str:
    return "wrk" if shutil.which("wrk") else "threads of this process (wrk is not installed)"


def rate(request: Request) -> float:
    """Return the requests per second of one turn. Raises AssertionError for an answer with another status."""
    return _rate_of_wrk(request) if shutil.which("wrk") else _rate_of_threads(request)


def _rate_of_wrk(request: Request) -> float:
    found = _run_wrk(request, TURN_S)
    if found * TURN_S < FEW:
        found = _run_wrk(request, LONG_TURN_S) or 1 / LONG_TURN_S
    return found


def _run_wrk(request: Request, seconds: float) -> float:
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(wrk_script(request))
        script.flush()
        sent = [f"-H{name}: {value}" for name, value in request.headers.items()]
        command = ["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{seconds:g}s", "--timeout=30s", f"-s{script.name}", *sent]
        printed = subprocess.run([*command, request.url], check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603
    assert "Non-2xx" not in printed, (request.url, printed)
    found = re.search(r"Requests/sec:\s*([\d.]+)", printed)
    assert found, printed
    assert "Socket errors" not in printed, (request.url, printed)
    return float(found[1])


def wrk_script(request: Request) -> str:
    """Return the script that makes wrk send a request. A single body is set once: a function is called each time."""
    bodies = [json.dumps(body) for body in request.bodies]
    script = f"wrk.method = {json.dumps(request.method)}\nwrk.body = {bodies[0]}\n"
    return script if len(bodies) == 1 else script + _BY_TURNS.format(bodies=", ".join(bodies))


def _rate_of_threads(request: Request) -> float:
    counts = [0] * CONNECTIONS
    failures: list[int] = []
    started = time.perf_counter()
    split = urlsplit(request.url)
    path = f"{split.path}?{split.query}" if split.query else split.path

    def send_all(number: int) -> None:
        connection = http.client.HTTPConnection(split.netloc, timeout=60)
        while not counts[number] or (time.perf_counter() - started < TURN_S and not failures):
            body = request.bodies[counts[number] % len(request.bodies)]
            connection.request(request.method, path, body or None, dict(request.headers))
            answer = connection.getresponse()
            answer.read()
            counts[number] += 1
            if answer.status != request.status:
                failures.append(answer.status)
        connection.close()

    threads = [threading.Thread(target=send_all, args=[number]) for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, (request.url, failures)
    return sum(counts) / (time.perf_counter() - started)
