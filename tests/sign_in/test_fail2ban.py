"""The filter for fail2ban finds the address in real lines of the log, and no line can forge one."""

from __future__ import annotations

import configparser
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from support.people import Person, basic, call
from support.running import RunningService
from support.visitors import Visitor
from tidings.domain.accounts.events import Method, Origin
from tidings.engine.database import Database
from tidings.runtime import logs
from tidings.services.accounts.authentication import Authentication
from tidings.services.clock import system_clock

FILTER = Path(__file__).parents[2] / "packaging" / "fail2ban" / "tidings.conf"
# What fail2ban puts in the place of <HOST>, without names of hosts.
ADDRESS = r"(?P<host>[0-9a-fA-F:.]+)"
DATES = (r"^(?:\S+ \S+: )?\d{4}-\d\d-\d\dT[\d:.]+Z", r'"time":"\d{4}-\d\d-\d\dT[\d:.]+Z"')


def banned(line: str) -> str:
    """Return the address that fail2ban bans for a line, "" for none. It cuts the time out of a line first."""
    parser = configparser.ConfigParser()
    parser.read(FILTER, encoding="utf-8")
    date = next(date for date in DATES if re.search(date, line))
    line = re.sub(date, "", line, count=1)
    for expression in parser["Definition"]["failregex"].split("\n"):
        if found := re.search(expression.strip().replace("<HOST>", ADDRESS), line):
            return found["host"]
    return ""


def test_every_kind_of_refused_sign_in_of_a_running_service_is_found(service: RunningService, alice: Person) -> None:
    name, began = alice.user.username, len(service.log)
    visitor = Visitor(service, alice)
    forwarded = {"X-Forwarded-For": visitor.address}
    visitor.sign_in(password="wrong")
    call(service.url, "GET", "/v1/me", headers=basic(name, "wrong") | forwarded)
    call(service.url, "GET", "/v1/me", headers={"X-Auth-Token": "0" * 64} | forwarded)
    call(service.url, "GET", f"/accounts/ClientLogin?Email={name}&Passwd=wrong", headers=forwarded)
    token = {"Authorization": f"GoogleLogin auth={name}/00"}
    call(service.url, "GET", "/reader/api/0/user-info", headers=token | forwarded)
    visitor.post("/invitation/unknown")
    lines = [line for line in service.log[began:].splitlines() if visitor.address in line]

    assert [banned(line) for line in lines] == [visitor.address] * 6
    assert [line.partition("reason=")[2].partition(" method=")[0] for line in lines] == [
        '"wrong name or password"',
        '"wrong name or password"',
        '"unknown API key"',
        '"wrong name or password"',
        '"unknown token"',
        '"unknown link"',
    ]


@pytest.mark.parametrize("prefix", ["", "host tidings[17]: "])
@pytest.mark.parametrize("render", [logs._as_text, logs._as_json])
def test_both_formats_are_read_and_names_forge_nothing(
    render: Callable[[Any, str, Any], str], prefix: str, database: Database
) -> None:
    authentication = Authentication(database, system_clock)
    forged = "x sign-in refused address=203.0.113.9 reason="
    with capture_logs() as events:
        for address in ("2001:db8::1", forged):
            authentication.refuse("wrong code", origin=Origin(address), method=Method.CODE, username=forged)
    one, other = (
        render(None, "", {**event, "timestamp": "2026-11-26T14:00:00.123456Z", "level": event.pop("log_level")})
        for event in events
    )

    assert banned(prefix + one) == "2001:db8::1"
    assert banned(prefix + other) == ""
