"""Help, version, `config`, and errors in arguments and settings."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.commands import Tidings, error_line
from tidings import __version__, cli
from tidings.settings import OPTIONS

pytestmark = pytest.mark.slow

COMMANDS = (
    ["serve"], ["web"], ["worker"], ["migrate"], ["refresh"], ["cleanup"], ["backup"], ["restore"], ["check"], ["move"],
    ["export"], ["import"],
    ["status"], ["healthcheck"], ["config"], ["version"], ["user"], ["user", "add"], ["user", "list"],
    ["user", "passwd"], ["user", "remove"], ["categories"], ["categories", "tree"], ["manual"], ["completion"],
)  # fmt: skip


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_names_every_command(bare: Tidings, arguments: list[str]) -> None:
    done = bare(*arguments)

    assert (done.returncode, done.stderr) == (0, "")
    for name in (*(command[0] for command in COMMANDS), "--config"):
        assert f" {name} " in done.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_a_help_text(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tidings", *command, "--help"])

    with pytest.raises(SystemExit) as ended:
        cli.main()

    shown = capsys.readouterr().out
    assert ended.value.code in (None, 0)
    assert f"tidings {' '.join(command)}" in shown
    assert "loaded" not in shown.lower()


def test_help_does_not_import_the_whole_service() -> None:
    loaded = "import sys, tidings.cli; print('sqlalchemy' in sys.modules, 'aiohttp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, timeout=180, check=True)

    assert done.stdout == "False False\n"


def test_the_module_and_the_script_are_the_same_command() -> None:
    script = Path(sys.executable).with_name("tidings")
    outputs = [
        subprocess.run(command, capture_output=True, text=True, timeout=180, check=True).stdout
        for command in ([sys.executable, "-m", "tidings", "version"], [str(script), "version"])
    ]
    assert outputs == [f"tidings {__version__}\n"] * 2


@pytest.mark.parametrize(
    "arguments",
    [["sreve"], ["serve", "now"], ["serve", "--fast"], ["user", "add"], ["refresh", "--user"], ["--config"]],
)
def test_invalid_arguments_give_an_error_line_and_exit_code_2(bare: Tidings, arguments: list[str]) -> None:
    assert "tidings --help" in error_line(bare(*arguments), 2)


@pytest.mark.parametrize("extra", [["correct horse"], ["--password", "correct horse"]])
def test_a_password_is_never_an_argument(bare: Tidings, extra: list[str]) -> None:
    error_line(bare("user", "add", "alice", *extra), 2)


def test_an_invalid_setting_gives_an_error_line_and_exit_code_2(bare: Tidings) -> None:
    assert "TIDINGS_WEB_WORKERS 'many'" in error_line(bare("serve", WEB_WORKERS="many"), 2)
    assert "did you mean TIDINGS_LOG_LEVEL?" in error_line(bare("config", LOG_LEVLE="info"), 2)
    assert "/nowhere" in error_line(bare("config", "--config", "/nowhere"), 2)


def test_help_and_version_work_with_broken_settings(bare: Tidings) -> None:
    assert bare("serve", "--help", WEB_WORKERS="many").returncode == 0
    assert bare("version", WEB_WORKERS="many").returncode == 0


def test_config_shows_values_and_their_origins_but_no_secret(bare: Tidings) -> None:
    file = bare.folder / "tidings.conf"
    file.write_text("WEB_WORKERS=3\nADMIN_PASSWORD=hunter22\n", encoding="utf-8")

    done = bare(
        "config",
        "--config",
        str(file),
        LOG_LEVEL="debug",
        DATABASE_URL="postgres://alice:hunter33@db/tidings",
    )

    assert done.returncode == 0
    assert f"TIDINGS_WEB_WORKERS=3  ({file}, line 1)\n" in done.stdout
    assert "TIDINGS_LOG_LEVEL=debug  (the environment)\n" in done.stdout
    assert "TIDINGS_LOG_FORMAT=text  (default)\n" in done.stdout
    assert "TIDINGS_DATABASE_URL=postgres://alice:***@db/tidings  (the environment)\n" in done.stdout
    assert "hunter" not in done.stdout + done.stderr


def test_the_config_option_may_precede_or_follow_the_command(bare: Tidings) -> None:
    file = bare.folder / "tidings.conf"
    file.write_text("WEB_WORKERS=3\n", encoding="utf-8")

    before, after = bare("--config", str(file), "config"), bare("config", "--config", str(file))

    assert "TIDINGS_WEB_WORKERS=3" in before.stdout
    assert before.stdout == after.stdout


def test_a_closed_pipe_is_not_reported_as_an_error(bare: Tidings) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "tidings", "config"],
        env=bare.environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=180,
        check=False,
    )
    os.close(writing)

    assert (done.returncode, done.stderr) == (1, b"")


def test_the_manual_is_a_page_that_groff_understands_with_every_command_and_setting(bare: Tidings) -> None:
    page = bare("manual").stdout

    for command in COMMANDS:
        assert f".SS tidings {' '.join(command)}\n" in page
    for option in OPTIONS:
        assert f".B {option.name}\n" in page
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    shown = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww", "-z"], input=page, capture_output=True, text=True, timeout=180, check=False
    )
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_every_command(bare: Tidings, shell: str) -> None:
    script = bare("completion", shell).stdout

    for command in COMMANDS:
        assert command[-1] in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert subprocess.run([shell, "-n"], input=script, text=True, timeout=180, check=False).returncode == 0
