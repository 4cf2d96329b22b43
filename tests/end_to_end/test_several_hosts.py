"""Two hosts with `tidings web` and three with `tidings worker` over one PostgreSQL server, whose standby takes over."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.hosts import fail_over, person_on, several_hosts
from support.people import Person, rss
from support.publisher import Publisher
from support.replication import until

pytestmark = pytest.mark.slow

FEEDS = 6


def test_acknowledged_writes_and_polling_outlive_the_database_server(
    site: Publisher, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--without-postgresql"):
        pytest.skip("without PostgreSQL")
    with several_hosts(tmp_path) as hosts:
        people = person_on(hosts)
        import_and_wait(people, site, "before")

        failover = fail_over(hosts, people[1])

        assert failover.lost == set()
        import_and_wait(people, site, "after")
        assert all(service.process.poll() is None for service in (*hosts.web, *hosts.workers))


def import_and_wait(people: list[Person], site: Publisher, title: str) -> None:
    """Import new feeds on one host; workers fetch them, and each web host shows their entries."""
    urls = [site.url(f"/{title}-{number}.xml") for number in range(FEEDS)]
    for url in urls:
        site.serve(url.removeprefix(site.url("")), rss([title], url))
    outlines = "".join(f'<outline xmlUrl="{url}"/>' for url in urls)
    opml = f'<opml version="2.0"><body>{outlines}</body></opml>'
    with people[0].client() as client:
        client.import_feeds(opml.encode())
    until(lambda: all(has_new_entries(person, title) for person in people))


def has_new_entries(person: Person, title: str) -> bool:
    found = [entry for entry in person.entries(limit=100) if entry["title"] == title]
    return len(found) == FEEDS
