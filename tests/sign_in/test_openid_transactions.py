"""What a browser keeps while it is at the provider: signed, for ten minutes, and about one sign-in."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from tidings.base.times import MINUTE, Instant
from tidings.sign_in.openid import metadata, transaction
from tidings.sign_in.openid.errors import ProviderUnavailable

NOW = Instant(1_790_000_000_000_000)
SECRET = b"secret of the installation"


def test_a_transaction_comes_back_as_it_was() -> None:
    started = transaction.start_transaction(
        NOW, next_path="/feeds?x=1", user_id=3, session_id=4, is_link=True, max_age_s=600
    )

    assert transaction.unpack(transaction.pack(started, SECRET), SECRET, Instant(NOW + MINUTE)) == started


def test_nobody_can_make_or_change_one() -> None:
    content, _, signature = transaction.pack(transaction.start_transaction(NOW), SECRET).partition(".")
    other, _, _ = transaction.pack(transaction.start_transaction(NOW), SECRET).partition(".")
    forged = [
        f"{other}.{signature}",
        content,
        f"{content}.",
        f".{signature}",
        "",
        ".",
        "é.é",
        f"{content}.{signature}A",
    ]

    assert [transaction.unpack(value, SECRET, NOW) for value in forged] == [None] * len(forged)
    assert transaction.unpack(f"{content}.{signature}", b"another secret", NOW) is None


@pytest.mark.parametrize(("later", "is_valid"), [(-1, False), (0, True), (10 * MINUTE - 1, True), (10 * MINUTE, False)])
def test_it_is_valid_for_ten_minutes(later: int, is_valid: bool) -> None:
    packed = transaction.pack(transaction.start_transaction(NOW), SECRET)

    assert (transaction.unpack(packed, SECRET, Instant(NOW + later)) is not None) == is_valid


def test_each_has_secrets_of_its_own() -> None:
    one, other = transaction.start_transaction(NOW), transaction.start_transaction(NOW)

    assert len({one.state, one.nonce, one.verifier, other.state, other.nonce, other.verifier}) == 6
    # RFC 7636, section 4.1.
    assert 43 <= len(one.verifier) <= 128


def test_the_challenge_is_the_hash_of_the_verifier() -> None:
    # RFC 7636, appendix B.
    example = transaction.Transaction(
        started_at=NOW, state="", nonce="", verifier="dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    )

    assert example.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_the_address_at_the_provider_has_what_it_needs() -> None:
    started = transaction.start_transaction(NOW, max_age_s=600)
    url = transaction.authorization_url(
        started,
        endpoint="https://auth.example.org/authorize?tenant=1",
        client_id="a b",
        redirect_url="https://example.org/oauth2/oidc/callback",
        scopes="openid profile",
    )

    assert {name: value for name, (value,) in parse_qs(urlsplit(url).query).items()} == {
        "tenant": "1",
        "response_type": "code",
        "client_id": "a b",
        "redirect_uri": "https://example.org/oauth2/oidc/callback",
        "scope": "openid profile",
        "state": started.state,
        "nonce": started.nonce,
        "code_challenge": started.challenge,
        "code_challenge_method": "S256",
        "max_age": "600",
    }
    assert started.verifier not in url


def test_a_very_long_page_is_not_kept() -> None:
    assert transaction.start_transaction(NOW, next_path="/" + "x" * 5000).next == ""


# The discovery document

DOCUMENT = (
    '{"issuer": "https://auth.example.org", "authorization_endpoint": "https://auth.example.org/a", '
    '"token_endpoint": "https://auth.example.org/t", "jwks_uri": "https://auth.example.org/k", "unknown": 1%s}'
)


def test_a_discovery_document() -> None:
    found = metadata.parse_metadata((DOCUMENT % "").encode(), "https://auth.example.org/")

    assert found.issuer == "https://auth.example.org"
    assert found.algorithms == ("RS256",)
    assert not found.sends_secret_in_form


@pytest.mark.parametrize(
    "more",
    [
        ', "issuer": "https://evil.example"',
        ', "token_endpoint": "http://auth.example.org/t"',
        ', "token_endpoint": "https://user@auth.example.org/t"',
        ', "authorization_endpoint": "javascript:alert(1)"',
        ', "authorization_endpoint": "https://auth.example.org/a#b"',
        ', "end_session_endpoint": "https://auth.example.org/\\r\\nX: y"',
        ', "jwks_uri": ""',
        ', "id_token_signing_alg_values_supported": ["HS256", "none"]',
        ', "token_endpoint_auth_methods_supported": ["private_key_jwt"]',
        ', "token_endpoint": 7',
    ],
)
def test_a_discovery_document_that_cannot_be_used(more: str) -> None:
    with pytest.raises(ProviderUnavailable):
        metadata.parse_metadata((DOCUMENT % more).encode(), "https://auth.example.org")


def test_a_provider_on_this_machine_may_be_plain() -> None:
    document = (DOCUMENT % "").replace("https://auth.example.org", "http://localhost:9000").encode()

    assert metadata.parse_metadata(document, "http://localhost:9000").issuer == "http://localhost:9000"
