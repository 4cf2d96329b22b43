"""Tokens that prove someone, and tokens that are wrong in one way each (OpenID Connect Core 1.0, section 3.1.3.7)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any, Literal

import pytest
from joserfc import jws
from joserfc.jwa import JWSAlgModel
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from tidings.base.times import SECOND, Instant
from tidings.sign_in.openid import claims, tokens
from tidings.sign_in.openid.errors import BrokenToken, ProviderUnavailable, UnknownKey
from tidings.sign_in.openid.metadata import ALGORITHMS

ISSUER, CLIENT, NONCE = "https://auth.example.org", "tidings", "a nonce"
NOW_S = 1_790_000_000
NOW = Instant(NOW_S * SECOND)
LOGOUT: dict[str, dict[str, str]] = {"http://schemas.openid.net/event/backchannel-logout": {}}
RSA = RSAKey.generate_key(2048, {"kid": "rsa"})
OTHER = RSAKey.generate_key(2048, {"kid": "rsa"})
EC = ECKey.generate_key("P-256", {"kid": "ec"})
ED = OKPKey.generate_key("Ed25519", {"kid": "ed"})
OTHER_ED = OKPKey.generate_key("Ed25519", {"kid": "ed"})

Key = RSAKey | ECKey | OKPKey | OctKey


def key_set(*keys: Key, **more: Any) -> list[tokens.SigningKey]:
    return tokens.parse_keys(json.dumps({"keys": [{**key.as_dict(private=False), **more} for key in keys]}).encode())


class Registry(jws.JWSRegistry):
    """Signs with the old name of an algorithm without the warning that it is old."""

    def get_alg(self, name: str) -> JWSAlgModel:
        return self.algorithms[name]


def sign(key: Key, said: dict[str, Any], **header: Any) -> str:
    given = {"alg": "RS256", "kid": key.kid, **header}
    registry = Registry(algorithms=[given["alg"]], strict_check_header=False)
    protected = {name: value for name, value in given.items() if value is not None}
    return jws.serialize_compact(protected, json.dumps(said), key, registry=registry)


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def good(**more: Any) -> dict[str, Any]:
    said = {"iss": ISSUER, "sub": "1", "aud": CLIENT, "iat": NOW_S, "exp": NOW_S + 300, "nonce": NONCE, **more}
    return {name: value for name, value in said.items() if value is not None}


# Signatures


@pytest.mark.parametrize(
    ("key", "algorithm"), [(RSA, "RS256"), (RSA, "PS384"), (EC, "ES256"), (ED, "Ed25519"), (ED, "EdDSA")]
)
def test_a_token_is_verified_with_the_key_that_it_names(key: Key, algorithm: str) -> None:
    token = sign(key, good(), alg=algorithm)

    assert tokens.verify(token, key_set(RSA, EC, ED), ALGORITHMS).claims == good()


def test_a_token_without_the_name_of_a_key_is_verified_with_all_that_fit() -> None:
    keys = key_set(OTHER, RSA, EC)

    assert tokens.verify(sign(RSA, good(), kid=None), keys, ALGORITHMS).claims == good()


def _hmac_with_public_key() -> str:
    signed = f"{part({'alg': 'HS256', 'kid': 'rsa'})}.{part(good())}"
    signature = hmac.digest(RSA.as_pem(private=False), signed.encode(), hashlib.sha256)
    return f"{signed}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def _changed() -> str:
    head, _, signature = sign(RSA, good()).split(".")
    return f"{head}.{part(good(sub='2'))}.{signature}"


@pytest.mark.parametrize(
    ("forge", "reason"),
    [
        (lambda: f"{part({'alg': 'none'})}.{part(good())}.", "'none'"),
        (lambda: f"{part({'alg': 'NONE', 'kid': 'rsa'})}.{part(good())}.", "'NONE'"),
        (_hmac_with_public_key, "'HS256'"),
        (lambda: sign(OTHER, good()), "signature"),
        (_changed, "signature"),
        (lambda: sign(RSA, good())[:-8], "signature"),
        (lambda: sign(RSA, good(), kid="rotated"), "'rotated'"),
        (lambda: sign(EC, good(), alg="ES256", kid="rsa"), "not among"),
        (lambda: sign(OTHER, good(), kid=None), "all of the provider's keys"),
        (lambda: sign(RSA, good(), b64=True, crit=["b64"]), "extensions"),
        (lambda: f"{part(['RS256'])}.{part(good())}.AAAA", "header"),
        (lambda: f"{part({'alg': ['RS256']})}.{part(good())}.AAAA", "expected"),
        (lambda: f"{part({'alg': 'RS256', 'kid': 7})}.{part(good())}.AAAA", "not text"),
        (lambda: sign(RSA, [good()]), "signature"),  # type: ignore[arg-type]
        (lambda: "a.b", "three parts"),
        (lambda: "", "empty"),
        (lambda: "a.b.c.d.e", "three parts"),
        (lambda: "é" * 30, "empty or too long"),
        (lambda: "a" * 70_000, "too long"),
    ],
)
def test_a_forged_token_is_refused(forge: Callable[[], str], reason: str) -> None:
    with pytest.raises(BrokenToken) as refused:
        tokens.verify(forge(), key_set(RSA), ALGORITHMS)

    assert reason in refused.value.reason


def test_only_algorithms_of_the_provider_are_accepted() -> None:
    with pytest.raises(BrokenToken, match="valid"):
        tokens.verify(sign(RSA, good(), alg="RS512"), key_set(RSA), ["RS256"])


@pytest.mark.parametrize("announced", [{}, {"alg": "EdDSA"}, {"alg": "Ed25519"}])
def test_the_old_name_of_an_algorithm_is_as_good_as_the_new_one(announced: dict[str, str]) -> None:
    for name in ("EdDSA", "Ed25519"):
        assert tokens.verify(sign(ED, good(), alg=name), key_set(ED, **announced), ALGORITHMS).claims == good()
    with pytest.raises(BrokenToken, match="valid"):
        tokens.verify(sign(OTHER_ED, good(), alg="EdDSA"), key_set(ED, **announced), ALGORITHMS)


@pytest.mark.parametrize("curve", ["Ed448", "X25519"])
def test_the_old_name_stands_for_one_curve_only(curve: Literal["Ed448", "X25519"]) -> None:
    key = OKPKey.generate_key(curve, {"kid": "ed"})
    signed = sign(OTHER_ED, good(), alg="EdDSA") if curve == "X25519" else sign(key, good(), alg="EdDSA")

    with pytest.raises(UnknownKey):
        tokens.verify(signed, key_set(key), ALGORITHMS)


def test_a_key_is_used_with_its_own_algorithm_only() -> None:
    with pytest.raises(UnknownKey):
        tokens.verify(sign(RSA, good(), alg="PS256"), key_set(RSA, alg="RS256"), ALGORITHMS)


def test_keys_that_cannot_be_used_are_left_out() -> None:
    modulus = base64.urlsafe_b64encode(b"\xff" * 128).rstrip(b"=").decode()
    given = [
        RSA.as_dict(private=False),
        {"kty": "RSA", "kid": "short", "n": modulus, "e": "AQAB"},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "shared"},
        {**EC.as_dict(private=False), "use": "enc"},
        {"kty": "AKP", "kid": "of the future"},
        {"kty": "RSA", "kid": "half", "n": "AQAB"},
        {"kty": ["RSA"]},
        "text",
    ]

    assert [key.kid for key in tokens.parse_keys(json.dumps({"keys": given}).encode())] == ["rsa"]


@pytest.mark.parametrize("body", [b"", b"[]", b'{"keys": 1}', b'{"keys": []}', b"\xff", b'{"keys": [{"kty": "oct"}]}'])
def test_a_key_set_without_a_key_is_refused(body: bytes) -> None:
    with pytest.raises(ProviderUnavailable):
        tokens.parse_keys(body)


# Claims


def check(said: dict[str, Any], **more: Any) -> claims.Subject:
    return claims.check_id_token(said, issuer=ISSUER, client_id=CLIENT, nonce=NONCE, now=NOW, **more)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"aud": [CLIENT]},
        {"aud": [CLIENT, "other"], "azp": CLIENT},
        {"azp": CLIENT},
        {"exp": NOW_S - 30},  # clocks differ a little
        {"iat": NOW_S + 30},
        {"nbf": NOW_S + 30},
        {"exp": NOW_S + 0.5},
    ],
)
def test_a_true_token_says_whom_it_is_about(more: dict[str, Any]) -> None:
    assert check(good(sid="session 1", **more)) == claims.Subject(ISSUER, "1", "session 1")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"iss": "https://auth.example.org/"}, "iss"),
        ({"iss": None}, "iss"),
        ({"aud": "other"}, "aud"),
        ({"aud": None}, "aud"),
        ({"aud": ["other"]}, "aud"),
        ({"aud": {CLIENT: True}}, "aud"),
        ({"aud": [CLIENT, "other"]}, "azp"),
        ({"aud": [CLIENT, "other"], "azp": "other"}, "azp"),
        ({"azp": "other"}, "azp"),
        ({"exp": NOW_S - 61}, "exp"),
        ({"exp": None}, "exp"),
        ({"exp": "tomorrow"}, "exp"),
        ({"exp": True}, "exp"),
        ({"iat": NOW_S + 61}, "iat"),
        ({"iat": None}, "iat"),
        ({"nbf": NOW_S + 61}, "nbf"),
        ({"nbf": "now"}, "nbf"),
        ({"nonce": "another"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({"nonce": ["a nonce"]}, "nonce"),
        ({"sub": None}, "sub"),
        ({"sub": ""}, "sub"),
        ({"sub": 1}, "sub"),
        ({"sub": "1" * 256}, "sub"),
        ({"sub": "1\0"}, "sub"),
        ({"sid": 3}, "sid"),
        ({"at_hash": "another"}, "at_hash"),
    ],
)
def test_a_token_with_wrong_claims_is_refused(more: dict[str, Any], reason: str) -> None:
    with pytest.raises(BrokenToken) as refused:
        check(good(**more), token_hash="right")

    assert reason in refused.value.reason


def test_a_user_who_confirms_has_to_have_signed_in_again() -> None:
    assert check(good(auth_time=NOW_S - 600), max_age_s=600).subject == "1"
    assert check(good(), max_age_s=600).subject == "1"  # some providers do not say
    with pytest.raises(BrokenToken, match="not valid"):
        check(good(auth_time=NOW_S - 700), max_age_s=600)


def test_the_hash_of_the_access_token() -> None:
    # OpenID Connect Core 1.0, appendix A.3.
    access_token = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"
    assert tokens.access_token_hash(access_token, "RS256") == "77QmUPtjPfzWtF2AnpK9RQ"


# Logging out


def check_logout(said: dict[str, Any]) -> claims.Subject:
    return claims.check_logout_token(said, issuer=ISSUER, client_id=CLIENT, now=NOW)


@pytest.mark.parametrize(
    ("more", "subject", "session_id"),
    [({}, "1", ""), ({"sid": "s"}, "1", "s"), ({"sub": None, "sid": "s"}, "", "s"), ({"exp": NOW_S + 60}, "1", "")],
)
def test_a_logout_token_names_a_user_or_a_session(more: dict[str, Any], subject: str, session_id: str) -> None:
    found = check_logout(good(**{"events": LOGOUT, "nonce": None, "jti": "1", **more}))

    assert (found.subject, found.session_id) == (subject, session_id)


@pytest.mark.parametrize(
    "more",
    [
        {"events": None},
        {"events": {}},
        {"events": {"http://schemas.openid.net/event/backchannel-logout": True}},
        {"nonce": NONCE},
        {"sub": None},
        {"iat": NOW_S - 700},
        {"iat": NOW_S + 100},
        {"exp": NOW_S - 100},
        {"aud": "other"},
        {"iss": "https://other.example"},
    ],
)
def test_a_token_that_is_not_a_logout_token_ends_nothing(more: dict[str, Any]) -> None:
    with pytest.raises(BrokenToken):
        check_logout(good(**{"events": LOGOUT, "nonce": None, **more}))


# Names and groups


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({"preferred_username": "Alice", "email": "a@example.org"}, "alice"),
        ({"preferred_username": " ", "email": "A@Example.org"}, "a@example.org"),
        ({"preferred_username": "EXAMPLE\\alice", "email": "a@example.org"}, "a@example.org"),
        ({"preferred_username": "Alice Liddell"}, ""),
        ({"email": "a@example.org", "email_verified": False}, ""),
        ({"email": "a@example.org", "email_verified": True}, "a@example.org"),
        ({"preferred_username": ["alice"], "email": None}, ""),
        ({}, ""),
    ],
)
def test_the_name_is_the_preferred_one_or_the_address(said: dict[str, Any], name: str) -> None:
    assert claims.read_username(said) == name


@pytest.mark.parametrize(
    ("said", "claim", "groups"),
    [
        ({"groups": ["a", "b", 7, ""]}, "groups", ("a", "b")),
        ({"groups": "a"}, "groups", ("a",)),
        ({"realm_access": {"roles": ["a"]}}, "realm_access.roles", ("a",)),
        ({"https://example.org/groups": ["a"]}, "https://example.org/groups", ("a",)),
        ({"groups": {"a": True}}, "groups", ()),
        ({"groups": None}, "groups", ()),
        ({}, "groups.of.nobody", ()),
    ],
)
def test_groups_are_read_from_their_claim(said: dict[str, Any], claim: str, groups: tuple[str, ...]) -> None:
    assert claims.read_groups(said, claim) == groups
