"""An OpenID Connect provider on loopback, without pages: what it sends is up to the class that inherits from it."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit


class OpenIdProvider:
    """The server of a provider, running inside a `with`."""

    def respond(self, path: str, headers: Mapping[str, str], body: bytes, /) -> tuple[int, Any]:
        """Return the status and the JSON for a request."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(b"")

            def do_POST(self) -> None:
                self._send(self.rfile.read(int(self.headers.get("Content-Length", "0"))))

            def _send(self, body: bytes) -> None:
                status, answer = provider.respond(urlsplit(self.path).path, dict(self.headers), body)
                content = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def settings_of_client(self, client_id: str, secret: str, **more: str) -> dict[str, str]:
        """Return the settings of a service that uses this provider."""
        return {
            "oauth2_provider": "oidc",
            "oauth2_client_id": client_id,
            "oauth2_client_secret": secret,
            "oauth2_oidc_discovery_endpoint": self.issuer,
            **more,
        }

    def discovery(self, **more: Any) -> dict[str, Any]:
        """Return the discovery document, with these members besides the required ones."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            **more,
        }


def asked(authorization_url: str) -> dict[str, str]:
    """Return the parameters with which a browser was sent to a provider."""
    return dict(parse_qsl(urlsplit(authorization_url).query, keep_blank_values=True))
