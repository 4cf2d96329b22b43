"""A real RSS-Bridge answers as ours does in the other tests. TIDINGS_TEST_RSSBRIDGE_URL names one, all bridges enabled.

php -S 127.0.0.1:8081 index.php                  in a copy of RSS-Bridge
TIDINGS_TEST_RSSBRIDGE_URL=http://127.0.0.1:8081 make test ARGS="-k real_rss_bridge"
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bridges.bridged import NO_FEED, SITE, BridgedService
from support.publisher import Publisher
from tidings.base.errors import NotFound
from tidings.engine.database import Database

ADDRESS = os.environ.get("TIDINGS_TEST_RSSBRIDGE_URL", "")
PAGE = "http://www.instagram.com/nasa"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ADDRESS, reason="TIDINGS_TEST_RSSBRIDGE_URL names no RSS-Bridge"),
]


@pytest.mark.parametrize("is_own", [False, True])
def test_what_it_makes_of_a_page_is_found(database: Database, tmp_path: Path, site: Publisher, *, is_own: bool) -> None:
    settings = {"fetcher_allow_private_networks": "1"} if is_own else {"rssbridge_url": ADDRESS}
    service = BridgedService(database, tmp_path, http_client_proxy=site.origin, **settings)
    if is_own:
        service.set_up(rssbridge_url=ADDRESS)
    for page in (PAGE, f"{SITE}/nothing"):
        site.serve(page, NO_FEED)

    found = dict(service.discover(PAGE))

    url = found["Instagram (RSS-Bridge)"]
    assert url.startswith(f"{ADDRESS}/?action=display&")
    assert "bridge=InstagramBridge" in url
    with pytest.raises(NotFound) as caught:
        service.discover(f"{SITE}/nothing")
    assert "RSS-Bridge" not in caught.value.message
