"""`tidings export` and `tidings import`."""

from __future__ import annotations

import json
import stat
import zipfile

import pytest
from sqlalchemy import select

from cli.commands import Tidings, error_line
from support.archives import HOSTILE_SETTINGS, hostile_archive
from support.people import PASSWORD
from support.publisher import Answer, Publisher
from tidings.deliveries.tables import delivery_bodies
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow


def test_an_account_is_exported_and_imported(tidings: Tidings, services: AllServices) -> None:
    alice = services.accounts.users.create("alice", PASSWORD)
    bob = services.accounts.users.create("bob", PASSWORD)
    services.deliveries.webhooks.create(bob.id, {"url": "https://hooks.example/", "events": ("import_finished",)})
    services.feeds.opml.import_(
        alice.id, b'<opml version="2.0"><body><outline text="x" xmlUrl="https://example.org/feed"/></body></opml>'
    )
    target = tidings.folder / "alice.zip"

    exported = tidings("export", "alice", str(target))
    imported = tidings("import", "bob", str(target))

    assert (exported.returncode, exported.stderr) == (0, "")
    assert exported.stdout == f"Exported to {target}: 1 feeds, 0 entries\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert zipfile.ZipFile(target).testzip() is None
    assert (imported.returncode, imported.stderr) == (0, "")
    assert imported.stdout.startswith("Feeds: 1 new, 0 already there\n")

    # Webhooks are told, also of what cannot be read; not of a file that is missing.
    (tidings.folder / "odd.zip").write_bytes(b"no archive")
    error_line(tidings("import", "bob", str(tidings.folder / "odd.zip")), 1)
    error_line(tidings("import", "bob", str(tidings.folder / "missing.zip")), 1)
    with services.reading() as db:
        told = [
            json.loads(one)
            for one in db.scalars(select(delivery_bodies.c.body).order_by(delivery_bodies.c.delivery_id))
        ]
    assert [(one["import"]["origin"], one["import"]["succeeded"], one["import"]["new_feeds"]) for one in told] == [
        ("alice.zip", True, 1),
        ("odd.zip", False, 0),
    ]


def test_an_archive_of_a_stranger_takes_over_nothing_unless_that_is_asked_for(
    tidings: Tidings, services: AllServices
) -> None:
    services.accounts.users.create("alice", PASSWORD)
    path = tidings.folder / "stranger.zip"
    path.write_bytes(hostile_archive())

    careful = tidings("import", "alice", str(path))
    without = services.accounts.users.find("alice")
    sure = tidings("import", "alice", str(path), "--apply", "scripts,rules")
    with_scripts = services.accounts.users.find("alice")

    assert careful.returncode == 0
    assert "Left off: custom_js; switch it on on the pages, or import with --apply scripts\n" in careful.stdout
    assert "Left off: webhook_url of 1 feeds" in careful.stdout
    assert "Left as it is: allow_self_signed_certificates of 1 feeds, which no import changes" in careful.stdout
    assert (without.custom_js, without.block_filter_entry_rules) == ("", "")
    assert sure.returncode == 0
    assert (with_scripts.custom_js, with_scripts.block_filter_entry_rules) == (
        HOSTILE_SETTINGS["custom_js"], "EntryTitle=.*",
    )  # fmt: skip
    assert "is none of" in error_line(tidings("import", "alice", str(path), "--apply", "security"), 1)


def test_at_a_terminal_an_archive_is_asked_about(tidings: Tidings, services: AllServices) -> None:
    services.accounts.users.create("alice", PASSWORD)
    path = tidings.folder / "stranger.zip"
    path.write_bytes(hostile_archive(theme="dark_serif", stylesheet="/* \x1b]0;title\x07 */"))

    with tidings.on_a_terminal("import", "alice", str(path)) as terminal:
        terminal.answer("Apply these settings of the account? [y/N]", "y")
        terminal.answer("new entries of all feeds? [y/N]", "")
        terminal.answer("all that you can. [y/N]", "yes")
        terminal.answer("to other hosts. [y/N]", "n")
        assert terminal.exit_code() == 0

    alice = services.accounts.users.find("alice")
    assert "custom_js: fetch(" in terminal.seen
    assert "\x1b]0;title" not in terminal.seen
    assert (alice.theme, alice.block_filter_entry_rules) == ("dark_serif", "")
    assert alice.custom_js == HOSTILE_SETTINGS["custom_js"]
    assert services.deliveries.integrations.get_all(alice.id)["webhook"]["enabled"] is False


