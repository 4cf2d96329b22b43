"""The examples of docs/webhooks.md do what they say."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.outbox import HASTE
from tidings.domain import samples
from tidings.domain.deliveries import KEPT_FOR, Room
from tidings.domain.events import NewEntries
from tidings.domain.integrations.leaves.webhook import signed
from tidings.domain.retries import Patience
from tidings.domain.times import DAY, Instant
from tidings.services.moments import zone

HANDBOOK = (Path(__file__).parents[1] / "docs" / "webhooks.md").read_text()
SECRET = "5e" * 32


def example(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", HANDBOOK, re.DOTALL)
    return str(found)


@pytest.fixture
def body() -> bytes:
    show = zone("UTC").show
    return samples.event("save_entry", "https://hooks.example/", "1", user_id=1, show=show, now=Instant(0)).body


def test_the_example_in_python_tells_genuine_from_forged(body: bytes) -> None:
    names: dict[str, Any] = {}
    exec(example("python"), names)
    is_genuine = names["is_genuine"]

    assert is_genuine(body, signed(body, SECRET), SECRET)
    assert not is_genuine(body + b" ", signed(body, SECRET), SECRET)
    assert not is_genuine(body, signed(body, "another"), SECRET)


def test_the_example_for_a_shell_tells_genuine_from_forged(body: bytes, tmp_path: Path) -> None:
    def is_genuine(signature: str) -> bool:
        (tmp_path / "body.json").write_bytes(body)
        environment = {"PATH": os.environ["PATH"], "SECRET": SECRET, "SIGNATURE": signature}
        return subprocess.run(["sh", "-c", example("sh")], cwd=tmp_path, env=environment, check=False).returncode == 0

    assert is_genuine(signed(body, SECRET))
    assert not is_genuine(signed(body + b" ", SECRET))


def test_the_event_that_is_shown_has_the_shape_of_one() -> None:
    (shown,) = re.findall(r'^    (\{\n      "event_type".*?\n    \})$', HANDBOOK, re.DOTALL | re.MULTILINE)

    told = msgspec.json.decode(shown, type=NewEntries)

    assert msgspec.to_builtins(told) == msgspec.json.decode(shown), "no member too many, and none too few"


def test_the_numbers_are_those_of_the_code() -> None:
    assert (Room().deliveries, Room().bytes) == (10_000, 64 * 2**20)
    assert Patience().first.total_seconds() == 10 > HASTE.first.total_seconds()
    assert Patience().longest.total_seconds() == 3600
    assert KEPT_FOR == 7 * DAY
