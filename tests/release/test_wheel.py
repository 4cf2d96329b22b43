"""The wheel: everything that the service needs is in it, and it runs in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest

from cli.commands import eventually
from support.ports import free_port
from tidings import __version__

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("*.whl")
    return found


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    assert wheel.name == f"tidings-{__version__}-py3-none-any.whl"
    listed = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=True)
    expected = {name.removeprefix("src/") for name in listed.stdout.splitlines() if (ROOT / name).exists()}

    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        (metadata,) = [archive.read(name).decode() for name in archive.namelist() if name.endswith("/METADATA")]

    assert names >= expected
    assert "Author: the Tidings maintainers\n" in metadata
    assert "License-Expression: Apache-2.0\n" in metadata


@pytest.mark.long
def test_an_installed_wheel_serves_in_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    environment, empty = tmp_path / "venv", tmp_path / "empty"
    empty.mkdir()
    subprocess.run([sys.executable, "-m", "venv", environment], check=True, timeout=600)
    python = environment / "bin" / "python"
    # Its dependencies are those of the tests: a registry would be asked for sixty packages.
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel],
        check=True,
        timeout=600,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_IGNORE_INSTALLED": "1"},
    )
    port = free_port()
    settings = {"PATH": os.environ["PATH"], "HOME": str(empty), "TIDINGS_LISTEN_ADDR": f"127.0.0.1:{port}"}
    where = subprocess.run(
        [python, "-c", "import tidings; print(tidings.__file__)"],
        env=settings,
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.startswith(str(environment))

    printed = tmp_path / "printed"
    with (
        printed.open("wb") as output,
        subprocess.Popen([environment / "bin" / "tidings", "serve"], cwd=empty, env=settings, stdout=output) as service,
    ):
        try:
            assert eventually(lambda: _get(port, "/readyz") == b"OK", within_s=120)
            assert b"<!doctype html>" in _get(port, "/").lower()
            # Said by another process than the one that answers.
            ready = f"Tidings is ready at http://127.0.0.1:{port}"
            assert eventually(lambda: ready in printed.read_text(encoding="utf-8"), within_s=120)
        finally:
            service.terminate()
            service.wait(timeout=60)

    assert service.returncode == 0
    assert "The administrator is 'admin' with the password" in printed.read_text(encoding="utf-8")


def _get(port: int, path: str) -> bytes:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as response:
            body: bytes = response.read()
            return body
    except (urllib.error.URLError, OSError):
        return b""
