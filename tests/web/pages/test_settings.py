"""Settings pages of an account: settings, password and sessions, API keys."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.people import PASSWORD, Person, call
from support.publisher import Publisher
from support.running import RunningService
from support.visitors import Visitor
from tidings.domain.accounts.user_changes import CHOICES
from tidings.web.language import CATALOGUES
from tidings.web.setting_forms import ACCOUNT, APPEARANCE, CUSTOM, FILTERS, READING

FORMS = {form.path: form for form in (ACCOUNT, READING, APPEARANCE, FILTERS, CUSTOM)}


def sent(form_path: str, me: dict[str, Any]) -> dict[str, Any]:
    """The form as a browser sends it when nothing was touched."""
    names = [field.name for group in FORMS[form_path].groups for field in group.fields]
    return {name: 1 if me[name] is True else me[name] for name in names if me[name] is not False}


def test_every_setting_of_the_api_is_in_one_form(alice: Person) -> None:
    shown = [field.name for form in FORMS.values() for group in form.groups for field in group.fields]
    elsewhere = {"id", "is_admin", "last_login_at"}
    # There is no sign-in through other services, so that their ids would have no effect.
    elsewhere |= {"google_id", "openid_connect_id"}
    # It has a page of its own (test_shortcuts.py).
    elsewhere |= {"shortcuts"}

    assert sorted(shown) == sorted(set(alice.get("/v1/me")) - elsewhere)


@pytest.mark.parametrize("path", FORMS)
def test_saving_an_unchanged_form_changes_nothing(alice: Person, reader: Visitor, path: str) -> None:
    before = alice.get("/v1/me")
    reader.page("/view" if path == APPEARANCE.path else path)

    assert reader.post(path, **sent(path, before)).headers["location"] == path
    assert alice.get("/v1/me") == before


def test_a_setting_is_saved_and_shown(alice: Person, reader: Visitor) -> None:
    fields = sent("/settings/reading", alice.get("/v1/me")) | {"entries_per_page": " 25 ", "media_playback_rate": "1,5"}
    del fields["mark_read_on_view"]
    page = reader.follow(reader.post("/settings/reading", **fields))

    me = alice.get("/v1/me")
    assert (me["entries_per_page"], me["media_playback_rate"], me["mark_read_on_view"]) == (25, 1.5, False)
    assert 'value="25"' in page
    assert "Saved." in page


@pytest.mark.parametrize(
    ("path", "field", "value", "message"),
    [
        ("/settings", "username", "a b", "letters, digits"),
        ("/settings", "timezone", "Moon/Crater", "is not known"),
        ("/settings", "language", "xx_XX", "is not one of"),
        ("/settings/reading", "entries_per_page", "many", "Type a whole number."),
        ("/settings/reading", "entries_per_page", "0", "Give a number from 1 to"),
        ("/settings/reading", "entries_per_page", "9" * 400, "Give a number from 1 to"),
        ("/settings/reading", "media_playback_rate", "nan", "Type a number"),
        ("/settings/filters", "block_filter_entry_rules", "EntryTitle=(", "never closed"),
        ("/settings/filters", "keep_filter_entry_rules", "EntryDate=soon", "A date rule is one of"),
        ("/settings/custom", "external_font_hosts", "https://x/", "is not a domain"),
    ],
)
def test_an_error_is_shown_next_to_its_field_and_the_input_is_kept(
    alice: Person, reader: Visitor, path: str, field: str, value: str, message: str
) -> None:
    before = alice.get("/v1/me")
    reader.page(path)
    answer = reader.post(path, **sent(path, before) | {field: value})

    page = answer.body.decode()
    assert answer.status == 400
    assert message in re.search(rf'id="error-{field}">([^<]*)<', page)[1]  # type: ignore[index]
    assert value in page
    assert alice.get("/v1/me") == before


def test_stored_filters_that_never_match_are_shown_and_hinder_nothing(alice: Person, reader: Visitor) -> None:
    rules = "EntryTitle=a\nEntryDate=soon"
    stored = alice.put(f"/v1/users/{alice.id}", {"keep_filter_entry_rules": rules}, status=201)
    assert stored["keep_filter_entry_rules"] == rules

    page = reader.page("/settings/filters")

    assert re.search(r'id="keep-error-2">A date rule is one of', page)
    sent_rules = rules.replace("\n", "\r\n")
    answer = reader.post(
        "/settings/filters", block_filter_entry_rules="EntryTitle=b", keep_filter_entry_rules=sent_rules
    )
    assert answer.status == 303
    assert alice.get("/v1/me")["block_filter_entry_rules"] == "EntryTitle=b"


def test_rows_build_filters(alice: Person, reader: Visitor, site: Publisher) -> None:
    """Without scripts: a row more, a look at what it matches, saved as rules, and shown as rows and as text."""
    alice.has_feed(site, ["Buy (now)", "Rain", "Buy later"])
    path = "/settings/filters"
    reader.page(path)
    rows = {
        "block_mode": "rows",
        "block_field": ["EntryTitle", "EntryDate"],
        "block_how": ["begins", "future"],
        "block_value": ["buy (", ""],
        "keep_mode": "text",
        "keep_filter_entry_rules": "EntryTitle=.",
    }
    page = reader.post(f"{path}/try", rows | {"edit": "block-preview"}).body.decode()
    assert "1 of the newest 3 entries matches" in page
    assert ">Buy (now)</a>" in page
    page = reader.post(f"{path}/try", rows | {"edit": "block-add"}).body.decode()
    assert 'id="block-value-3"' in page
    gap = {"block_field": ["EntryTitle"] * 2, "block_how": ["has"] * 2, "block_value": ["a", " "]}
    page = reader.post(path, rows | gap).body.decode()
    assert 'id="block-error-2">Say what to look for.' in page

    assert reader.post(path, rows).status == 303
    me = alice.get("/v1/me")
    assert me["block_filter_entry_rules"] == "EntryTitle=(?i)^buy \\(\nEntryDate=future"
    assert me["keep_filter_entry_rules"] == "EntryTitle=."
    page = reader.page(path)
    assert 'value="buy ("' in page
    page = reader.post(f"{path}/try", rows | {"edit": "block-text"}).body.decode()
    assert "EntryTitle=(?i)^buy \\(\nEntryDate=future</textarea>" in page


def test_a_wrong_filter_is_told_at_its_row(alice: Person, reader: Visitor) -> None:
    reader.page("/settings/filters")
    rows = {"block_mode": "rows", "block_field": ["EntryTitle"], "block_how": ["matches"], "block_value": ["(buy"]}
    answer = reader.post("/settings/filters", rows)

    assert answer.status == 400
    assert re.search(r'id="block-error-1">[^<]*never closed', answer.body.decode())
    assert 'value="(buy"' in answer.body.decode()
    assert alice.get("/v1/me")["block_filter_entry_rules"] == ""


def test_the_order_of_lists_is_on_the_page_of_their_appearance(alice: Person, reader: Visitor) -> None:
    """Where the last line of the menu of a list leads."""
    alice.put(f"/v1/users/{alice.id}", {"entry_sorting_direction": "asc"}, status=201)
    assert re.search(r'name="entry_sorting_direction" value="asc" checked', reader.page("/view"))

    order = {"entry_sorting_direction": "desc", "entry_sorting_order": "created_at"}
    answer = reader.post("/settings/appearance", sent("/settings/appearance", alice.get("/v1/me")) | order)

    assert answer.status == 303
    me = alice.get("/v1/me")
    assert {name: me[name] for name in order} == order
    assert re.search(r'name="entry_sorting_direction" value="desc" checked', reader.page("/view"))


def test_each_language_with_a_catalogue_is_offered_by_its_own_name(reader: Visitor) -> None:
    page = reader.page("/settings")

    field = page[page.index('id="field-language"') :].partition("</select>")[0]
    assert set(re.findall(r'value="(\w+)"', field)) == {"en_US", *CATALOGUES} <= set(CHOICES["language"])
    assert re.findall(r">([^<]+)</option>", field) == [
        *("Čeština", "Deutsch", "English", "Español", "Français", "Galego", "Indonesia", "Italiano"),
        *("Nederlands", "Polski", "Português (Brasil)", "Română", "Suomi", "Türkçe", "Ελληνικά", "Русский"),
        *("Українська", "עברית", "العربية", "हिन्दी", "中文 (简体, 中国)", "中文 (繁體, 台灣)", "日本語", "한국어"),
    ]


def test_a_language_without_a_catalogue_stays_as_an_app_set_it(alice: Person, reader: Visitor) -> None:
    alice.put(f"/v1/users/{alice.id}", {"language": "nan_Latn_pehoeji"}, status=201)
    page = reader.page("/settings")
    reader.post("/settings", **sent("/settings", alice.get("/v1/me")))

    assert '<html lang="en"' in page
    assert alice.get("/v1/me")["language"] == "nan_Latn_pehoeji"


def test_a_new_password_ends_the_sessions_of_other_browsers(
    service: RunningService, alice: Person, reader: Visitor
) -> None:
    phone = Visitor(service, alice)
    phone.sign_in()
    reader.page("/settings/security")
    answer = reader.post("/settings/security", current=PASSWORD, password="another horse", repeated="another horse")

    assert "Password changed." in reader.follow(answer)
    assert phone.get("/unread").headers["location"].startswith("/sign-in")
    assert Visitor(service, alice).sign_in(password="another horse").status == 303


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"current": "wrong", "password": "another horse", "repeated": "another horse"}, "current"),
        ({"password": "another horse", "repeated": "another horse"}, "current"),
        ({"current": PASSWORD, "password": "short", "repeated": "short"}, "password"),
        ({"current": PASSWORD, "password": "another horse", "repeated": "another house"}, "repeated"),
    ],
)
def test_changing_the_password_requires_the_current_one(reader: Visitor, given: dict[str, Any], field: str) -> None:
    reader.page("/settings/security")
    answer = reader.post("/settings/security", **given)

    assert answer.status == 400
    assert f'id="error-{field}"' in answer.body.decode()
    assert "horse" not in answer.body.decode()


@pytest.mark.slow
def test_sessions_are_listed_and_ended(service: RunningService, alice: Person, bob: Person, reader: Visitor) -> None:
    phone, tablet, stranger = Visitor(service, alice), Visitor(service, alice), Visitor(service, bob)
    phone.sign_in()
    stranger.sign_in()
    ids = re.findall(r"/settings/sessions/(\d+)/end", phone.page("/settings/security"))
    assert len(ids) == 2

    stranger.page("/settings/security")
    assert stranger.post(f"/settings/sessions/{ids[0]}/end").status == 404
    reader.page("/settings/security")
    newest = max(ids, key=int)
    assert reader.post(f"/settings/sessions/{newest}/end").status == 303
    assert phone.get("/unread").status == 303
    tablet.sign_in()
    reader.page("/settings/security")
    assert "1 browser is signed out" in reader.follow(reader.post("/settings/sessions/end-others"))
    assert tablet.get("/unread").status == 303
    assert stranger.get("/unread").status == 200


def test_ending_the_session_of_this_browser_signs_out(reader: Visitor) -> None:
    (own,) = re.findall(r"/settings/sessions/(\d+)/end", reader.page("/settings/security"))
    answer = reader.post(f"/settings/sessions/{own}/end")

    assert answer.headers["location"] == "/sign-in"
    assert answer.headers["clear-site-data"] == '"cache"'
    assert reader.get("/unread").headers["location"].startswith("/sign-in")


def test_an_api_key_is_shown_once_and_works(service: RunningService, reader: Visitor, alice: Person) -> None:
    reader.page("/settings/api-keys")
    page = reader.post("/settings/api-keys", description="My <phone>").body.decode()
    token = re.search(r'id="new-key">([0-9a-f]+)<', page)[1]  # type: ignore[index]

    assert call(service.url, "GET", "/v1/me", headers={"X-Auth-Token": token}).json()["id"] == alice.id
    later = reader.page("/settings/api-keys")
    assert token not in later
    assert "My &lt;phone&gt;" in later
    assert "last used" in later


def test_an_api_password_is_shown_once_and_its_name_stays(reader: Visitor, alice: Person) -> None:
    reader.page("/settings/api-passwords")
    page = reader.post("/settings/api-passwords", name="My <phone>").body.decode()
    password = re.search(r'id="new-password">([a-z0-9-]+)<', page)[1]  # type: ignore[index]

    assert alice.user.username in page
    later = reader.page("/settings/api-passwords")
    assert password not in later
    assert "My &lt;phone&gt;" in later
    assert "never used" in later
    assert "MD5" in later


def test_an_api_password_needs_a_unique_name(reader: Visitor) -> None:
    reader.page("/settings/api-passwords")
    assert 'id="error-name"' in reader.post("/settings/api-passwords", name=" ").body.decode()

    reader.post("/settings/api-passwords", name="phone")
    second = reader.post("/settings/api-passwords", name="Phone")
    assert second.status == 400
    assert "You already have a password" in second.body.decode()


def test_an_api_password_is_deleted_by_its_owner_only(
    service: RunningService, reader: Visitor, alice: Person, bob: Person
) -> None:
    number = alice.post("/v1/api-passwords", {"name": "lost"})["id"]
    stranger = Visitor(service, bob)
    stranger.sign_in()
    assert stranger.post(f"/settings/api-passwords/{number}/delete").status == 404
    assert len(alice.get("/v1/api-passwords")) == 1

    reader.page("/settings/api-passwords")
    assert reader.post(f"/settings/api-passwords/{number}/delete").status == 303
    assert alice.get("/v1/api-passwords") == []


def test_an_api_key_needs_a_unique_description(reader: Visitor) -> None:
    reader.page("/settings/api-keys")
    assert 'id="error-description"' in reader.post("/settings/api-keys", description=" ").body.decode()

    reader.post("/settings/api-keys", description="phone")
    second = reader.post("/settings/api-keys", description="Phone")
    assert second.status == 400
    assert "You already have a key" in second.body.decode()


def test_a_deleted_key_is_refused(service: RunningService, reader: Visitor, bob: Person) -> None:
    reader.page("/settings/api-keys")
    page = reader.post("/settings/api-keys", description="lost").body.decode()
    token = re.search(r'id="new-key">([0-9a-f]+)<', page)[1]  # type: ignore[index]
    key = max(map(int, re.findall(r"/settings/api-keys/(\d+)/delete", page)))
    stranger = Visitor(service, bob)
    stranger.sign_in()
    assert stranger.post(f"/settings/api-keys/{key}/delete").status == 404

    assert reader.post(f"/settings/api-keys/{key}/delete").status == 303
    assert call(service.url, "GET", "/v1/me", headers={"X-Auth-Token": token}).status == 401
