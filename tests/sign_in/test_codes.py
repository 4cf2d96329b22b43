"""Codes of authenticator apps against the values of RFC 6238, and recovery codes."""

from __future__ import annotations

from base64 import b32encode
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tidings.base.times import SECOND, Instant
from tidings.sign_in.codes import recovery, totp

# RFC 6238, appendix B, for SHA-1; its codes have eight digits, ours are the last six.
SECRET = b32encode(b"12345678901234567890").decode()
VECTORS = [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (20_000_000_000, "353130")]


def at(seconds: int) -> Instant:
    return Instant(seconds * SECOND)


@pytest.mark.parametrize(("seconds", "code"), VECTORS)
def test_the_codes_of_the_standard_are_right(seconds: int, code: str) -> None:
    assert totp.matching_step(SECRET, code, at(seconds), after=0) == seconds // 30


@pytest.mark.parametrize(("late_s", "is_right"), [(-60, False), (-30, True), (0, True), (30, True), (60, False)])
def test_a_code_is_right_one_step_before_and_after_its_time(late_s: int, is_right: bool) -> None:
    found = totp.matching_step(SECRET, "005924", at(1_234_567_890 + late_s), after=0)

    assert found == (1_234_567_890 // 30 if is_right else None)


def test_the_code_of_a_step_that_was_used_is_refused() -> None:
    step = 1_234_567_890 // 30

    assert totp.matching_step(SECRET, "005924", at(1_234_567_890), after=step - 1) == step
    assert totp.matching_step(SECRET, "005924", at(1_234_567_890), after=step) is None


@pytest.mark.parametrize("code", ["", "00592", "0059244", "٠٠٥٩٢٤", "00592a", "-05924", "005 24", "\0" * 6])
def test_what_is_not_six_digits_is_no_code(code: str) -> None:
    assert totp.matching_step(SECRET, code, at(1_234_567_890), after=0) is None


@pytest.mark.parametrize("text", ["", "ABC", SECRET[:-8], SECRET + SECRET, SECRET[:-1] + "1", "ä" * 32, SECRET[:-1]])
def test_what_is_not_a_whole_secret_is_refused(text: str) -> None:
    assert totp.is_secret(SECRET)
    assert not totp.is_secret(text)


def test_the_address_for_apps_names_service_and_user() -> None:
    address = urlsplit(totp.app_address(SECRET, "alice@example.org", "Tidings (reader.example.org)"))

    assert (address.scheme, address.netloc) == ("otpauth", "totp")
    assert unquote(address.path) == "/Tidings (reader.example.org):alice@example.org"
    assert parse_qs(address.query) == {"secret": [SECRET], "issuer": ["Tidings (reader.example.org)"]}


def test_recovery_codes_differ_and_may_be_typed_carelessly() -> None:
    codes = recovery.format_codes(bytes(range(150)))
    typed = codes[0].upper().replace("-", " ") + " "

    assert len(set(codes)) == recovery.CODES == 10
    assert {len(recovery.plain(code)) for code in codes} == {recovery.LENGTH}
    assert recovery.digest(b"secret", 1, typed) == recovery.digest(b"secret", 1, codes[0])


def test_the_digest_of_a_recovery_code_fits_one_user_of_one_installation() -> None:
    own = recovery.digest(b"secret", 1, "k3v7p-x8mna-qw2hf")

    assert own != recovery.digest(b"secret", 2, "k3v7p-x8mna-qw2hf")
    assert own != recovery.digest(b"other", 1, "k3v7p-x8mna-qw2hf")
