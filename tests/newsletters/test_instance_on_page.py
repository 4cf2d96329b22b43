"""Administrators see on the page of newsletters how letters reach the instance, and what is wrong with that."""

from __future__ import annotations

import socket
from pathlib import Path

from support.people import Cast
from support.ports import free_port
from support.running import environment_for, running
from support.visitors import Visitor
from tidings.engine.database import Database
from tidings.newsletters.imap import claims_store
from tidings.newsletters.services import NewsletterServices
from tidings.settings import load
from tidings.wiring.services import build_services

PAGE = "/newsletters"
NOBODY = "Nobody answers there"


def test_administrators_see_how_letters_arrive(database: Database, database_url: str, tmp_path: Path) -> None:
    port = free_port()
    environment = environment_for(
        database_url,
        tmp_path,
        newsletters_address="news+{secret}@reader.example",
        newsletters_imap_url="imaps://news@mail.example.org/Letters",
        newsletters_imap_password="8c1f",
        newsletters_lmtp=f"127.0.0.1:{port}",
    )
    with running("web", environment, tmp_path) as service:
        service.wait_until_ready()
        cast = Cast(service)
        admin, ann = (
            Visitor(service, cast.person("charlie", is_admin=True)),
            Visitor(service, cast.person("alice")),
        )
        for one in (admin, ann):
            one.sign_in()

        assert "No worker has looked at the mailbox" in admin.page(PAGE)
        assert NOBODY in admin.page(PAGE)
        for text in ("This instance", "mail.example.org", str(port)):
            assert text not in ann.page(PAGE)

        build_services(database, load(environment, None)).of(NewsletterServices).mailboxes.prepare()
        with database.writing() as db:
            claims_store.change_shared(db, polled_at=1, next_poll_at=2**53, error="It is closed.", failures=3)
        with socket.create_server(("127.0.0.1", port)):
            page = admin.page(PAGE)

        assert "It is closed." in page
        assert "mail.example.org · Letters" in page
        assert "Next time in" in page
        assert NOBODY not in page
        assert "8c1f" not in page
        assert "It is closed." not in ann.page(PAGE)
