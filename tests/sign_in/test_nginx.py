"""The configuration for nginx in docs/sign-in.md, with a sign-in service that knows its users by a cookie."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from sign_in.conftest import username_of
from support.databases import Databases
from support.people import Cast, call
from support.ports import free_port
from support.running import RunningService, running_service

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

DOCS = Path(__file__).parents[2] / "docs" / "sign-in.md"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
FRAME = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
{server}
}}
"""


class SignInService(BaseHTTPRequestHandler):
    """Lets in who has a cookie with a name."""

    def do_GET(self) -> None:
        found = re.search(r"at_proxy=([\w-]+)", self.headers.get("Cookie", ""))
        self.send_response(200 if found else 401)
        if found:
            self.send_header("Remote-User", found[1])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def front(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, RunningService]]:
    """The address of nginx, and the service behind it."""
    if NGINX is None:
        pytest.skip("nginx is not on this machine (Debian: apt-get install nginx)")
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    settings = {
        "auth_proxy_header": "Remote-User",
        "auth_proxy_user_creation": "1",
        "base_url": f"http://127.0.0.1:{port}",
    }
    authority = ThreadingHTTPServer(("127.0.0.1", 0), SignInService)
    Thread(target=authority.serve_forever, daemon=True).start()
    with databases.migrated() as url, running_service(url, folder, **settings) as service:
        server = re.sub(
            r"^    ", "", re.findall(r"### nginx\n\n((?:    .*\n|\n)+)", DOCS.read_text())[0], flags=re.MULTILINE
        )
        server = server.replace("server_name reader.example.org;", f"listen 127.0.0.1:{port};")
        server = server.replace("127.0.0.1:8080", service.url.removeprefix("http://"))
        server = server.replace("127.0.0.1:9091", f"127.0.0.1:{authority.server_port}")
        configuration = folder / "nginx.conf"
        configuration.write_text(FRAME.format(folder=folder, server=server))
        process = subprocess.Popen([NGINX, "-c", configuration, "-p", folder], stdin=subprocess.DEVNULL)
        try:
            _wait_for(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}", service
        finally:
            process.terminate()
            process.wait(30)
            authority.shutdown()
            authority.server_close()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, "nginx ended"
        try:
            call(url, "GET", "/static/x/y")
        except OSError:
            process_wait(process)
        else:
            return
    raise AssertionError("nginx does not answer")


def process_wait(process: subprocess.Popen[bytes]) -> None:
    """Wait a moment, or until the process ends."""
    try:
        process.wait(0.1)
    except subprocess.TimeoutExpired:
        return


def test_who_has_signed_in_at_the_proxy_is_signed_in(front: tuple[str, RunningService]) -> None:
    url, _service = front

    assert username_of(call(url, "GET", "/settings", headers={"Cookie": "at_proxy=rosalind"})) == "rosalind"


def test_who_has_not_is_sent_to_the_sign_in_service(front: tuple[str, RunningService]) -> None:
    url, _service = front
    answer = call(url, "GET", "/settings", headers={"Remote-User": "rosalind"})

    assert answer.status == 302
    assert answer.headers["location"].startswith("https://auth.example.org/")


def test_a_forged_header_is_replaced(front: tuple[str, RunningService]) -> None:
    url, service = front
    alice = Cast(service).person("alice")
    forged = {"Remote-User": alice.user.username, "Remote_User": alice.user.username}

    assert username_of(call(url, "GET", "/settings", headers={"Cookie": "at_proxy=barbara", **forged})) == "barbara"
    assert call(url, "GET", "/v1/me", headers=forged).status == 401


def test_apps_pass_with_their_own_credentials(front: tuple[str, RunningService]) -> None:
    url, service = front
    alice = Cast(service).person("alice")

    assert call(url, "GET", "/v1/me", headers={"X-Auth-Token": alice.token}).status == 200
