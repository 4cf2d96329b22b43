"""Errors are shown in the language of the user; the API and the database keep English."""

from __future__ import annotations

import html
from urllib.parse import urlsplit

import pytest
from sqlalchemy import update

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.base.errors import InvalidField, InvalidInput
from tidings.base.messages import Message, encode_message, join_sentences, msg, verbatim
from tidings.deliveries.events import GIVEN_UP_TOGETHER, error_columns
from tidings.deliveries.tables import integrations
from tidings.storage.schema import feeds
from tidings.web.field_errors import field_error
from tidings.wiring.services import AllServices
from web.pages.test_opml import opml, upload
from web.pages.test_settings import sent

pytestmark = pytest.mark.slow

GONE = "Check the address, or look for a new one on the site."


def set_language(person: Person, language: str) -> None:
    person.put(f"/v1/users/{person.user.id}", {"language": language}, status=201)


def failing_feed(alice: Person, site: Publisher) -> int:
    feed: int = alice.has_feed(site)["id"]
    site.serve(urlsplit(alice.get(f"/v1/feeds/{feed}")["feed_url"]).path, status=404)
    alice.call("PUT", f"/v1/feeds/{feed}/refresh")
    return feed


def set_error(services: AllServices, feed_id: int, error: Message | str) -> None:
    text = error if isinstance(error, str) else error.english()
    form = "" if isinstance(error, str) else encode_message(error, text)
    with services.database.writing() as db:
        values = {"parsing_error_message": text, "parsing_error_form": form}
        db.run(update(feeds).where(feeds.c.id == feed_id).values(**values))


