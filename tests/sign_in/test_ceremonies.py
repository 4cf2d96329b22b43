"""Making and using passkeys, with answers that are right and answers that are wrong in one way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import structs

from loopback.authenticator import (
    NORMAL,
    SYNCABLE,
    SYNCED,
    USER_PRESENT,
    USER_VERIFIED,
    Authenticator,
    bytes_of,
    text_of,
)
from tidings.base.times import Instant
from tidings.sign_in.passkeys import ceremonies
from tidings.sign_in.passkeys.ceremonies import AnswerRefused, Made, Used
from tidings.sign_in.passkeys.passkey_store import Passkey
from tidings.sign_in.passkeys.relying_party import relying_party

RP = relying_party("https://reader.example.org/base")
CHALLENGE = b"a challenge of ours"


def device(**more: Any) -> Authenticator:
    return Authenticator("https://reader.example.org", **more)


def creation_options(known: list[Passkey] | None = None) -> dict[str, Any]:
    return ceremonies.creation_options(RP, CHALLENGE, user_handle=b"handle", username="alice", known=known or [])


def is_ours(challenge: bytes) -> bool:
    return challenge == CHALLENGE


def made(authenticator: Authenticator, **changed: Any) -> Made:
    return ceremonies.verify_creation(authenticator.create(creation_options(), **changed), RP, is_ours)


def passkey_of(authenticator: Authenticator) -> Passkey:
    new = made(authenticator)
    return Passkey(
        id=1, user_id=1, name="Phone", credential_id=new.credential_id, public_key=new.public_key,
        sign_count=new.sign_count, transports=new.transports, host=RP.id, works_alone=new.works_alone,
        is_syncable=new.is_syncable, is_synced=new.is_synced, created_at=Instant(0), last_used_at=None,
    )  # fmt: skip


def used(authenticator: Authenticator, passkey: Passkey, *, alone: bool = True, **changed: Any) -> Used:
    answer = authenticator.get(ceremonies.request_options(RP, CHALLENGE), **changed)
    return ceremonies.verify_use(answer, RP, is_ours, passkey, needs_verified_user=alone)


def test_a_browser_is_asked_for_a_passkey_that_needs_no_name_and_for_no_certificate() -> None:
    phone = device()
    options = creation_options([passkey_of(phone)])

    assert options["rp"] == {"name": "Tidings", "id": "reader.example.org"}
    assert options["authenticatorSelection"] == {
        "residentKey": "preferred", "requireResidentKey": False, "userVerification": "preferred",
    }  # fmt: skip
    assert options.get("attestation", "none") == "none"
    assert bytes_of(options["challenge"]) == CHALLENGE
    assert [bytes_of(one["id"]) for one in options["excludeCredentials"]] == [phone.credential_id]
    assert options["timeout"] == 300_000
    json.dumps(options)


def test_signing_in_asks_for_any_passkey_and_a_verified_user_and_the_second_step_for_a_touch_of_a_known_one() -> None:
    phone = device()

    alone = ceremonies.request_options(RP, CHALLENGE)
    second = ceremonies.request_options(RP, CHALLENGE, known=[passkey_of(phone)])

    assert (alone.get("allowCredentials", []), alone["userVerification"]) == ([], "required")
    assert second["userVerification"] == "discouraged"
    assert second["allowCredentials"] == [
        {"id": text_of(phone.credential_id), "type": "public-key", "transports": ["internal", "hybrid"]}
    ]


@pytest.mark.parametrize(
    ("flags", "is_discoverable", "works_alone"),
    [(NORMAL, True, True), (NORMAL, False, False), (USER_PRESENT, True, False)],
)
def test_a_passkey_works_alone_if_it_needs_no_name_and_verified_its_user(
    flags: int, is_discoverable: bool, works_alone: bool
) -> None:
    assert made(device(flags=flags, is_discoverable=is_discoverable)).works_alone is works_alone


@pytest.mark.parametrize(
    ("flags", "is_syncable", "is_synced"),
    [(NORMAL, False, False), (NORMAL | SYNCABLE, True, False), (NORMAL | SYNCABLE | SYNCED, True, True)],
)
def test_backup_flags_are_read(flags: int, is_syncable: bool, is_synced: bool) -> None:
    phone = device(flags=flags)

    assert (made(phone).is_syncable, made(phone).is_synced) == (is_syncable, is_synced)
    assert used(phone, passkey_of(phone)).is_synced == is_synced


@pytest.mark.parametrize(
    ("authenticator", "changed"),
    [
        (device(), {"origin": "https://evil.example"}),
        (device(), {"origin": "http://reader.example.org"}),
        (device(), {"type": "webauthn.get"}),
        (device(), {"challenge": text_of(b"another")}),
        (device(), {"challenge": 7}),
        (device(flags=USER_VERIFIED), {}),
        (device(flags=NORMAL | SYNCED), {}),
    ],
)
def test_a_new_passkey_that_is_wrong_is_refused(authenticator: Authenticator, changed: dict[str, Any]) -> None:
    with pytest.raises(AnswerRefused):
        made(authenticator, **changed)


@pytest.mark.parametrize(
    "changed",
    [
        {"origin": "https://evil.example"},
        {"origin": "https://reader.example.org:8443"},
        {"type": "webauthn.create"},
        {"challenge": text_of(b"another")},
        {"rp_id": "example.org"},
    ],
)
def test_an_answer_that_is_wrong_is_refused(changed: dict[str, Any]) -> None:
    phone = device()
    passkey = passkey_of(phone)

    assert used(phone, passkey) == Used(0, is_synced=False)
    with pytest.raises(AnswerRefused):
        used(phone, passkey, **changed)


def test_another_key_is_refused() -> None:
    passkey = passkey_of(device())

    with pytest.raises(AnswerRefused) as refused:
        used(device(), passkey)

    assert "signature" in refused.value.detail


def test_without_a_verified_user_a_passkey_is_a_second_step_only() -> None:
    key = device(flags=USER_PRESENT)
    passkey = passkey_of(key)

    used(key, passkey, alone=False)
    with pytest.raises(AnswerRefused, match="PIN, finger or face"):
        used(key, passkey)


@pytest.mark.parametrize(("count", "is_accepted"), [(8, True), (7, False), (6, False), (-1, False)])
def test_an_authenticator_that_has_counted_less_than_before_is_a_copy(count: int, is_accepted: bool) -> None:
    key = device(count=6)
    passkey = passkey_of(key)
    assert passkey.sign_count == 7
    key.count = count - 1 if count >= 0 else None

    if is_accepted:
        assert used(key, passkey).sign_count == 8
    else:
        with pytest.raises(AnswerRefused):
            used(key, passkey)


MALFORMED = [
    "", "x", "[]", "7", "{}", '{"id": 7}', "[" * 100_000, '{"id": "a", "rawId": "a", "type": "public-key"}',
    '{"id":"YQ","rawId":"YQ","type":"public-key","response":{"clientDataJSON":"YQ","attestationObject":"YQ"}}',
    ('{"id":"YQ","rawId":"YQ","type":"public-key",'
    '"response":{"clientDataJSON":"YQ","authenticatorData":"YQ","signature":"YQ"}}'),
    ('{"id":"\\ud800","rawId":"\\ud800","type":"public-key","response":{"clientDataJSON":"\\ud800",'
    '"authenticatorData":"","signature":""}}'),
    json.dumps({"id": "a" * 70_000}),
]  # fmt: skip


@pytest.mark.parametrize("answer", MALFORMED, ids=range(len(MALFORMED)))
def test_what_is_malformed_is_refused(answer: str) -> None:
    passkey = passkey_of(device())

    with pytest.raises(AnswerRefused):
        ceremonies.verify_creation(answer, RP, is_ours)
    with pytest.raises(AnswerRefused):
        ceremonies.verify_use(answer, RP, is_ours, passkey, needs_verified_user=True)


def test_a_passkey_whose_key_is_broken_signs_nobody_in() -> None:
    """The library reads the key only when it is used."""
    phone = device()
    passkey = passkey_of(phone)
    broken = bytearray(passkey.public_key)
    broken[-5] ^= 1

    with pytest.raises(AnswerRefused):
        used(phone, structs.replace(passkey, public_key=bytes(broken)))
