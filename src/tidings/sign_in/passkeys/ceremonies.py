"""What browsers are asked when a passkey is made or used, and whether their answer is right.

Everything here needs the library `webauthn`, which takes 20 MiB: it is imported when a passkey is made or used.

Source: W3C Web Authentication Level 3, sections 7.1 (making a passkey) and 7.2 (using one).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from msgspec import Struct

from tidings.base.messages import Message, msg
from tidings.sign_in.errors import ProofRefused
from tidings.sign_in.passkeys.challenges import LIFETIME
from tidings.sign_in.passkeys.passkey_store import Passkey
from tidings.sign_in.passkeys.relying_party import RelyingParty

RP_NAME: Final = "Tidings"
# An answer of the longest known kind, with a certificate of its authenticator, has 8 kB.
MAX_ANSWER: Final = 64 * 1024
_TIMEOUT_MS: Final = LIFETIME // 1000

# Checks the challenge that an answer contains.
ChallengeCheck = Callable[[bytes], bool]

NOT_ACCEPTED = msg("This passkey was not accepted. Try again, or use another way.")
NO_SCRIPT = msg("Passkeys need JavaScript: switch it on for this page, or use another way.")
TOO_OLD = msg("That took too long: try again.")
NOT_VERIFIED = msg(
    "This passkey has not asked for your PIN, finger or face, so that it only works as a second step: type your"
    " password first."
)


class AnswerRefused(ProofRefused):
    """What a browser sent is not the answer of one of our passkeys. detail: for the log; may quote the answer."""

    def __init__(self, reason: str = "passkey not accepted", text: Message = NOT_ACCEPTED, *, detail: str = "") -> None:
        super().__init__(reason, text)
        self.detail = detail


class Made(Struct, frozen=True):
    """What an authenticator says about a passkey that it has made."""

    credential_id: bytes
    public_key: bytes
    sign_count: int
    transports: str
    works_alone: bool
    is_syncable: bool
    is_synced: bool
    aaguid: str


class Used(Struct, frozen=True):
    """What an authenticator says when a passkey is used."""

    sign_count: int
    is_synced: bool


class Claim(Struct, frozen=True):
    """Which passkey an answer says that it comes from. Nothing is verified."""

    credential_id: bytes
    user_handle: bytes
    """The handle of its user that the authenticator stored; empty if it sent none."""


def creation_options(
    rp: RelyingParty, challenge: bytes, *, user_handle: bytes, username: str, known: Iterable[Passkey]
) -> dict[str, Any]:
    """Return the options for `navigator.credentials.create`, as JSON.

    A passkey that needs no name, and a user who is verified, are preferred: a key that can do neither is good as a
    second step. known: the user's passkeys, so that a device does not make a second one.
    """
    from webauthn import generate_registration_options
    from webauthn.helpers import options_to_json_dict
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    options = generate_registration_options(
        rp_id=rp.id,
        rp_name=RP_NAME,
        user_id=user_handle,
        user_name=username,
        challenge=challenge,
        timeout=_TIMEOUT_MS,
        exclude_credentials=[PublicKeyCredentialDescriptor(id=one.credential_id) for one in known if one.host == rp.id],
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.PREFERRED,
            user_verification=UserVerificationRequirement.PREFERRED,
        ),
    )
    # Tells whether the passkey can be used without a name (section 10.1.3).
    return {**options_to_json_dict(options), "extensions": {"credProps": True}}


def request_options(rp: RelyingParty, challenge: bytes, *, known: Sequence[Passkey] = ()) -> dict[str, Any]:
    """Return the options for `navigator.credentials.get`, as JSON.

    known: the passkeys that may be used as a second step, for which touching them is enough. Without them, any passkey
    of this site, with the user verified.
    """
    from webauthn import generate_authentication_options
    from webauthn.helpers import options_to_json_dict
    from webauthn.helpers.structs import (
        AuthenticatorTransport,
        PublicKeyCredentialDescriptor,
        UserVerificationRequirement,
    )

    options = generate_authentication_options(
        rp_id=rp.id,
        challenge=challenge,
        timeout=_TIMEOUT_MS,
        allow_credentials=[
            PublicKeyCredentialDescriptor(
                id=one.credential_id,
                transports=[AuthenticatorTransport(name) for name in one.transports.split()] or None,
            )
            for one in known
        ],
        user_verification=UserVerificationRequirement.DISCOURAGED if known else UserVerificationRequirement.REQUIRED,
    )
    return options_to_json_dict(options)


def verify_creation(answer: str, rp: RelyingParty, is_valid: ChallengeCheck) -> Made:
    """Return what a browser says about a new passkey. is_valid: checks its challenge. Raises AnswerRefused."""
    from webauthn import verify_registration_response
    from webauthn.helpers import parse_registration_credential_json
    from webauthn.helpers.structs import CredentialDeviceType

    content = _json(answer)
    try:
        credential = parse_registration_credential_json(content)
        verified = verify_registration_response(
            credential=credential,
            expected_challenge=_challenge(credential.response.client_data_json, rp, is_valid),
            expected_rp_id=rp.id,
            expected_origin=rp.origin,
        )
    except AnswerRefused:
        raise
    except Exception as error:
        # Besides its own errors, the library raises those of its parsers for what is malformed.
        raise AnswerRefused(detail=str(error)) from error
    return Made(
        credential_id=verified.credential_id,
        public_key=verified.credential_public_key,
        sign_count=verified.sign_count,
        transports=" ".join(one.value for one in credential.response.transports or ()),
        # Browsers that do not say have made one that is: they would have said otherwise.
        works_alone=verified.user_verified and _cred_props(content).get("rk", True) is not False,
        is_syncable=verified.credential_device_type is CredentialDeviceType.MULTI_DEVICE,
        is_synced=verified.credential_backed_up,
        aaguid=verified.aaguid,
    )


def claim(answer: str) -> Claim:
    """Return which passkey an answer names. Raises AnswerRefused if it cannot be read."""
    from webauthn.helpers import parse_authentication_credential_json

    try:
        credential = parse_authentication_credential_json(_json(answer))
    except AnswerRefused:
        raise
    except Exception as error:
        raise AnswerRefused(detail=str(error)) from error
    return Claim(credential.raw_id, credential.response.user_handle or b"")


def verify_use(
    answer: str, rp: RelyingParty, is_valid: ChallengeCheck, passkey: Passkey, *, needs_verified_user: bool
) -> Used:
    """Return what an authenticator says when this passkey is used. is_valid: checks the challenge.

    needs_verified_user: touching the authenticator is not enough, it must know the user by a PIN or a finger.
    Raises AnswerRefused, including if the authenticator counts fewer signatures than before, as a copy of it would.
    """
    from webauthn import verify_authentication_response
    from webauthn.helpers import parse_authentication_credential_json

    try:
        credential = parse_authentication_credential_json(_json(answer))
        verified = verify_authentication_response(
            credential=credential,
            expected_challenge=_challenge(credential.response.client_data_json, rp, is_valid),
            expected_rp_id=rp.id,
            expected_origin=rp.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
        )
    except AnswerRefused:
        raise
    except Exception as error:
        raise AnswerRefused(detail=str(error)) from error
    if needs_verified_user and not verified.user_verified:
        raise AnswerRefused("passkey without a verified user", NOT_VERIFIED)
    return Used(verified.new_sign_count, verified.credential_backed_up)


def _challenge(client_data: bytes, rp: RelyingParty, is_valid: ChallengeCheck) -> bytes:
    from webauthn.helpers import parse_client_data_json

    parsed = parse_client_data_json(client_data)
    if parsed.origin != rp.origin:
        raise AnswerRefused(
            "passkey used under another address",
            msg("Passkeys work only under the address of this service: open {address}.", address=rp.origin),
            detail=f"the page was at {parsed.origin!r}",
        )
    if not is_valid(parsed.challenge):
        raise AnswerRefused("passkey challenge too old", TOO_OLD)
    return parsed.challenge


def _json(answer: str) -> dict[str, Any]:
    if len(answer) > MAX_ANSWER:
        raise AnswerRefused(detail="the answer is too long")
    try:
        content = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise AnswerRefused(detail="the answer is not JSON") from error
    if not isinstance(content, dict):
        raise AnswerRefused(detail="the answer is not a JSON object")
    return content


def _cred_props(content: dict[str, Any]) -> dict[str, Any]:
    results = content.get("clientExtensionResults")
    properties = results.get("credProps") if isinstance(results, dict) else None
    return properties if isinstance(properties, dict) else {}
