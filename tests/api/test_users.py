"""Users."""

from __future__ import annotations

import base64
import secrets
from typing import Any
from urllib.parse import quote

import pytest

from support.people import HttpResponse, Person, basic, call
from support.publisher import Publisher
from tidings.base.text import sort_key
from tidings.domain.accounts.users import USER_SETTINGS

# Their values are in the reviewed schema.
DEFAULTS = {one.name: one.default for one in USER_SETTINGS} | {"last_login_at": None}


def new_name(beginning: str = "dora") -> str:
    return f"{beginning}-{secrets.token_hex(4)}"


def created_user(charlie: Person, **fields: Any) -> dict[str, Any]:
    user: dict[str, Any] = charlie.post("/v1/users", {"username": new_name(), "password": "secret", **fields})
    return user


def change(person: Person, **fields: Any) -> Any:
    return person.put(f"/v1/users/{person.id}", fields, status=201)


def refused(person: Person, **fields: Any) -> HttpResponse:
    answer = person.call("PUT", f"/v1/users/{person.id}", fields)
    assert answer.status == 400, (fields, answer.body)
    return answer


def with_password(person: Person, username: str, password: str) -> int:
    credentials = base64.b64encode(f"{username}:{password}".encode()).decode()
    return call(person.service.url, "GET", "/v1/me", None, {"Authorization": f"Basic {credentials}"}).status


# Making


def test_a_new_user_has_the_defaults(charlie: Person) -> None:
    name = new_name()

    user = charlie.post("/v1/users", {"username": name, "password": "secret", "is_admin": True, "theme": "dark_serif"})

    assert user == {
        "id": user["id"],
        "username": name,
        "is_admin": True,
        **DEFAULTS,
    }


def test_a_new_user_can_sign_in_and_has_a_category(charlie: Person) -> None:
    name = new_name()
    charlie.post("/v1/users", {"username": name, "password": "secret"})

    assert with_password(charlie, name, "secret") == 200
    assert with_password(charlie, name, "secret!") == 401


def test_a_new_user_is_no_administrator_by_default(charlie: Person) -> None:
    assert created_user(charlie)["is_admin"] is False
    assert created_user(charlie, is_admin=None)["is_admin"] is False


def test_a_username_is_kept_in_lower_case_and_compared_without_case(charlie: Person) -> None:
    name = new_name("Dora")

    assert charlie.post("/v1/users", {"username": name, "password": "secret"})["username"] == name.lower()
    answer = charlie.call("POST", "/v1/users", {"username": name.upper(), "password": "secret"})
    assert (answer.status, "username" in answer.error) == (400, True)


@pytest.mark.parametrize("letters", ["_-@.", "Ünïcode", "日本", "٣٤"])
def test_a_username_has_letters_and_digits_of_any_script(charlie: Person, letters: str) -> None:
    name = f"{letters}{secrets.token_hex(4)}"

    assert charlie.post("/v1/users", {"username": name, "password": "secret"})["username"] == name.lower()


def test_a_username_has_one_form_however_it_is_spelled(charlie: Person) -> None:
    name = new_name("dora")
    wide = name.replace("d", "\uff44", 1)

    assert charlie.post("/v1/users", {"username": wide, "password": "secret"})["username"] == name
    answer = call(charlie.service.url, "GET", "/v1/me", headers=basic(wide, "secret"))
    assert answer.json()["username"] == name


@pytest.mark.one_engine
@pytest.mark.parametrize("name", ["p\u0430ypal", "alic\u0435", "\u03bfwner"], ids=ascii)
def test_a_username_of_letters_that_look_like_others_is_400(charlie: Person, name: str) -> None:
    answer = charlie.call("POST", "/v1/users", {"username": name, "password": "secret"})

    assert (answer.status, "one script" in answer.error) == (400, True)


