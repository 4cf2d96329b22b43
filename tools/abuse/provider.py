"""An OpenID Connect provider of an attacker's choice: it signs whatever an attempt wants."""

from __future__ import annotations

import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jws
from joserfc.jwk import RSAKey

CLIENT_ID, CLIENT_SECRET = "tidings", "client-secret-3Fq8"


class Provider:
    """The provider, running inside a `with`. It gives the token that `answer` was asked for."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "1"})
        self._tokens: dict[str, str] = {}

    def __enter__(self) -> Self:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider._serve(self, b"")

            def do_POST(self) -> None:
                provider._serve(self, self.rfile.read(int(self.headers.get("Content-Length", "0"))))

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def settings(self) -> dict[str, str]:
        """Settings of a service that uses this provider, and trusts no proxy that could name users."""
        return {
            "oauth2_provider": "oidc",
            "oauth2_client_id": CLIENT_ID,
            "oauth2_client_secret": CLIENT_SECRET,
            "oauth2_oidc_discovery_endpoint": self.issuer,
            "oauth2_user_creation": "1",
            "auth_proxy_header": "Remote-User",
            "auth_proxy_user_creation": "1",
            "trusted_reverse_proxy_networks": "192.0.2.1",
        }

    def claims(self, authorization_url: str, subject: str, **more: Any) -> dict[str, Any]:
        """Return the claims of a token that is right for a sign-in that was started."""
        now, asked = int(time.time()), dict(parse_qsl(urlsplit(authorization_url).query))
        right = {"iss": self.issuer, "sub": subject, "aud": CLIENT_ID, "iat": now, "exp": now + 300}
        return {**right, "nonce": asked["nonce"], "preferred_username": subject, **more}

    def sign(self, claims: dict[str, Any]) -> str:
        return jws.serialize_compact({"alg": "RS256", "kid": "1"}, json.dumps(claims), self.key)

    def answer(self, authorization_url: str, token: str, **more: str) -> str:
        """Return the path and query of the callback with which the browser comes back. more: other parameters."""
        asked, code = dict(parse_qsl(urlsplit(authorization_url).query)), secrets.token_urlsafe(8)
        self._tokens[code] = token
        return "/oauth2/oidc/callback?" + urlencode({"code": code, "state": asked["state"], "iss": self.issuer, **more})

    def _serve(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        answers: dict[str, Any] = {
            "/.well-known/openid-configuration": {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
            },
            "/keys": {"keys": [self.key.as_dict(private=False)]},
            "/token": {
                "id_token": self._tokens.get(dict(parse_qsl(body.decode())).get("code", ""), ""),
                "access_token": "1",
                "token_type": "Bearer",
            },
        }
        content = json.dumps(answers.get(urlsplit(handler.path).path, {})).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)