def test_the_error_of_a_feed_is_shown_in_the_language_of_the_user(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    feed = failing_feed(alice, site)
    set_language(alice, "de_DE")

    for page in (reader.page("/feeds"), reader.page(f"/feeds/{feed}/edit")):
        assert "hat nichts unter dieser Adresse (404). Prüfe die Adresse oder suche auf der Website" in page
        assert GONE not in page

    assert GONE in alice.get(f"/v1/feeds/{feed}")["parsing_error_message"]
    reader.get("/feeds")
    notice = reader.follow(reader.post(f"/feeds/{feed}/refresh"))
    assert notice.count("hat nichts unter dieser Adresse (404)") == 2


def test_an_error_of_an_older_version_stays_and_is_escaped(
    reader: Visitor, alice: Person, site: Publisher, services: AllServices
) -> None:
    feed = failing_feed(alice, site)
    set_error(services, feed, "An older version said <b>100 %</b> this.")
    set_language(alice, "fr_FR")

    assert "An older version said &lt;b&gt;100 %&lt;/b&gt; this." in reader.page("/feeds")


@pytest.mark.parametrize("host", ["<script>alert(1)</script>", "{host}", "%s %(host)s 100 %", "{{host}}"])
def test_values_are_not_translated(
    reader: Visitor, alice: Person, site: Publisher, services: AllServices, host: str
) -> None:
    feed = failing_feed(alice, site)
    fault = msg("{host} has an internal error (500). The publisher has to fix this; try again later.", host=host)
    set_error(services, feed, fault)
    set_language(alice, "es_ES")

    assert f"{html.escape(host)} tiene un error interno (500)." in reader.page("/feeds")
    assert alice.get(f"/v1/feeds/{feed}")["parsing_error_message"] == fault.english()


def test_an_error_without_a_template_is_shown_in_english(
    reader: Visitor, alice: Person, site: Publisher, services: AllServices
) -> None:
    """Such as an older version that still runs while the database is new already."""
    feed = failing_feed(alice, site)
    with services.database.writing() as db:
        db.run(update(feeds).where(feeds.c.id == feed).values(parsing_error_message="Something else is wrong."))
    set_language(alice, "de_DE")

    assert "Something else is wrong." in reader.page("/feeds")


def test_a_field_error_is_shown_in_french(reader: Visitor, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)["id"]
    set_language(alice, "fr_FR")
    form = {"title": "T", "feed_url": "nowhere", "site_url": "https://example.org", "rewrite_rules": "no_such_rule"}
    reader.get(f"/feeds/{feed}/edit")

    wrong_rule = html.unescape(reader.post(f"/feeds/{feed}/edit", form).body.decode())
    wrong_address = html.unescape(reader.post(f"/feeds/{feed}/edit", form | {"rewrite_rules": ""}).body.decode())

    assert "Règle 1\xa0: Il n’y a pas de règle de réécriture 'no_such_rule'." in wrong_rule
    assert "Indiquez une adresse complète qui commence par http:// ou https://." in wrong_address
    message = alice.put(f"/v1/feeds/{feed}", {"feed_url": "nowhere"}, status=400)["error_message"]
    assert message == "feed_url: give a complete address that begins with http:// or https://."


def test_an_error_in_a_number_is_shown_in_german(reader: Visitor, alice: Person) -> None:
    set_language(alice, "de_DE")
    reader.get("/settings/reading")

    typed = sent("/settings/reading", alice.get("/v1/me")) | {"entries_per_page": "5000"}
    page = html.unescape(reader.post("/settings/reading", typed).body.decode())

    assert "Gib eine Zahl von 1 bis 1.000 an." in page


def test_an_import_problem_is_shown_in_chinese(reader: Visitor, alice: Person) -> None:
    set_language(alice, "zh_CN")
    reader.get("/feeds/import")

    answer = upload(
        reader,
        opml(
            '<outline text="Bad" xmlUrl="nowhere"/>',
            '<outline text="Odd" xmlUrl="https://example.org/odd" crawler="perhaps"/>',
        ),
    )
    page = html.unescape(answer.body.decode())

    assert "xmlUrl: 请提供以 http:// 或 https:// 开头的完整地址。" in page
    assert "已忽略 crawler：'perhaps' 既不是 true 也不是 false。" in page
    assert "文档为空" in html.unescape(upload(reader, b" ").body.decode())


def test_the_last_error_of_a_service_is_shown_in_spanish(reader: Visitor, alice: Person, services: AllServices) -> None:
    alice.put(
        "/v1/integrations", {"linkding": {"url": "https://l.example.org", "token": "x", "enabled": True}}, status=201
    )
    with services.database.writing() as db:
        error = join_sentences(msg("{title} has an internal error (500).", title="Linkding"), GIVEN_UP_TOGETHER)
        values = error_columns(error)
        db.run(update(integrations).where(integrations.c.user_id == alice.user.id).values(**values))
    set_language(alice, "es_ES")

    for path in ("/settings/integrations", "/settings/integrations/linkding"):
        assert "Linkding tiene un error interno (500). Nada llegó a este destinatario" in reader.page(path)

    assert alice.get("/v1/integrations")["linkding"]["last_error"] == error.english()


@pytest.mark.parametrize(
    ("accepted", "message"),
    [
        ("de-DE,de;q=0.9", "Benutzername oder Passwort ist falsch."),
        ("zh-CN", "用户名或密码不正确。"),
        ("eo", "The username or the password is wrong."),
    ],
)
def test_without_a_session_errors_are_in_the_language_of_the_browser(
    visitor: Visitor, accepted: str, message: str
) -> None:
    visitor.get("/sign-in")

    answer = visitor.post("/sign-in", username="nobody", password="wrong", headers={"Accept-Language": accepted})

    assert message in answer.body.decode()


def test_an_error_page_is_in_the_language_of_the_user(reader: Visitor, alice: Person) -> None:
    set_language(alice, "de_DE")

    answer = reader.post("/view", {"font": "x" * 2**20})

    assert answer.status == 400
    assert "Diese Anfrage ist zu groß: höchstens 1 MiB." in answer.body.decode()


def test_a_form_writes_a_name_as_its_owner_does() -> None:
    named = InvalidInput(msg("{username} is the only administrator: make another one first.", username="ada"))

    assert field_error(named).message == "ada is the only administrator: make another one first."
    assert field_error(InvalidField("limit", msg("give a whole number from 0 on."))).message[:4] == "Give"
    assert field_error(InvalidInput(verbatim("no answer"))).message == "No answer"