@pytest.mark.one_engine
@pytest.mark.parametrize("name", [None, "", " ", "two words", "a/b", "a+b", "a:b", " dora", "x" * 256, "a\u0000b", 5])
def test_an_invalid_username_is_400(charlie: Person, name: object) -> None:
    answer = charlie.call("POST", "/v1/users", {"username": name, "password": "secret"})

    assert answer.status == 400
    assert "username" in answer.error


@pytest.mark.one_engine
@pytest.mark.parametrize("password", [None, "", "12345", "äöü", "x" * 1025, 123456, "pass\u0000word"])
def test_an_invalid_password_is_400(charlie: Person, password: object) -> None:
    answer = charlie.call("POST", "/v1/users", {"username": new_name(), "password": password})

    assert answer.status == 400
    assert "password" in answer.error


@pytest.mark.parametrize("password", ["äöüäöü", "p" * 73, "🔑" * 6])
def test_a_password_of_any_letters_and_bytes_works(charlie: Person, password: str) -> None:
    user = created_user(charlie, password=password)

    assert with_password(charlie, user["username"], password) == 200


@pytest.mark.parametrize("field", ["google_id", "openid_connect_id"])
def test_a_foreign_id_belongs_to_one_account(charlie: Person, field: str) -> None:
    taken = secrets.token_hex(8)
    owner = created_user(charlie, **{field: taken})
    assert owner[field] == taken

    answer = charlie.call("POST", "/v1/users", {"username": new_name(), "password": "secret", field: taken})
    assert (answer.status, field in answer.error) == (400, True)
    assert field in refused(charlie, **{field: taken}).error
    assert charlie.put(f"/v1/users/{owner['id']}", {field: taken}, status=201)[field] == taken
    assert charlie.put(f"/v1/users/{owner['id']}", {field: ""}, status=201)[field] == ""
    assert change(charlie, **{field: taken})[field] == taken


def test_only_an_administrator_can_create_users(alice: Person) -> None:
    assert alice.call("POST", "/v1/users", {"username": new_name(), "password": "secret"}).status == 403
    assert alice.call("POST", "/v1/users", raw=b"{broken").status == 403


# Finding


def test_users_are_listed_by_username_for_administrators(charlie: Person, alice: Person) -> None:
    found = charlie.get("/v1/users")

    names = [user["username"] for user in found]
    assert names == sorted(names, key=sort_key)
    assert {alice.user.username, charlie.user.username} <= set(names)
    assert set(found[0]) == {"id", "username", "is_admin", *DEFAULTS}
    assert alice.call("GET", "/v1/users").status == 403


def test_a_user_is_found_by_id_and_by_name_in_any_case(charlie: Person, alice: Person) -> None:
    by_id = charlie.get(f"/v1/users/{alice.id}")

    assert by_id["username"] == alice.user.username
    assert charlie.get(f"/v1/users/{alice.user.username}") == by_id
    assert charlie.get(f"/v1/users/{alice.user.username.upper()}") == by_id


def test_a_username_in_a_path_may_be_percent_encoded(charlie: Person) -> None:
    user = charlie.post("/v1/users", {"username": new_name("dörte@example.org"), "password": "secret"})

    assert charlie.get(f"/v1/users/{quote(user['username'], safe='')}") == user


def test_a_username_of_digits_is_found_if_no_user_has_that_id(charlie: Person) -> None:
    number = str(2_000_000_000 + secrets.randbelow(10**8))
    user = charlie.post("/v1/users", {"username": number, "password": "secret"})

    assert charlie.get(f"/v1/users/{number}")["id"] == user["id"]
    assert charlie.get(f"/v1/users/{charlie.id}")["id"] == charlie.id


@pytest.mark.parametrize("text", ["0", "-1", "nobody", "2147483000", "9" * 30, "1.5", "%F0%9F%98%80"])
def test_an_unknown_user_is_404(charlie: Person, text: str) -> None:
    assert charlie.call("GET", f"/v1/users/{text}").status == 404


@pytest.mark.parametrize("text", ["a%00b", "%ff%fe", "%ed%a0%80"])
def test_a_username_that_is_not_utf8_is_refused(charlie: Person, text: str) -> None:
    assert charlie.call("GET", f"/v1/users/{text}").status in (400, 404)


