"""The examples of docs/webhooks.md do what they say."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.outbox import SHORT_WAITS
from tidings.base.times import DAY, Instant
from tidings.deliveries import sample_events
from tidings.deliveries.attempts import MAX_REDIRECTS
from tidings.deliveries.entry_tests import MAX_QUERIES_S
from tidings.deliveries.events import (
    EVENTS,
    FINISHED_RETENTION,
    MAX_IDS,
    MAX_WITH_CONTENT,
    MAX_WITHOUT_CONTENT,
    NewEntriesPayload,
    QueueLimits,
)
from tidings.deliveries.providers.webhook import sign
from tidings.deliveries.retries import RetryPolicy
from tidings.deliveries.webhooks import MAX_WEBHOOKS
from tidings.services.clock import time_zone
from tidings.services.polling.decide import MAX_TEMPORARY_FAILURES

HANDBOOK = (Path(__file__).parents[1] / "docs" / "webhooks.md").read_text()
SECRET = "5e" * 32


def example(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", HANDBOOK, re.DOTALL)
    return str(found)


@pytest.fixture
def body() -> bytes:
    format_time = time_zone("UTC").format
    return sample_events.sample_event(
        "save_entry", "https://hooks.example/", "1", user_id=1, format_time=format_time, now=Instant(0)
    ).body


def test_the_python_example_verifies_signatures(body: bytes) -> None:
    names: dict[str, Any] = {}
    exec(example("python"), names)
    is_genuine = names["is_genuine"]

    assert is_genuine(body, sign(body, SECRET), SECRET)
    assert not is_genuine(body + b" ", sign(body, SECRET), SECRET)
    assert not is_genuine(body, sign(body, "another"), SECRET)


def test_the_shell_example_verifies_signatures(body: bytes, tmp_path: Path) -> None:
    def is_genuine(signature: str) -> bool:
        (tmp_path / "body.json").write_bytes(body)
        environment = {"PATH": os.environ["PATH"], "SECRET": SECRET, "SIGNATURE": signature}
        return subprocess.run(["sh", "-c", example("sh")], cwd=tmp_path, env=environment, check=False).returncode == 0

    assert is_genuine(sign(body, SECRET))
    assert not is_genuine(sign(body + b" ", SECRET))


def test_every_event_has_a_row_in_the_table() -> None:
    table = HANDBOOK[HANDBOOK.index("| event | when |") :].split("\n\n")[0]

    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(EVENTS)


def test_the_example_event_has_the_fields_of_an_event() -> None:
    shown = shown_events()[0]

    event = msgspec.json.decode(shown, type=NewEntriesPayload)

    assert msgspec.to_builtins(event) == msgspec.json.decode(shown), "no member too many, and none too few"


def shown_events() -> list[str]:
    return re.findall(r'^    (\{\n      "event_type".*?\n    \})$', HANDBOOK, re.DOTALL | re.MULTILINE)


def test_the_shorter_examples_have_the_members_of_their_samples() -> None:
    """Inside of entries and feeds they are cut."""
    for shown in map(msgspec.json.decode, shown_events()[1:]):
        sample = sample_events.sample_event(
            shown["event_type"], "", "1", user_id=1, format_time=time_zone("UTC").format, now=Instant(0)
        )
        body = msgspec.json.decode(sample.body)
        assert shown.keys() == body.keys()
        if "import" in shown:
            assert shown["import"].keys() == body["import"].keys()
    assert len(shown_events()) == 4


def test_the_documented_numbers_are_those_of_the_code() -> None:
    assert (QueueLimits().max_deliveries, QueueLimits().max_bytes) == (10_000, 64 * 2**20)
    assert QueueLimits().max_deliveries // 24 == 416
    assert (QueueLimits().max_deliveries_of_user, QueueLimits().max_bytes_of_user) == (50_000, 256 * 2**20)
    assert RetryPolicy().first_wait.total_seconds() == 10 > SHORT_WAITS.first_wait.total_seconds()
    assert RetryPolicy().max_wait.total_seconds() == 3600
    assert [wait.total_seconds() / 60 for wait in itertools.accumulate(RetryPolicy().event_waits)] == [1, 5, 15]
    assert RetryPolicy().failures_before_pause == 10
    assert MAX_REDIRECTS == 5
    assert (MAX_WITH_CONTENT, MAX_WITHOUT_CONTENT, MAX_IDS) == (10, 100, 10_000)
    assert MAX_WEBHOOKS == 20
    assert MAX_QUERIES_S == 2
    assert MAX_TEMPORARY_FAILURES == 4
    assert FINISHED_RETENTION == 7 * DAY
