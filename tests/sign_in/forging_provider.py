"""A small OpenID Connect provider that sends whatever a test wants: true tokens and forged ones.

It answers as the standards say (discovery, keys, token endpoint with PKCE and client secret, userinfo), but has no
pages: `ForgingProvider.answer` does what its authorization endpoint would do.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from joserfc import jws
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from loopback.openid_provider import OpenIdProvider, asked

CLIENT_ID = "tidings"
CLIENT_SECRET = "a secret: of + the client"

Key = RSAKey | ECKey | OKPKey | OctKey


@cache
def first_key() -> Key:
    """Return the key of all providers in a process: making one takes a while."""
    return RSAKey.generate_key(2048, {"kid": "first"})


@dataclass
class Grant:
    """What a code stands for."""

    nonce: str
    challenge: str
    redirect_uri: str
    id_token: str
    userinfo: Mapping[str, Any]


@dataclass
class ForgingProvider(OpenIdProvider):
    """The provider. Its attributes may be changed at any time."""

    key: Key = field(default_factory=first_key)
    published: list[Key] = field(default_factory=list)
    """The keys of its key set; `key` if empty."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Added to its discovery document."""
    is_down: bool = False
    calls: list[str] = field(default_factory=list)
    """Paths that were requested."""
    grants: dict[str, Grant] = field(default_factory=dict)
    userinfo: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """By access token."""

    def settings(self, **more: str) -> dict[str, str]:
        """Return the settings of a service that uses this provider."""
        return self.settings_of_client(CLIENT_ID, CLIENT_SECRET, oauth2_oidc_provider_name="Example ID", **more)

    def claims(self, subject: str, nonce: str, /, **more: Any) -> dict[str, Any]:
        """Return the claims of a true ID token. more: others; None removes one."""
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": subject,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            **more,
        }
        return {name: value for name, value in claims.items() if value is not None}

    def sign(self, claims: Mapping[str, Any], *, key: Key | None = None, **header: Any) -> str:
        """Return a signed token. header: `alg`, `kid` and others; None removes one."""
        key = key or self.key
        given = {"alg": "RS256", "kid": key.kid, **header}
        protected = {name: value for name, value in given.items() if value is not None}
        registry = jws.JWSRegistry(algorithms=[protected["alg"]], strict_check_header=False)
        return jws.serialize_compact(protected, json.dumps(claims), key, registry=registry)

    def answer(
        self, authorization_url: str, *, subject: str = "alice-1", id_token: str | None = None, **claims: Any
    ) -> dict[str, str]:
        """Return what the browser brings back: the parameters of the callback.

        id_token: a forged one. claims: of a true one, and of userinfo with the prefix `userinfo_`.
        """
        query = asked(authorization_url)
        code = secrets.token_urlsafe(12)
        of_userinfo = {
            name.removeprefix("userinfo_"): claims.pop(name) for name in list(claims) if name.startswith("userinfo_")
        }
        token = self.sign(self.claims(subject, query["nonce"], **claims)) if id_token is None else id_token
        self.grants[code] = Grant(
            query["nonce"],
            query["code_challenge"],
            query["redirect_uri"],
            token,
            {"sub": subject, **of_userinfo},
        )
        return {"code": code, "state": query["state"], "iss": self.issuer}

    # Serving

    def respond(self, path: str, headers: Mapping[str, str], body: bytes, /) -> tuple[int, Any]:
        self.calls.append(path)
        return (503, {"error": "down"}) if self.is_down else self._answer(path, headers, body)

    def _answer(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        match path:
            case "/.well-known/openid-configuration":
                return 200, self._discovery()
            case "/keys":
                return 200, {"keys": [key.as_dict(private=False) for key in self.published or [self.key]]}
            case "/token":
                return self._tokens(headers, dict(parse_qsl(body.decode())))
            case "/userinfo":
                token = headers.get("Authorization", "").removeprefix("Bearer ")
                return (200, self.userinfo[token]) if token in self.userinfo else (401, {})
            case _:
                return 404, {}

    def _discovery(self) -> dict[str, Any]:
        return self.discovery(
            **{
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                "end_session_endpoint": f"{self.issuer}/end",
                "response_types_supported": ["code"],
                "id_token_signing_alg_values_supported": ["RS256", "ES256", "HS256", "none"],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True,
                **self.metadata,
            }
        )

    def _tokens(self, headers: Mapping[str, str], form: Mapping[str, str]) -> tuple[int, Any]:
        credentials = base64.b64decode(headers.get("Authorization", "").removeprefix("Basic ")).decode()
        name, _, secret = credentials.partition(":")
        name, secret = form.get("client_id", unquote(name)), form.get("client_secret", unquote(secret))
        if (name, secret) != (CLIENT_ID, CLIENT_SECRET):
            return 401, {"error": "invalid_client"}
        grant = self.grants.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if grant is None or challenge != grant.challenge or form.get("redirect_uri") != grant.redirect_uri:
            return 400, {"error": "invalid_grant", "error_description": "The code is wrong."}
        access_token = secrets.token_urlsafe(12)
        self.userinfo[access_token] = grant.userinfo
        return 200, {"access_token": access_token, "token_type": "Bearer", "id_token": grant.id_token}


def callback_path(answer: Mapping[str, str]) -> str:
    return f"/oauth2/oidc/callback?{urlencode(answer)}"
