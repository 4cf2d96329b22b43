"""Files for service managers, containers, monitoring and forges name things that exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.databases import Databases
from support.people import call
from support.running import running_service
from tidings import HOMEPAGE
from tidings.cli import app
from tidings.engine.database import Database
from tidings.maintenance.scheduled_backup import BackupSettings, ScheduledBackup
from tidings.metrics.metrics import ProcessMetrics
from tidings.services.clock import system_clock
from tidings.settings import OPTIONS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "packaging" / "systemd" / "tidings.service"
CONTAINERFILE = (ROOT / "Containerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8"))
SETTINGS = {name for option in OPTIONS for name in (option.name, option.file_variant)}
COMMANDS = set(app.resolved_commands())
# What a worker counts, in the files that the web process reads.
RECORD = """
import pathlib, sys
from tidings import metrics
metrics.start(pathlib.Path(sys.argv[1]))
metrics.record_poll("stored", 0.1, 1)
metrics.record_delivery("failed", 0.1)
metrics.record_deliveries_given_up("expired", 1)
metrics.record_backup("failed")
"""
# The highest exposure that `systemd-analyze security` may find, from 0 (none) to 10.
MAX_EXPOSURE = 2.0


def expressions() -> list[str]:
    """Return all PromQL expressions of the dashboard and of the alert rules."""
    dashboard = json.loads((ROOT / "packaging" / "grafana" / "dashboard.json").read_text(encoding="utf-8"))
    rules = yaml.safe_load((ROOT / "packaging" / "prometheus" / "alerts.yml").read_text(encoding="utf-8"))
    shown = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return shown + [rule["expr"] for group in rules["groups"] for rule in group["rules"]]


def exposed(page: str) -> set[str]:
    """Return the names of the series of a page of metrics, also of those that have no value yet."""
    names = set()
    for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", page, flags=re.MULTILINE):
        names |= {f"{name}_bucket", f"{name}_sum", f"{name}_count"} if kind == "histogram" else {name}
    return names


def test_counters_whose_increase_is_an_alert_exist_from_the_start(tmp_path: Path) -> None:
    """A counter that appears with its first event rises from nothing to 1, which is no increase for Prometheus."""
    watched = [found for each in expressions() for found in re.findall(r"increase\((\w+)(?:\{(.*?)\})?\[", each)]
    files = ProcessMetrics(tmp_path)
    page = files.exposition({})[0].decode()
    files.close()

    series = re.findall(r"^(\w+)\{(.*)\} 0\.0$", page, flags=re.MULTILINE)
    alerts = {"tidings_deliveries_given_up_total", "tidings_backups_total"}
    assert alerts <= {name for name, _ in watched}
    for name, labels in watched:
        if name in alerts:
            assert any(found == name and labels in shown for found, shown in series), (name, labels)
    assert {shown for found, shown in series if found == "tidings_deliveries_given_up_total"} == {
        'reason="expired"',
        'reason="overflow"',
        'reason="refused"',
    }


def test_dashboard_and_alerts_use_metrics_that_exist(databases: Databases, tmp_path: Path) -> None:
    used = {name for expression in expressions() for name in re.findall(r"\btidings_\w+", expression)}
    with databases.migrated() as url, running_service(url, tmp_path, metrics_collector="1") as service:
        call(service.url, "GET", "/v1/me")
        _schedule_backup(url)
        # A worker beside it, which has checked a feed, given up a delivery and written no backup.
        subprocess.run([sys.executable, "-c", RECORD, tmp_path / "metrics"], check=True, timeout=60)
        page = call(service.url, "GET", "/metrics").body.decode()

    assert used - exposed(page) == set()
    assert len(used) > 15


def _schedule_backup(url: str) -> None:
    """Note that a backup was written, which has no age before."""
    database = Database(url)
    scheduled = ScheduledBackup(database, system_clock, BackupSettings())
    scheduled.begin("worker")
    scheduled.finish("worker")
    database.close()


def test_labels_of_dashboard_and_alerts_are_documented() -> None:
    operations = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    grouped = {
        name
        for text in expressions()
        for labels in re.findall(r"by \(([\w, ]+)\)", text)
        for name in labels.split(", ")
    }

    assert {name for name in grouped - {"le"} if f"`{name}`" not in operations} == set()


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit with a program that exists on this machine."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    text = UNIT.read_text(encoding="utf-8").replace("/opt/tidings/bin/tidings", "/bin/true")
    (tmp_path / "tidings.service").write_text(text, encoding="utf-8")
    return tmp_path / "tidings.service"


def test_systemd_accepts_the_unit(unit: Path) -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, timeout=60, check=False
    )
    about_it = [line for line in done.stderr.splitlines() if "tidings" in line]

    assert (done.returncode, about_it) == (0, []), done.stderr


def test_systemd_finds_little_to_harden(unit: Path) -> None:
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", unit],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    match = re.search(r"Overall exposure level for tidings.service: ([\d.]+)", done.stdout)

    assert match, done.stdout + done.stderr
    assert float(match[1]) <= MAX_EXPOSURE, done.stdout


def test_the_image_has_what_its_steps_copy_and_no_secret() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", CONTAINERFILE, flags=re.MULTILINE)
    sources = {source for line in copied for source in line.split()}

    assert sources
    for source in sources:
        assert (ROOT / source).exists()
        assert f"!{source}" in ignored
    assert ignored[0] == "*"
    assert set(re.findall(r"TIDINGS_\w+", CONTAINERFILE)) <= SETTINGS
    assert "USER 10001" in CONTAINERFILE
    for name in re.findall(r"^(?:HEALTHCHECK .* )?(?:CMD|ENTRYPOINT) \[(.+)\]$", CONTAINERFILE, flags=re.MULTILINE):
        assert {part.strip('" ') for part in name.split(",")} <= COMMANDS | {"tidings"}


def test_compose_sets_settings_that_exist_and_keeps_the_image_closed() -> None:
    service, database = COMPOSE["services"]["tidings"], COMPOSE["services"]["database"]

    assert set(service["environment"]) <= SETTINGS
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["depends_on"]["database"]["condition"] == "service_healthy"
    assert "healthcheck" in database
    assert set(service["secrets"]) | set(database["secrets"]) == set(COMPOSE["secrets"])


def test_workflows_call_targets_that_exist_on_the_versions_that_are_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {name.rpartition(" ")[2] for name in project["classifiers"] if re.search(r":: 3\.\d+$", name)}
    targets = set(re.findall(r"^([\w./$()-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    steps = [step.get("run", "") for job in WORKFLOW["jobs"].values() for step in job["steps"]]
    called = {name for step in steps for name in re.findall(r"^make ([\w./-]+)", step, flags=re.MULTILINE)}

    assert called == {"check", "docs", "release-check", "test", "test-long", ".venv/.dev"}
    assert {name.replace(".venv", "$(VENV)") for name in called} <= targets
    assert set(WORKFLOW["jobs"]["wheel"]["strategy"]["matrix"]["python"]) == declared


def test_every_page_of_the_documentation_is_in_the_contents_of_the_site() -> None:
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^([\w-]+)$", contents.partition("{toctree}")[2], flags=re.MULTILINE)

    assert sorted(listed) == sorted(path.stem for path in (ROOT / "docs").glob("*.md") if path.stem != "index")


def test_addresses_of_the_project_are_placeholders_below_one_place() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    home = urls["Homepage"]

    assert home == "https://example.org/tidings" == HOMEPAGE
    assert all(url.startswith(home) for url in urls.values())
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for url in re.findall(r"https?://[\w./-]*/tidings\.git", page.read_text(encoding="utf-8")):
            assert url == f"{home}.git", page
