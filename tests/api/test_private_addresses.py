"""An instance that connects to public addresses only, which is the default."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.databases import Databases
from support.people import Cast, Person
from support.publisher import Publisher
from support.running import running_service
from tidings.storage.feeds import feeds

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]


@pytest.fixture(scope="module")
def guarded(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cast]:
    folder = tmp_path_factory.mktemp("guarded")
    closed = {"fetcher_allow_private_networks": "0", "integration_allow_private_networks": "0"}
    with databases.migrated() as url, running_service(url, folder, **closed) as service:
        yield Cast(service)


@pytest.mark.slow
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "10.1.2.3", "169.254.169.254"]
)
def test_a_feed_on_a_private_address_is_500_without_a_request(guarded: Cast, site: Publisher, host: str) -> None:
    alice = guarded.person("alice")
    url = site.url("/feed.xml").replace("127.0.0.1", host)

    answer = alice.call("POST", "/v1/feeds", {"feed_url": url})

    assert answer.status == 500
    assert "TIDINGS_FETCHER_ALLOW_PRIVATE_NETWORKS" in answer.error
    assert site.requests == []
    assert alice.get("/v1/feeds") == []


def test_the_error_is_recorded_on_a_feed_that_moved_there(guarded: Cast, site: Publisher) -> None:
    alice: Person = guarded.person("alice")
    category = alice.get("/v1/categories")[0]["id"]
    with alice.service.services.database.writing() as db:
        feed_id = feeds.add(
            db, alice.id, category_id=category, feed_url=site.url("/feed.xml"), title="Moved",
            created_at=0, checked_at=0, next_check_at=0,
        )  # fmt: skip

    assert alice.call("PUT", f"/v1/feeds/{feed_id}/refresh").status == 500

    feed = alice.get(f"/v1/feeds/{feed_id}")
    assert feed["parsing_error_count"] == 1
    assert "private" in feed["parsing_error_message"]
    assert feed["next_check_at"] > feed["checked_at"]
    assert site.requests == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "10.1.2.3"])
def test_a_webhook_on_a_private_address_is_refused_when_it_is_set(guarded: Cast, host: str) -> None:
    alice = guarded.person("alice")
    category = alice.get("/v1/categories")[0]["id"]
    with alice.service.services.database.writing() as db:
        feed_id = feeds.add(
            db, alice.id, category_id=category, feed_url="https://example.org/", title="A feed",
            created_at=0, checked_at=0, next_check_at=0,
        )  # fmt: skip
    url = f"http://{host}/hook"

    for path, body in (
        ("/v1/integrations", {"webhook": {"enabled": True, "url": url}}),
        (f"/v1/feeds/{feed_id}", {"webhook_url": url}),
    ):
        answer = alice.call("PUT", path, body)
        assert answer.status == 400
        assert "TIDINGS_INTEGRATION_ALLOW_PRIVATE_NETWORKS" in answer.error
