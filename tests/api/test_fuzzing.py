"""Requests generated from the OpenAPI document: some in every test run, many by `make fuzz`.

Every process of a run imports this file; what generates requests takes half a second to import, in the tests alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.databases import Databases
from support.people import Cast, Person
from support.publisher import Publisher
from support.running import RunningService, running_service

pytestmark = pytest.mark.slow

# The default of --fuzz-requests. Each operation then gets valid requests on one engine, and invalid ones on the other.
FEWEST = 40
# What there are requests for in each operation takes long to work out: four operations are enough to find each mistake.
READ_PATHS = ("/v1/feeds", "/v1/feeds/{feed_id}", "/v1/categories", "/v1/entries")


def test_every_response_to_a_generated_request_is_documented(
    databases: Databases,
    site: Publisher,
    tmp_path: Path,
    pytestconfig: pytest.Config,
    capsys: pytest.CaptureFixture[str],
    engine: str,
) -> None:
    from support.fuzzing import Fuzzer

    wanted, seed = pytestconfig.getoption("--fuzz-requests"), pytestconfig.getoption("--fuzz-seed")
    with (
        databases.migrated() as url,
        running_service(url, tmp_path, fetcher_allow_private_networks="0") as service,
    ):
        fuzzer = Fuzzer(Cast(service).person("ada", is_admin=True), site, seed=seed)
        fuzzer.run(wanted, half=(engine == "sqlite") if wanted == FEWEST else None)
        log = service.log

    with capsys.disabled():
        if seed:
            sys.stdout.write(f"\n{engine}: {fuzzer.report()}\n")
    assert fuzzer.count >= wanted
    assert not fuzzer.findings, fuzzer.report()
    assert "request failed" not in log, log


@pytest.mark.one_engine
def test_an_undocumented_response_is_found(service: RunningService, charlie: Person, site: Publisher) -> None:
    from support.fuzzing import Fuzzer, strict_document

    document = strict_document()
    document["paths"] = {path: {"get": document["paths"][path]["get"]} for path in READ_PATHS}
    del document["paths"]["/v1/feeds/{feed_id}"]["get"]["responses"]["400"]
    schemas = document["components"]["schemas"]
    del schemas["Feed"]["properties"]["icon"]
    # What is required counts as declared.
    schemas["Feed"]["required"].remove("icon")
    schemas["CountedCategory"]["properties"]["title"]["type"] = "integer"
    listing = document["paths"]["/v1/entries"]["get"]["responses"]["200"]
    listing["content"] = {"text/plain": listing["content"]["application/json"]}

    fuzzer = Fuzzer(charlie, site, seed=0, document=document)
    fuzzer.run(100)

    for operation, what in (
        ("get_feed", "Undocumented status code"),
        ("list_feeds", "violates schema"),
        ("list_categories", "violates schema"),
        ("list_entries", "Content-Type"),
    ):
        assert any(found.startswith(operation) and what in found for found in fuzzer.findings), fuzzer.report()
