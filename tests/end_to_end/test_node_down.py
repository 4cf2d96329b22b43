"""One server of a distributed database is down: its users get errors, others go on, and it comes back by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from cli.commands import Tidings, error_line, eventually
from support import distributed
from support.databases import Databases
from support.distributed import DistributedDatabases
from support.people import Cast, Person, call, rss
from support.publisher import Publisher
from support.relay import Relay
from support.running import RunningService, environment_for, running, running_service

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not distributed.server(), reason=f"{distributed.VARIABLE} is not set"),
]

# Entries whose text is shorter are stored with each user.
LONG = " ".join(["while down"] * 30)
_PORT_OF_USER = """
    SELECT nodeport FROM pg_dist_shard_placement
    WHERE shardid = get_shard_id_for_distribution_column('feeds', %s)
"""


@pytest.fixture(scope="module")
def relayed(databases: Databases) -> Iterator[tuple[str, list[Relay]]]:
    if not isinstance(databases, DistributedDatabases):
        pytest.skip("SQLite is not distributed")
    with databases.with_relays() as (url, relays):
        yield url, relays


@pytest.fixture(scope="module")
def service(relayed: tuple[str, list[Relay]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(relayed[0], tmp_path_factory.mktemp("service")) as running:
        yield running


def ready_text(service: RunningService) -> str:
    answer = call(service.url, "GET", "/readyz")
    assert answer.status == 200, "web hosts stay in use: users on other servers are served"
    return answer.body.decode()


def test_users_on_other_servers_go_on_and_nothing_is_lost(
    service: RunningService, relayed: tuple[str, list[Relay]], tmp_path: Path
) -> None:
    url, relays = relayed
    cast = Cast(service)
    down = relays[0]
    lost, kept = people_on(cast, url, down.port)
    for person in (lost, kept):
        person.post("/v1/categories", {"title": "before"}, status=201)

    down.cut()

    for _ in range(3):
        answer = lost.call("GET", "/v1/categories")
        assert (answer.status, int(answer.headers["retry-after"]) > 0) == (503, True)
        assert lost.call("POST", "/v1/categories", {"title": "while down"}).status == 503
    kept.post("/v1/categories", {"title": "while down"}, status=201)
    for path in ("/v1/entries", "/v1/feeds", "/v1/feeds/counters", "/v1/labels", "/v1/me", "/v1/sync"):
        kept.get(path)
    name = f"127.0.0.1:{down.port}"
    assert eventually(lambda: name in ready_text(service))
    tidings = Tidings(tmp_path, {"DATABASE_URL": url})
    assert f"These servers of the database do not answer: {name};" in error_line(tidings("status"), 1)

    down.mend()

    assert eventually(lambda: lost.call("GET", "/v1/categories").status == 200)
    assert eventually(lambda: ready_text(service) == "OK")
    for person, wanted in ((lost, ["before"]), (kept, ["before", "while down"])):
        assert [one["title"] for one in person.get("/v1/categories")][1:] == wanted
    assert tidings("status").returncode == 0


def test_feeds_of_users_on_other_servers_are_checked(
    relayed: tuple[str, list[Relay]], site: Publisher, tmp_path: Path
) -> None:
    url, relays = relayed
    environment = environment_for(url, tmp_path)
    with running("serve", environment, tmp_path) as service:
        service.wait_until_ready()
        down = relays[0]
        lost, kept = people_on(Cast(service), url, down.port)
        address = site.serve("/shared.xml", rss(["before"], site.url("/shared.xml")))
        for person in (lost, kept):
            person.post("/v1/feeds", {"feed_url": address})
        lost.has_feed(site, ["theirs"])
        own = kept.has_feed(site, ["own, before"])

        down.cut()

        site.serve("/shared.xml", rss([LONG, "before"], address))
        site.serve(urlsplit(own["feed_url"]).path, rss(["own, while down", "own, before"], own["feed_url"]))
        make_due(url)
        assert eventually(lambda: {LONG, "own, while down"} <= titles(kept))
        later = kept.has_feed(site, ["subscribed while down"])
        assert "subscribed while down" in titles(kept)
        kept.delete(f"/v1/feeds/{later['id']}")

        down.mend()

        assert eventually(lambda: lost.call("GET", "/v1/feeds").status == 200)
        make_due(url)
        assert eventually(lambda: {LONG, "before", "theirs"} <= titles(lost))
        for person in (lost, kept):
            assert len(person.entries(limit=100)) == len(titles(person)), "none is stored twice"


def make_due(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE sources SET next_check_at = 0")


def titles(person: Person) -> set[str]:
    return {entry["title"] for entry in person.entries(limit=100)}


def people_on(cast: Cast, url: str, port: int) -> tuple[Person, Person]:
    """Return a user whose rows are on the server behind this port, and one whose rows are on another one."""
    found: dict[bool, Person] = {}
    with psycopg.connect(url) as connection:
        while len(found) < 2:
            person = cast.person("reader")
            row = connection.execute(_PORT_OF_USER, (person.id,)).fetchone()
            assert row
            found.setdefault(row[0] == port, person)
    return found[True], found[False]