def test_only_an_administrator_can_get_a_user_even_their_own(alice: Person) -> None:
    assert alice.call("GET", f"/v1/users/{alice.id}").status == 403
    assert alice.get("/v1/me")["id"] == alice.id


def test_the_last_login_has_the_same_form_in_every_response(charlie: Person) -> None:
    changed = change(charlie, timezone="Asia/Tokyo")

    assert changed["last_login_at"].endswith("+09:00")
    assert charlie.get("/v1/me") == changed
    assert charlie.get(f"/v1/users/{charlie.id}") == changed
    assert changed in charlie.get("/v1/users")


# Changing at all


def test_an_empty_change_returns_201_with_the_whole_user(alice: Person) -> None:
    assert change(alice) == alice.get("/v1/me")
    assert change(alice, theme=None, is_admin=None) == alice.get("/v1/me")


def test_an_administrator_can_change_any_user(charlie: Person, alice: Person) -> None:
    changed = charlie.put(f"/v1/users/{alice.id}", {"theme": "dark_serif", "is_admin": True}, status=201)

    assert (changed["theme"], changed["is_admin"]) == ("dark_serif", True)
    assert alice.get("/v1/me")["is_admin"]


def test_a_user_can_change_only_their_own_account(alice: Person, bob: Person) -> None:
    assert alice.call("PUT", f"/v1/users/{bob.id}", {"theme": "dark_serif"}).status == 403
    assert bob.get("/v1/me")["theme"] == "light_serif"


def test_a_user_cannot_become_an_administrator(alice: Person) -> None:
    assert "is_admin" in refused(alice, is_admin=True).error
    assert change(alice, is_admin=False)["is_admin"] is False


def test_a_change_of_an_unknown_user_is_refused(alice: Person, charlie: Person) -> None:
    for person, status in ((alice, 403), (charlie, 404)):
        assert person.call("PUT", "/v1/users/2147483000", {}).status == status
        assert person.call("PUT", "/v1/users/2147483000", raw=b"{broken").status == 400
        assert person.call("PUT", f"/v1/users/{person.user.username}", {}).status == 400


def test_an_administrator_can_be_demoted_while_there_is_another(charlie: Person, cast: Any) -> None:
    other = cast.person("erin", is_admin=True)

    assert charlie.put(f"/v1/users/{other.id}", {"is_admin": False}, status=201)["is_admin"] is False
    assert other.call("GET", "/v1/users").status == 403


# Changing fields


def test_a_new_password_applies_at_once(alice: Person) -> None:
    name = alice.user.username
    assert with_password(alice, name, alice.password) == 200

    change(alice, password="another one")

    assert with_password(alice, name, alice.password) == 401
    assert with_password(alice, name, "another one") == 200


def test_a_username_can_be_changed_to_a_free_one(alice: Person, bob: Person) -> None:
    name = new_name("Frida")

    assert change(alice, username=name)["username"] == name.lower()
    assert change(alice, username=name.upper())["username"] == name.lower()
    assert "username" in refused(alice, username=bob.user.username.upper()).error


