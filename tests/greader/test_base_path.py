"""Below a base path, as behind a proxy that gives the service a part of a site."""

from __future__ import annotations

from pathlib import Path

import pytest

from greader.apps import MOUNTS, App
from support.databases import Databases
from support.people import Cast, call
from support.running import environment_for, running

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("mount", MOUNTS, ids=["root", "freshrss"])
def test_the_api_is_below_the_base_path(databases: Databases, tmp_path: Path, mount: str) -> None:
    with databases.migrated() as url:
        environment = environment_for(url, tmp_path, base_url="http://localhost/reader/")
        with running("web", environment, tmp_path) as service:
            service.url += "/reader"
            service.wait_until_ready()
            alice = Cast(service).person("alice")
            app = App(alice, f"/reader{mount}").sign_in()

            assert app.get("user-info")["userName"] == alice.user.username
            # As a proxy sends it that removes the base path.
            assert call(service.url, "GET", f"{mount}/reader/api/0/token").status == 401
            assert call(service.url, "GET", "/reader/api/greader.php").body == b"OK"
            path = "stream/contents/feed/http://example.org//a/./b"
            assert app.call("GET", path).body == b"There is no such feed."
