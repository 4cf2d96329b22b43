"""What the poller asks of the sites of feeds while it looks for their icons."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from support.people import PASSWORD, rss
from support.publisher import Hang, Publisher
from support.running import environment_for
from tidings.engine.database import Database
from tidings.settings import load
from tidings.storage.feeds import feeds
from tidings.wiring.services import AllServices, build_services

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

FEEDS = 20
ICON = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h8v8z"/></svg>'


def subscribed(database: Database, database_url: str, folder: Path, site: Publisher) -> tuple[AllServices, int]:
    """To many feeds of one site, as after an import; and the user's id."""
    settings = environment_for(database_url, folder, polling_limit_per_host=str(FEEDS))
    services = build_services(database, load(settings, None))
    user = services.accounts.users.create("alice", PASSWORD)
    outlines = "".join(f"<outline xmlUrl='{site.url(f'/{number}.xml')}'/>" for number in range(FEEDS))
    services.feeds.opml.import_(user.id, f"<opml><body>{outlines}</body></opml>".encode())
    for number in range(FEEDS):
        path = f"/{number}.xml"
        site.serve(path, rss(["One"], site.url(path)).replace(f"{path}/site", "/"))
    return services, user.id


def poll(services: AllServices) -> None:
    async def check_all() -> None:
        claimed = await asyncio.to_thread(services.polling.claims.claim, "worker", FEEDS)
        assert len(claimed) == FEEDS
        try:
            await asyncio.gather(*(services.polling.claims.check(claim) for claim in claimed))
        finally:
            await services.disconnect()

    asyncio.run(check_all())


def test_feeds_of_one_site_share_one_request_for_its_icon(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    services, user_id = subscribed(database, database_url, tmp_path, site)
    site.serve("/", '<link rel="icon" href="/icon.svg">')
    site.serve("/icon.svg", ICON)

    poll(services)

    requested = Counter(seen.path for seen in site.requests)
    assert (requested["/"], requested["/icon.svg"], requested["/favicon.ico"]) == (1, 1, 0)
    with database.reading() as db:
        icons = {feed.icon_id for feed in feeds.list_all(db, user_id)}
    assert len(icons) == 1
    assert None not in icons


def test_a_hanging_icon_does_not_prevent_checks(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    services, user_id = subscribed(database, database_url, tmp_path, site)
    site.script("/", Hang())

    poll(services)

    with database.reading() as db:
        listed = feeds.list_all(db, user_id)
    assert [feed.parsing_error_count for feed in listed] == [0] * FEEDS
    assert all(feed.icon_checked_at and feed.icon_id is None for feed in listed)
