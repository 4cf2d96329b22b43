"""`oidc-provider` from npm, with a few accounts: an OpenID Connect provider that others have written."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from support import node
from support.people import HttpResponse, call
from support.ports import free_port

FOLDER = Path(__file__).parent / "provider"
CLIENT_ID = "tidings"
CLIENT_SECRET = "a long secret of the client of the tests"
ACCOUNTS = {
    "1001": {"preferred_username": "Rosalind", "groups": ["readers"]},
    "1002": {"preferred_username": "Barbara", "groups": ["readers", "admins"]},
    "1003": {"preferred_username": "Grace", "groups": ["others"]},
    "1004": {"email": "ada@example.org", "email_verified": True, "groups": ["readers"]},
}
CLAIMS = {
    "openid": ["sub"],
    "profile": ["preferred_username"],
    "email": ["email", "email_verified"],
    "groups": ["groups"],
}


class RealProvider(Struct, frozen=True):
    issuer: str

    def settings(self, **more: str) -> dict[str, str]:
        """Return the settings of a service that uses this provider."""
        return {
            "oauth2_provider": "oidc",
            "oauth2_client_id": CLIENT_ID,
            "oauth2_client_secret": CLIENT_SECRET,
            "oauth2_oidc_discovery_endpoint": self.issuer,
            "oauth2_scopes": "openid profile email groups",
            "oauth2_user_creation": "1",
            **more,
        }


class ProviderBrowser:
    """What a browser does at the provider: it keeps its cookies, and follows its redirects."""

    def __init__(self, provider: RealProvider, account_id: str = "") -> None:
        self._provider = provider
        self._cookies = {"account": account_id} if account_id else {}

    def follow(self, url: str) -> str:
        """Return the address to which the provider leads at last: one of the service."""
        for _ in range(12):
            if not url.startswith(self._provider.issuer):
                return url
            answer = self.get(url)
            assert answer.status in (302, 303), f"{url}: {answer.status} {answer.body[:500]!r}"
            url = urljoin(url, answer.headers["location"])
        raise AssertionError("the provider redirects in a loop")

    def get(self, url: str) -> HttpResponse:
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        return self._seen(call(self._provider.issuer, "GET", path, headers=self._headers()))

    def post(self, url: str, body: str) -> HttpResponse:
        headers = {**self._headers(), "Content-Type": "application/x-www-form-urlencoded"}
        return self._seen(call(self._provider.issuer, "POST", urlsplit(url).path, body.encode(), headers))

    def _headers(self) -> dict[str, str]:
        cookies = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        return {"Cookie": cookies} if cookies else {}

    def _seen(self, answer: HttpResponse) -> HttpResponse:
        for line in answer.cookies:
            name, _, value = line.partition(";")[0].partition("=")
            self._cookies[name] = value
        return answer


@contextmanager
def real_provider(service_url: str, *, claims_in_token: bool) -> Iterator[RealProvider]:
    """Yield a running provider whose only client is the service. Raises ProgramMissing.

    claims_in_token: otherwise they are at the userinfo endpoint only, as the standard says for this flow.
    """
    program, folder = node.node(), node.installed(FOLDER)
    port = free_port()
    configuration: Mapping[str, Any] = {
        "port": port,
        "accounts": ACCOUNTS,
        "claims": CLAIMS,
        "conformIdTokenClaims": not claims_in_token,
        "clients": [
            {
                "client_id": CLIENT_ID,
                "client_secret": CLIENT_SECRET,
                "redirect_uris": [f"{service_url}/oauth2/oidc/callback"],
                "post_logout_redirect_uris": [f"{service_url}/sign-in"],
                "backchannel_logout_uri": f"{service_url}/oauth2/oidc/backchannel-logout",
                "backchannel_logout_session_required": True,
            }
        ],
    }
    process = subprocess.Popen(
        [program, folder / "provider.mjs", json.dumps(configuration)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        issuer = process.stdout.readline().strip()
        assert issuer, "the provider ended"
        yield RealProvider(issuer)
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()