def test_what_cannot_be_exported_or_imported_is_said(tidings: Tidings, services: AllServices) -> None:
    services.accounts.users.create("alice", PASSWORD)
    present = tidings.folder / "precious.zip"
    present.write_text("mine")

    assert "File exists" in error_line(tidings("export", "alice", str(present)), 1)
    for folder in (str(tidings.folder), ".", "/"):
        assert "File exists" in error_line(tidings("export", "alice", folder), 1)
    assert present.read_text() == "mine"
    assert "no user called 'bob'" in error_line(tidings("export", "bob", str(tidings.folder / "bob.zip")), 1)
    assert "No such file" in error_line(tidings("export", "alice", str(tidings.folder / "missing" / "a.zip")), 1)
    assert "not a Tidings archive" in error_line(tidings("import", "alice", str(present)), 1)
    assert "cannot be read" in error_line(tidings("import", "alice", str(tidings.folder / "missing.zip")), 1)
    assert sorted(path.name for path in tidings.folder.iterdir() if path.suffix == ".part") == []


def test_an_account_is_imported_from_miniflux(tidings: Tidings, services: AllServices, site: Publisher) -> None:
    services.accounts.users.create("alice", PASSWORD)
    feed = {"id": 1, "feed_url": "https://example.org/feed", "title": "Rain", "category": {"title": "Weather"}}
    answers = {"me": {}, "categories": [], "feeds": [feed], "entries": {"total": 0, "entries": []}}
    for name, answer in answers.items():
        site.script(f"/v1/{name}", Answer(json.dumps(answer)))
    key = tidings.folder / "key.txt"
    key.write_text("from a file\n")
    command = ("import", "alice", "--from", "miniflux", "--url", site.url("/"))

    piped = tidings(*command, stdin="from a pipe\n")
    read = tidings(*command, "--api-key-file", str(key))

    assert (piped.returncode, piped.stderr) == (0, "")
    assert piped.stdout.startswith("Feeds: 1 new, 0 already there\n")
    assert read.stdout.startswith("Feeds: 0 new, 1 already there\n")
    assert {seen.headers["x-auth-token"] for seen in site.requests} == {"from a pipe", "from a file"}


def test_what_an_import_from_miniflux_lacks_is_said(tidings: Tidings, services: AllServices) -> None:
    services.accounts.users.create("alice", PASSWORD)
    command = ("import", "alice", "--from", "miniflux")

    assert "--url" in error_line(tidings(*command), 1)
    assert "no API key" in error_line(tidings(*command, "--url", "http://127.0.0.1:1"), 1)
    assert "127.0.0.1" in error_line(tidings(*command, "--url", "http://127.0.0.1:1", stdin="key"), 1)
    assert "https://" in error_line(tidings(*command, "--url", "miniflux.example.org", stdin="key"), 1)
    assert "USER FILE" in error_line(tidings("import", "alice"), 1)


def test_pages_saved_elsewhere_are_imported_from_a_file(tidings: Tidings, services: AllServices) -> None:
    services.accounts.users.create("alice", PASSWORD)
    path = tidings.folder / "pocket.csv"
    path.write_text("title,url,time_added,tags,status\nRain,https://example.org/1,1600000000,,unread\n")

    imported = tidings("import", "alice", str(path), "--from", "pocket")

    assert (imported.returncode, imported.stderr) == (0, "")
    assert "Entries: 1 new" in imported.stdout
    assert "line 1" in error_line(tidings("import", "alice", str(path), "--from", "instapaper"), 1)
    assert "SQLite" in error_line(tidings("import", "alice", str(path), "--from", "freshrss"), 1)
    assert "cannot be read" in error_line(tidings("import", "alice", "missing.csv", "--from", "pocket"), 1)


def test_what_an_import_from_tiny_tiny_rss_lacks_is_said(
    tidings: Tidings, services: AllServices, site: Publisher
) -> None:
    services.accounts.users.create("alice", PASSWORD)
    site.script("/api/", Answer(json.dumps({"status": 1, "content": {"error": "LOGIN_ERROR"}})))
    password = tidings.folder / "password.txt"
    password.write_text("from a file\n")
    command = ("import", "alice", "--from", "tiny-tiny-rss", "--url", site.url("/"))

    assert "--from-user" in error_line(tidings(*command), 1)
    assert "no password" in error_line(tidings(*command, "--from-user", "ann"), 1)
    assert "user and password" in error_line(tidings(*command, "--from-user", "ann", stdin="from a pipe\n"), 1)
    refused = tidings(*command, "--from-user", "ann", "--password-file", str(password))

    assert "user and password" in error_line(refused, 1)
    assert [seen.json()["password"] for seen in site.requests] == ["from a pipe", "from a file"]
