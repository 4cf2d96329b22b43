"""An OpenID Connect provider of an attacker's choice: it signs whatever an attempt wants."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from joserfc import jws
from joserfc.jwk import RSAKey

from loopback.openid_provider import OpenIdProvider, asked

CLIENT_ID, CLIENT_SECRET = "tidings", "client-secret-3Fq8"


class Provider(OpenIdProvider):
    """The provider, running inside a `with`. It gives the token that `answer` was asked for."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "1"})
        self._tokens: dict[str, str] = {}

    @property
    def settings(self) -> dict[str, str]:
        """Settings of a service that uses this provider, and trusts no proxy that could name users."""
        return self.settings_of_client(
            CLIENT_ID,
            CLIENT_SECRET,
            oauth2_user_creation="1",
            auth_proxy_header="Remote-User",
            auth_proxy_user_creation="1",
            trusted_reverse_proxy_networks="192.0.2.1",
        )

    def claims(self, authorization_url: str, subject: str, **more: Any) -> dict[str, Any]:
        """Return the claims of a token that is right for a sign-in that was started."""
        now = int(time.time())
        right = {"iss": self.issuer, "sub": subject, "aud": CLIENT_ID, "iat": now, "exp": now + 300}
        return {**right, "nonce": asked(authorization_url)["nonce"], "preferred_username": subject, **more}

    def sign(self, claims: dict[str, Any]) -> str:
        return jws.serialize_compact({"alg": "RS256", "kid": "1"}, json.dumps(claims), self.key)

    def answer(self, authorization_url: str, token: str, **more: str) -> str:
        """Return the path and query of the callback with which the browser comes back. more: other parameters."""
        state, code = asked(authorization_url)["state"], secrets.token_urlsafe(8)
        self._tokens[code] = token
        return "/oauth2/oidc/callback?" + urlencode({"code": code, "state": state, "iss": self.issuer, **more})

    def respond(self, path: str, _headers: Mapping[str, str], body: bytes, /) -> tuple[int, Any]:
        answers: dict[str, Any] = {
            "/.well-known/openid-configuration": self.discovery(
                id_token_signing_alg_values_supported=["RS256", "HS256", "none"]
            ),
            "/keys": {"keys": [self.key.as_dict(private=False)]},
            "/token": {
                "id_token": self._tokens.get(dict(parse_qsl(body.decode())).get("code", ""), ""),
                "access_token": "1",
                "token_type": "Bearer",
            },
        }
        return 200, answers.get(path, {})
