"""Settings of signing in need each other: half a configuration stops the start with a sentence."""

from __future__ import annotations

import pytest

from tidings import settings
from tidings.base.errors import StartError
from tidings.settings import Settings

PROVIDER = {
    "OAUTH2_PROVIDER": "oidc",
    "OAUTH2_CLIENT_ID": "tidings",
    "OAUTH2_CLIENT_SECRET": "secret",
    "OAUTH2_OIDC_DISCOVERY_ENDPOINT": "https://auth.example.org",
    "BASE_URL": "https://example.org/reader",
}


def load(given: dict[str, str]) -> Settings:
    return settings.load({f"TIDINGS_{name}": text for name, text in given.items()})


def refusal(given: dict[str, str]) -> str:
    with pytest.raises(StartError) as refused:
        load(given)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("missing", ["OAUTH2_CLIENT_ID", "OAUTH2_CLIENT_SECRET", "OAUTH2_OIDC_DISCOVERY_ENDPOINT"])
def test_a_provider_without_what_it_needs_stops_the_start(missing: str) -> None:
    message = refusal({name: text for name, text in PROVIDER.items() if name != missing})

    assert message == f"TIDINGS_OAUTH2_PROVIDER needs TIDINGS_{missing}"


@pytest.mark.parametrize(
    ("name", "text", "needs"),
    [
        ("OAUTH2_CLIENT_ID", "tidings", "TIDINGS_OAUTH2_PROVIDER"),
        ("OAUTH2_USER_CREATION", "1", "TIDINGS_OAUTH2_PROVIDER"),
        ("OAUTH2_ALLOWED_GROUPS", "readers", "TIDINGS_OAUTH2_PROVIDER"),
        ("AUTH_PROXY_USER_CREATION", "1", "TIDINGS_AUTH_PROXY_HEADER"),
        ("AUTH_PROXY_LOGOUT_URL", "https://auth.example.org/logout", "TIDINGS_AUTH_PROXY_HEADER"),
    ],
)
def test_a_setting_without_the_one_that_it_belongs_to_stops_the_start(name: str, text: str, needs: str) -> None:
    message = refusal({name: text})

    assert message.startswith(f"TIDINGS_{name} ")
    assert needs in message


def test_passwords_cannot_be_switched_off_without_another_way() -> None:
    assert "no way to sign in" in refusal({"DISABLE_LOCAL_AUTH": "1"})
    assert load({"DISABLE_LOCAL_AUTH": "1", **PROVIDER}).disable_local_auth
    assert load({"DISABLE_LOCAL_AUTH": "1", "AUTH_PROXY_HEADER": "Remote-User"}).disable_local_auth


def test_a_header_that_nobody_is_trusted_to_send_stops_the_start() -> None:
    given = {"AUTH_PROXY_HEADER": "Remote-User", "TRUSTED_REVERSE_PROXY_NETWORKS": "none"}

    assert "TIDINGS_TRUSTED_REVERSE_PROXY_NETWORKS" in refusal(given)


@pytest.mark.parametrize("name", ["Cookie", "authorization", "X-Forwarded-For", "Remote User", "Remote-User:"])
def test_a_header_with_another_meaning_is_refused(name: str) -> None:
    assert refusal({"AUTH_PROXY_HEADER": name}).startswith("TIDINGS_AUTH_PROXY_HEADER ")


def test_the_redirect_url_is_below_the_base_url() -> None:
    assert load(PROVIDER).oauth2_redirect_url == "https://example.org/reader/oauth2/oidc/callback"
    message = refusal({**PROVIDER, "OAUTH2_REDIRECT_URL": "https://other.example/oauth2/oidc/callback"})
    assert "https://example.org/reader/oauth2/oidc/callback" in message


def test_google_needs_no_discovery_endpoint() -> None:
    given = {name: text for name, text in PROVIDER.items() if name != "OAUTH2_OIDC_DISCOVERY_ENDPOINT"}
    found = load({**given, "OAUTH2_PROVIDER": "google"})

    assert found.oauth2_oidc_discovery_endpoint == "https://accounts.google.com"
    assert found.oauth2_oidc_provider_name == "Google"
    assert found.oauth2_redirect_url == "https://example.org/reader/oauth2/google/callback"
    assert "google" in refusal({**PROVIDER, "OAUTH2_PROVIDER": "google"})


@pytest.mark.parametrize(
    ("written", "issuer"),
    [
        ("https://auth.example.org", "https://auth.example.org"),
        ("https://auth.example.org/o/tidings/", "https://auth.example.org/o/tidings/"),
        ("https://auth.example.org/.well-known/openid-configuration", "https://auth.example.org"),
        ("http://localhost:9000", "http://localhost:9000"),
        ("http://[::1]:9000", "http://[::1]:9000"),
    ],
)
def test_the_provider_is_named_with_or_without_the_path_of_its_document(written: str, issuer: str) -> None:
    assert load({**PROVIDER, "OAUTH2_OIDC_DISCOVERY_ENDPOINT": written}).oauth2_oidc_discovery_endpoint == issuer


@pytest.mark.parametrize("written", ["http://auth.example.org", "ftp://auth.example.org", "auth.example.org"])
def test_a_provider_on_another_machine_needs_https(written: str) -> None:
    assert refusal({**PROVIDER, "OAUTH2_OIDC_DISCOVERY_ENDPOINT": written}).startswith(
        "TIDINGS_OAUTH2_OIDC_DISCOVERY_ENDPOINT "
    )


@pytest.mark.parametrize(
    ("written", "scopes"),
    [("openid,groups", "openid groups"), ("openid profile  email openid", "openid profile email")],
)
def test_scopes_may_be_separated_by_commas(written: str, scopes: str) -> None:
    assert load({**PROVIDER, "OAUTH2_SCOPES": written}).oauth2_scopes == scopes


def test_the_scope_openid_is_needed() -> None:
    assert "openid" in refusal({**PROVIDER, "OAUTH2_SCOPES": "profile"})


def test_names_of_groups_may_hold_spaces() -> None:
    found = load({**PROVIDER, "OAUTH2_ALLOWED_GROUPS": "news readers, staff,", "OAUTH2_ADMIN_GROUPS": "/admins"})

    assert found.oauth2_allowed_groups == ("news readers", "staff")
    assert found.oauth2_admin_groups == ("/admins",)


def test_the_client_secret_is_never_shown() -> None:
    loaded = settings.load_with_origins({f"TIDINGS_{name}": text for name, text in PROVIDER.items()})

    assert loaded.shown["oauth2_client_secret"] == "***"
    assert "'secret'" not in repr(loaded.settings)
