"""The scripts that README and handbook show run as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "clients" / "python" / "README.md", ROOT / "docs" / "python-client.md")


def scripts(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_every_script_in_the_documentation_runs(
    alice: Person,
    site: Publisher,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    alice.has_feed(site, ["Rain tomorrow", "Sun today"])
    monkeypatch.setenv("READER_URL", alice.service.url)
    monkeypatch.setenv("READER_TOKEN", alice.token)
    monkeypatch.chdir(tmp_path)
    printed = []
    for script in (script for page in PAGES for script in scripts(page)):
        for _ in range(2 if "iter_sync" in script else 1):
            exec(script, {"__name__": "__main__"})
            printed.append(capsys.readouterr().out)

    readme, first, marking, files, refused, synced, synced_again, asynchronous = printed
    assert [line.rpartition(" ")[0] for line in readme.splitlines()] == ["Sun today", "Rain tomorrow"]
    assert first.splitlines() == [
        f"{alice.user.username} has 2 unread entries. The newest:",
        "A feed: Rain tomorrow",
        "A feed: Sun today",
    ]
    assert marking.strip() == f"{2 - len(alice.entries(status='unread'))} entries marked as read"
    assert files == ""
    assert {path.name for path in tmp_path.iterdir()} >= {"account.zip", "feeds.opml"}
    assert refused.startswith("title: ")
    assert sorted(line.partition(" ")[2] for line in synced.splitlines()) == ["read Rain tomorrow", "read Sun today"]
    assert synced_again == ""
    assert asynchronous.splitlines() == [f"{alice.user.username} has 1 feeds", "Rain tomorrow"]


def test_methods_in_the_handbook_exist() -> None:
    from tidings_client import Client, errors

    text = PAGES[1].read_text(encoding="utf-8")
    methods = set(re.findall(r"client\.(\w+)\(", text))
    assert len(methods) > 8
    assert all(hasattr(Client, name) for name in methods)
    assert all(hasattr(errors, name) for name in re.findall(r"errors\.(\w+)", text))