ACCEPTED = {
    "theme": (
        *("light_serif", "light_sans_serif", "dark_serif", "dark_sans_serif", "system_serif", "system_sans_serif"),
    ),
    "language": ("ar_SA", "el_EL", "he_IL", "nan_Latn_pehoeji", "zh_TW"),
    "timezone": (
        "UTC",
        "GMT",
        "Europe/Paris",
        "America/Argentina/Buenos_Aires",
        "Antarctica/Troll",
        "Asia/Kathmandu",
        "US/Eastern",
        "Asia/Calcutta",
        "GB",
        "Etc/GMT+5",
        "CET",
        "EST5EDT",
    ),
    "entry_sorting_direction": ("asc", "desc"),
    "entry_sorting_order": ("published_at", "created_at"),
    "entries_per_page": (1, 1000),
    "gesture_nav": ("none", "tap", "swipe"),
    "display_mode": ("fullscreen", "standalone", "minimal-ui", "browser"),
    "default_reading_speed": (1, 100_000),
    "cjk_reading_speed": (1, 100_000),
    "default_home_page": ("unread", "starred", "history", "feeds", "categories"),
    "categories_sorting_order": ("alphabetical", "unread_count"),
    "category_titles": ("name", "path"),
    "duplicates": ("fold", "mark_read", "off"),
    "duplicates_in_apps": ("all", "read", "hide"),
    "media_playback_rate": (0.25, 1, 1.75, 4),
    "block_filter_entry_rules": ("EntryTitle=(?i)ads", "EntryTitle=a\n\nEntryDate=max-age:30d\n", ""),
    "keep_filter_entry_rules": ("EntryAuthor=^Ada$", ""),
    "external_font_hosts": ("fonts.example.org", "A.example B.example.com", ""),
    "stylesheet": ("body { color: red }", ""),
    "custom_js": ("alert('<hello>')", ""),
    **{one.name: (not one.default, one.default) for one in USER_SETTINGS if one.type is bool},
}


@pytest.mark.parametrize("field", ACCEPTED)
def test_a_field_accepts_its_valid_values(alice: Person, field: str) -> None:
    for value in ACCEPTED[field]:
        assert change(alice, **{field: value})[field] == value
    assert alice.get("/v1/me")[field] == ACCEPTED[field][-1]


REFUSED = {
    "username": ("", "  ", "two words", "a/b", "\u0000"),
    "password": ("", "12345"),
    "theme": ("", "dark", "Light_Serif", "default", 1),
    "language": ("", "en", "en_us", "xx_XX"),
    "timezone": ("", "europe/paris", "us/eastern", "Europe/Nowhere", "Mars/Base", "Europe", "Europe/../etc",
                 "localtime", "Factory", "posixrules", "Asia/\u0000"),
    "entry_sorting_direction": ("", "ASC", "up"),
    "entry_sorting_order": ("", "id", "status"),
    "entries_per_page": (0, -1, 1001, 2**31, 2**63, "10", 1.5, True),
    "gesture_nav": ("", "pinch"),
    "display_mode": ("", "kiosk"),
    "default_reading_speed": (0, -5, 2**31, 2**63, 1.5, "265"),
    "cjk_reading_speed": (0, -5, 2**31, 2**63, 1.5, "500"),
    "default_home_page": ("", "all"),
    "categories_sorting_order": ("", "title"),
    "category_titles": ("", "tree"),
    "duplicates": ("", "hide"),
    "duplicates_in_apps": ("", "fold"),
    "media_playback_rate": (0, 0.24, 4.01, -1, 10**400, "1"),
    "block_filter_entry_rules": ("EntryTitle", "EntryTitle=", "EntryTitle=(", "Title=a", "EntryTitle=a\nEntryURL=["),
    "keep_filter_entry_rules": ("nonsense", "EntryTitle=(unclosed"),
    "external_font_hosts": ("localhost", "a..b", "https://fonts.example.org", "a.example;", "*.a.example", "-a.b"),
    "stylesheet": (1, "\u0000", "x" * 100_001),
    "custom_js": (True,),
    "google_id": (5, "x" * 501),
    "keyboard_shortcuts": ("true", 1, 0),
    "show_reading_time": ("on",),
    "is_admin": ("true", 0),
}  # fmt: skip


@pytest.mark.one_engine
@pytest.mark.parametrize("field", REFUSED)
def test_a_field_refuses_invalid_values_and_is_named(alice: Person, field: str) -> None:
    before = alice.get("/v1/me")

    for value in REFUSED[field]:
        assert field in refused(alice, **{field: value}).error, value

    assert alice.get("/v1/me") == before


def test_font_hosts_are_kept_with_one_blank_between_them(alice: Person) -> None:
    assert (
        change(alice, external_font_hosts="  a.example\r\n b.example ")["external_font_hosts"] == "a.example b.example"
    )


