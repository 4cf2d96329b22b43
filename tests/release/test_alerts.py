"""The alert rules for Prometheus, evaluated by promtool, which Prometheus brings."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from support import debian

pytestmark = pytest.mark.slow

ALERTS = Path(__file__).parents[2] / "packaging" / "prometheus" / "alerts.yml"
# As a service exposes them from its start, with one event after an hour.
GIVEN_UP = 'tidings_deliveries_given_up_total{reason="expired"}'
BACKUP_FAILED = 'tidings_backups_total{outcome="failed"}'


@pytest.fixture(scope="module")
def promtool() -> Path:
    try:
        return debian.program("promtool", "prometheus")
    except debian.ProgramMissing as reason:
        pytest.skip(str(reason))


def run(promtool: Path, *arguments: object) -> str:
    done = subprocess.run([promtool, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def firing(promtool: Path, folder: Path, alert: str, series: dict[str, str], *, after: str) -> None:
    """Assert that an alert fires. series: values, one a minute, in the notation of promtool."""
    case = {
        "rule_files": [str(ALERTS)],
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "promql_expr_test": [
                    {
                        "expr": f'count(ALERTS{{alertname="{alert}", alertstate="firing"}})',
                        "eval_time": after,
                        "exp_samples": [{"value": 1}],
                    }
                ],
            }
        ],
    }
    file = folder / "case.json"
    file.write_text(json.dumps(case))
    run(promtool, "test", "rules", file)


def test_the_rules_are_valid(promtool: Path) -> None:
    assert "SUCCESS: 7 rules found" in run(promtool, "check", "rules", ALERTS)


@pytest.mark.parametrize(
    ("alert", "series", "after"),
    [
        ("TidingsDeliveriesGivenUp", {GIVEN_UP: "0x60 1x60"}, "62m"),
        ("TidingsBackupFailed", {BACKUP_FAILED: "0x60 1x60"}, "62m"),
        ("TidingsBackupFailed", {"tidings_backup_age_seconds": "172801x10"}, "1m"),
        ("TidingsDown", {"tidings_up": "0x20"}, "6m"),
        ("TidingsPollingBehind", {"tidings_polls_oldest_overdue_seconds": "901x20"}, "11m"),
        ("TidingsManyFeedsFail", {"tidings_feeds_failing": "11x70", "tidings_feeds": "20x70"}, "61m"),
        ("TidingsDeliveriesWait", {"tidings_deliveries_oldest_pending_seconds": "7201x20"}, "11m"),
        (
            "TidingsRequestsFail",
            {
                'tidings_http_requests_total{status="500"}': "0+6x40",
                'tidings_http_requests_total{status="200"}': "0+94x40",
            },
            "25m",
        ),
    ],
)
def test_an_alert_fires(promtool: Path, tmp_path: Path, alert: str, series: dict[str, str], after: str) -> None:
    firing(promtool, tmp_path, alert, series, after=after)


@pytest.mark.parametrize(
    ("alert", "name"), [("TidingsDeliveriesGivenUp", GIVEN_UP), ("TidingsBackupFailed", BACKUP_FAILED)]
)
def test_a_counter_that_appears_with_its_first_event_would_not_fire(
    promtool: Path, tmp_path: Path, alert: str, name: str
) -> None:
    """This is why the service exposes these counters from its start."""
    with pytest.raises(AssertionError, match=r"got:\s*nil|\[\]|nil"):
        firing(promtool, tmp_path, alert, {name: "_x60 1x60"}, after="62m")
