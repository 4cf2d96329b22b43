"""An authenticator in software: it makes passkeys and uses them, and can do each wrongly."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

USER_PRESENT, USER_VERIFIED, SYNCABLE, SYNCED, HAS_CREDENTIAL = 0x01, 0x04, 0x08, 0x10, 0x40
NORMAL = USER_PRESENT | USER_VERIFIED


def text_of(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def bytes_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Authenticator:
    """origin: of the page that asks. flags: what it says about the user. count: of signatures; None for no counter."""

    origin: str
    flags: int = NORMAL
    count: int | None = None
    is_discoverable: bool = True
    credential_id: bytes = b"credential 16 B."
    user_handle: bytes = b""
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def create(self, options: Mapping[str, Any], **changed: Any) -> str:
        """Return the answer to options for a new passkey, as the script sends it. changed: of the client data."""
        self.user_handle = bytes_of(options["user"]["id"])
        numbers = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        attested = bytes(16) + len(self.credential_id).to_bytes(2, "big") + self.credential_id + cbor2.dumps(cose)
        data = self._data(options["rp"]["id"], self.flags | HAS_CREDENTIAL) + attested
        response = {
            "clientDataJSON": self._client_data("webauthn.create", options, changed),
            "attestationObject": text_of(cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})),
            "transports": ["internal", "hybrid"],
        }
        return self._answer(response, {"credProps": {"rk": self.is_discoverable}})

    def get(self, options: Mapping[str, Any], **changed: Any) -> str:
        """Return the answer to options for a sign-in. changed: members of the client data; rp_id."""
        data = self._data(changed.pop("rp_id", options["rpId"]), self.flags)
        client_data = self._client_data("webauthn.get", options, changed)
        digest = hashlib.sha256(bytes_of(client_data)).digest()
        response = {
            "clientDataJSON": client_data,
            "authenticatorData": text_of(data),
            "signature": text_of(self.key.sign(data + digest, ec.ECDSA(hashes.SHA256()))),
            "userHandle": text_of(self.user_handle),
        }
        return self._answer(response, {})

    def _data(self, rp_id: str, flags: int) -> bytes:
        if self.count is not None:
            self.count += 1
        return hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + (self.count or 0).to_bytes(4, "big")

    def _client_data(self, kind: str, options: Mapping[str, Any], changed: Mapping[str, Any]) -> str:
        content = {"type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": False}
        return text_of(json.dumps({**content, **changed}).encode())

    def _answer(self, response: Mapping[str, Any], results: Mapping[str, Any]) -> str:
        return json.dumps({
            "id": text_of(self.credential_id),
            "rawId": text_of(self.credential_id),
            "type": "public-key",
            "response": response,
            "clientExtensionResults": results,
        })  # fmt: skip