def test_nothing_is_stored_when_one_field_is_wrong(alice: Person) -> None:
    before = alice.get("/v1/me")

    refused(alice, theme="dark_serif", password="another one", entries_per_page=0)

    assert alice.get("/v1/me") == before
    assert with_password(alice, alice.user.username, alice.password) == 200


def test_an_unpaired_surrogate_in_an_import_becomes_a_replacement_character(alice: Person) -> None:
    answer = alice.call("PUT", f"/v1/users/{alice.id}", raw=b'{"stylesheet": "a\\ud83d"}')

    assert (answer.status, answer.json()["stylesheet"]) == (201, "a\ufffd")


def test_a_time_zone_shows_in_every_time(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    change(alice, timezone="Asia/Kathmandu")

    assert alice.entries()[0]["published_at"].endswith("+05:45")


def test_settings_for_pages_do_not_change_api_lists(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two", "Three"])

    change(alice, entries_per_page=1, entry_sorting_direction="desc")

    assert [entry["title"] for entry in alice.entries()] == ["Three", "Two", "One"]


# Deleting


def test_deleting_a_user_removes_everything_at_once(charlie: Person, alice: Person, site: Publisher) -> None:
    alice.has_feed(site)

    charlie.delete(f"/v1/users/{alice.id}")

    assert alice.call("GET", "/v1/me").status == 401
    assert with_password(alice, alice.user.username, alice.password) == 401
    assert charlie.call("GET", f"/v1/users/{alice.id}").status == 404
    assert charlie.call("DELETE", f"/v1/users/{alice.id}").status == 404


def test_a_deleted_user_s_name_is_free_again(charlie: Person) -> None:
    user = created_user(charlie)
    charlie.delete(f"/v1/users/{user['id']}")

    second_user = charlie.post("/v1/users", {"username": user["username"], "password": "secret"})

    assert second_user["id"] != user["id"]


def test_an_administrator_cannot_delete_themselves(charlie: Person) -> None:
    assert charlie.call("DELETE", f"/v1/users/{charlie.id}").status == 400
    assert charlie.get("/v1/me")["id"] == charlie.id


@pytest.mark.parametrize("text", ["0", "-1", "nobody", "9" * 20])
def test_deleting_needs_an_id(charlie: Person, text: str) -> None:
    assert charlie.call("DELETE", f"/v1/users/{text}").status == 400


def test_only_an_administrator_deletes(alice: Person, bob: Person) -> None:
    assert alice.call("DELETE", f"/v1/users/{bob.id}").status == 403
    assert alice.call("DELETE", f"/v1/users/{alice.id}").status == 403


# Marking everything


def test_marking_all_read_includes_future_entries_and_skips_read_ones(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    future = {"url": "https://example.org/tomorrow", "published_at": 4_000_000_000, "status": "unread"}
    alice.post(f"/v1/feeds/{feed['id']}/entries/import", future)
    before = {entry["id"]: entry["changed_at"] for entry in alice.entries()}

    alice.put(f"/v1/users/{alice.id}/mark-all-as-read")
    marked = alice.entries()
    alice.put(f"/v1/users/{alice.id}/mark-all-as-read")

    assert {entry["status"] for entry in marked} == {"read"}
    assert len(marked) == 3
    assert all(entry["changed_at"] > before[entry["id"]] for entry in marked)
    assert alice.entries() == marked
    assert alice.get("/v1/feeds/counters") == {"reads": {str(feed["id"]): 3}, "unreads": {}}


def test_a_user_cannot_mark_all_read_for_another(alice: Person, charlie: Person, site: Publisher) -> None:
    alice.has_feed(site)

    assert charlie.call("PUT", f"/v1/users/{alice.id}/mark-all-as-read").status == 403
    assert charlie.call("PUT", "/v1/users/2147483000/mark-all-as-read").status == 403
    assert charlie.call("PUT", "/v1/users/me/mark-all-as-read").status == 400
    assert alice.get("/v1/entries", status="unread")["total"] == 2
