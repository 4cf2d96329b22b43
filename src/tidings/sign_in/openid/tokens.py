"""Verifies signatures of tokens (RFC 7515). Imported when the first token arrives: the libraries need memory."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwa import JWSAlgModel
from joserfc.jwk import ECKey, OKPKey, RSAKey

from tidings.sign_in.openid.errors import BrokenToken, ProviderUnavailable, UnknownKey

# Characters. Tokens with hundreds of groups have 20,000.
MAX_TOKEN: Final = 60_000
MAX_HEADER: Final = 16_000
# Keys of a provider that are looked at.
MAX_KEYS: Final = 50
RSA_BITS: Final = (2048, 16_384)

Key = RSAKey | ECKey | OKPKey
_KINDS: Final[Mapping[str, type[RSAKey | ECKey | OKPKey]]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
_KIND_OF: Final = {"R": "RSA", "P": "RSA", "E": "EC"}
_CURVES: Final = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521", "Ed25519": "Ed25519"}
# EdDSA (RFC 8037) leaves open which curve is meant, and RFC 9864 names both. Only one of them is accepted here.
_MODERN_NAMES: Final = {"EdDSA": "Ed25519"}
# Hash of at_hash by algorithm (OpenID Connect Core, section 3.1.3.6).
_HASHES: Final = {"256": hashlib.sha256, "384": hashlib.sha384, "512": hashlib.sha512}


class SigningKey(msgspec.Struct, frozen=True):
    """A public key of the provider."""

    kid: str
    kind: str
    """RSA, EC or OKP."""
    algorithm: str
    """The only algorithm that it may be used with; "" for any that fits."""
    key: Key

    def fits(self, algorithm: str) -> bool:
        algorithm = _modern(algorithm)
        if self.algorithm and _modern(self.algorithm) != algorithm:
            return False
        if self.kind != ("OKP" if algorithm.startswith("Ed") else _KIND_OF[algorithm[0]]):
            return False
        return algorithm not in _CURVES or self.key.get("crv") == _CURVES[algorithm]


class _Registry(jws.JWSRegistry):
    """The algorithms that a signature may have. One with an old name is verified as the modern one, on one curve."""

    def get_alg(self, name: str) -> JWSAlgModel:
        return super().get_alg(_modern(name))


class VerifiedToken(msgspec.Struct, frozen=True):
    """What a token says, after its signature was verified."""

    algorithm: str
    claims: dict[str, Any]
    kind: str = ""
    """The header `typ`, in lower case."""


def parse_keys(body: bytes) -> list[SigningKey]:
    """Return the public keys of a JSON Web Key Set (RFC 7517). Raises ProviderUnavailable if there are none.

    Keys that are not understood, too short or meant for something else are left out. So are symmetric ones: everybody
    can read the set.
    """
    try:
        document = msgspec.json.decode(body)
        listed = document["keys"][:MAX_KEYS]
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise ProviderUnavailable("the provider's keys cannot be read") from error
    keys = [key for each in listed if isinstance(each, dict) and (key := _parse_key(each)) is not None]
    if not keys:
        raise ProviderUnavailable("the provider has no key that tokens may be signed with")
    return keys


def _parse_key(jwk: Mapping[str, Any]) -> SigningKey | None:
    kind, kid, algorithm = (jwk.get(name, "") for name in ("kty", "kid", "alg"))
    if not (isinstance(kind, str) and isinstance(kid, str) and isinstance(algorithm, str)):
        return None
    if kind not in _KINDS or jwk.get("use", "sig") != "sig":
        return None
    public: dict[str, Any] = {name: jwk[name] for name in ("kty", "n", "e", "crv", "x", "y") if name in jwk}
    try:
        if kind == "RSA" and not RSA_BITS[0] <= _bits(public["n"]) <= RSA_BITS[1]:
            return None
        key = _KINDS[kind].import_key(public)
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    return SigningKey(kid, kind, algorithm, key)


def _modern(algorithm: str) -> str:
    return _MODERN_NAMES.get(algorithm, algorithm)


def _bits(number: str) -> int:
    """Return the length of a number that is written in base64."""
    return int.from_bytes(_decode(number), "big").bit_length()


def verify(token: str, keys: Iterable[SigningKey], algorithms: Sequence[str]) -> VerifiedToken:
    """Return what a signed token says. Raises BrokenToken, and UnknownKey if another key has signed it."""
    if not token or len(token) > MAX_TOKEN or not token.isascii():
        raise BrokenToken("the token is empty or too long")
    header = _header(token)
    algorithm, kid = header.get("alg"), header.get("kid", "")
    if not isinstance(algorithm, str) or algorithm not in algorithms:
        raise BrokenToken(f"the token is signed with {str(algorithm)[:40]!r}, expected {', '.join(algorithms)}")
    if "crit" in header:
        raise BrokenToken("the token has extensions that have to be understood")
    if not isinstance(kid, str):
        raise BrokenToken("the token names its key by something that is not text")
    fitting = [key for key in keys if key.fits(algorithm)]
    candidates = [key for key in fitting if key.kid == kid] if kid else fitting
    if not candidates:
        raise UnknownKey(f"the token is signed with the key {kid[:80]!r}, which is not among the provider's keys")
    kind = header.get("typ", "")
    for candidate in candidates:
        claims = _claims(token, candidate.key, algorithm)
        if claims is not None:
            return VerifiedToken(algorithm, claims, kind.lower() if isinstance(kind, str) else "")
    if kid:
        raise BrokenToken("the signature of the token is wrong")
    raise UnknownKey("the signature of the token is wrong for all of the provider's keys")


def access_token_hash(access_token: str, algorithm: str) -> str:
    """Return the value that the claim at_hash has to have."""
    digest = _HASHES.get(algorithm[-3:], hashlib.sha512)(access_token.encode()).digest()
    return _encode(digest[: len(digest) // 2])


def _header(token: str) -> dict[str, Any]:
    parts = token.split(".")
    if len(parts) != 3 or len(parts[0]) > MAX_HEADER:
        raise BrokenToken("the token is not a signed one: it has to have three parts")
    try:
        header = msgspec.json.decode(_decode(parts[0]))
    except ValueError as error:  # includes DecodeError, UnicodeDecodeError and binascii.Error
        raise BrokenToken("the header of the token cannot be read") from error
    if not isinstance(header, dict):
        raise BrokenToken("the header of the token cannot be read")
    return header


def _claims(token: str, key: Key, algorithm: str) -> dict[str, Any] | None:
    """Return the claims; None if the signature is wrong."""
    registry = _Registry(algorithms=[_modern(algorithm)], strict_check_header=False)
    registry.max_header_length = MAX_HEADER
    try:
        verified = jws.deserialize_compact(token, key, registry=registry)
        claims = msgspec.json.decode(verified.payload)
    except (JoseError, ValueError, TypeError):
        return None
    return claims if isinstance(claims, dict) else None


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
