"""Signing in at the provider, as the pages use it: from the first redirect to the user whom the response proves."""

from __future__ import annotations

import asyncio
import hmac
from urllib.parse import urlencode

from msgspec import Struct

from tidings.base.times import SECOND
from tidings.domain.accounts.sessions import FRESH_FOR, Session
from tidings.engine.database import Database
from tidings.services.accounts.server_secret import ServerSecret
from tidings.services.accounts.sessions import SignedIn
from tidings.services.clock import Clock
from tidings.sign_in.openid.accounts import OpenIdAccounts
from tidings.sign_in.openid.claims import Profile
from tidings.sign_in.openid.errors import BrokenToken, Denied, StateMismatch
from tidings.sign_in.openid.metadata import ProviderMetadata
from tidings.sign_in.openid.provider import OpenIdConfig, OpenIdProvider
from tidings.sign_in.openid.transaction import Transaction, authorization_url, pack, start_transaction, unpack

MAX_LOGGED = 200


class ProviderResponse(Struct, frozen=True):
    """What the browser brings back from the provider."""

    state: str
    code: str = ""
    issuer: str = ""
    error: str = ""
    error_description: str = ""

    def __repr__(self) -> str:
        return "ProviderResponse()"


class OpenIdSignIn:
    """Signing in with OpenID Connect; exists only if it is configured."""

    def __init__(
        self, config: OpenIdConfig, provider: OpenIdProvider, accounts: OpenIdAccounts, database: Database, clock: Clock
    ) -> None:
        self.config = config
        self.provider = provider
        self.accounts = accounts
        self._secret = ServerSecret(database)
        self._clock = clock

    @property
    def start_path(self) -> str:
        return f"/oauth2/{self.config.provider}/redirect"

    async def start(self, *, next_path: str, signed_in: SignedIn | None, is_link: bool = False) -> tuple[str, str]:
        """Return the URL at the provider, and the value of the cookie that the response is compared with.

        signed_in: who confirms who they are, or links an identity. Raises ProviderUnavailable.
        """
        metadata = await self.provider.metadata()
        transaction = start_transaction(
            self._clock(),
            next_path=next_path,
            user_id=signed_in.user.id if signed_in else 0,
            session_id=signed_in.session.id if signed_in else 0,
            is_link=is_link,
            max_age_s=FRESH_FOR // SECOND if signed_in and not is_link else None,
        )
        config = self.config
        url = authorization_url(
            transaction,
            endpoint=metadata.authorization_endpoint,
            client_id=config.client_id,
            redirect_url=config.redirect_url,
            scopes=config.scopes,
        )
        return url, pack(transaction, await asyncio.to_thread(self._secret.get))

    async def finish(
        self, response: ProviderResponse, cookie: str, signed_in: SignedIn | None
    ) -> tuple[Profile, Transaction]:
        """Return whom the provider has signed in, and what was started. Raises OpenIdError."""
        secret = await asyncio.to_thread(self._secret.get)
        transaction = unpack(cookie, secret, self._clock()) if cookie else None
        _check_state(response, transaction, signed_in)
        assert transaction is not None
        metadata = await self.provider.metadata()
        _check_issuer(response, metadata)
        if response.error:
            raise Denied(f"the provider says {_printable(response.error)}: {_printable(response.error_description)}")
        if not response.code:
            raise BrokenToken("the provider sent no code")
        return await self.provider.profile(response.code, transaction), transaction

    async def sign_out_url(self, session: Session) -> str | None:
        """Return where a session ends at the provider, too; None if it did not begin there, or that is not possible.

        Source: OpenID Connect RP-Initiated Logout 1.0, section 2.
        """
        there = await asyncio.to_thread(self.accounts.session, session.user_id, session.id)
        metadata = await self.provider.known_metadata() if there else None
        if there is None or metadata is None or not metadata.end_session_endpoint:
            return None
        parameters = {
            "client_id": self.config.client_id,
            "post_logout_redirect_uri": f"{self.config.base_url}/sign-in",
            **({"id_token_hint": there.id_token} if there.id_token else {}),
        }
        endpoint = metadata.end_session_endpoint
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"


def _check_state(response: ProviderResponse, transaction: Transaction | None, signed_in: SignedIn | None) -> None:
    """Raise StateMismatch unless this browser, in this session, has started what the response belongs to."""
    if transaction is None:
        raise StateMismatch("no sign-in was started in this browser, or too long ago")
    sent = response.state.encode("utf-8", "replace")
    if not sent or not hmac.compare_digest(sent, transaction.state.encode()):
        raise StateMismatch("the response has another state")
    here = signed_in.session.id if signed_in else 0
    if transaction.session_id and transaction.session_id != here:
        raise StateMismatch("the session in which this was started has ended")


def _check_issuer(response: ProviderResponse, metadata: ProviderMetadata) -> None:
    """Raise BrokenToken if another provider has sent the response (RFC 9207)."""
    is_expected = bool(response.issuer) or metadata.authorization_response_iss_parameter_supported
    if is_expected and response.issuer != metadata.issuer:
        raise BrokenToken(f"the response is from {_printable(response.issuer)!r}, expected {metadata.issuer!r} (iss)")


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text[:MAX_LOGGED])
