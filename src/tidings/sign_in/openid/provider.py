"""Talks to the provider: its discovery document, its keys, the token endpoint and the userinfo endpoint.

Belongs to one event loop. The operator has named the provider, so that it may be in a private network.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

import msgspec
import structlog
from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.times import DAY, HOUR, SECOND, Instant
from tidings.net.errors import FetchError
from tidings.net.post import Sender, ServiceRequest, ServiceResponse
from tidings.services.clock import Clock
from tidings.sign_in.openid.claims import (
    Profile,
    Subject,
    check_id_token,
    check_logout_token,
    read_groups,
    read_shown_name,
    read_username,
)
from tidings.sign_in.openid.errors import BrokenToken, CodeRefused, ProviderUnavailable, UnknownKey
from tidings.sign_in.openid.metadata import ProviderMetadata, discovery_url, parse_metadata
from tidings.sign_in.openid.transaction import Transaction

if TYPE_CHECKING:
    from tidings.sign_in.openid.tokens import SigningKey, VerifiedToken

log = structlog.get_logger()

TIMEOUT_S: Final = 10.0
# How long the discovery document and the keys are used without looking again, and while the provider does not respond.
FRESH: Final = Instant(1 * HOUR)
STALE: Final = Instant(1 * DAY)
# After a failure, and between two looks for a key that is not known: requests of strangers cause both.
PAUSE: Final = Instant(5 * SECOND)
KEYS_PAUSE: Final = Instant(10 * SECOND)


class OpenIdConfig(Struct, frozen=True, kw_only=True):
    """The settings of signing in with OpenID Connect."""

    provider: str
    """The name in our own paths: oidc or google."""
    name: str
    """The name on pages."""
    issuer: str
    client_id: str
    client_secret: str
    redirect_url: str
    base_url: str
    """Where this service is, without a slash at the end."""
    scopes: str
    groups_claim: str
    allowed_groups: frozenset[str] | None
    admin_groups: frozenset[str] | None
    creates_users: bool

    def __repr__(self) -> str:
        return f"OpenIdConfig({self.issuer!r})"

    @property
    def reads_groups(self) -> bool:
        return self.allowed_groups is not None or self.admin_groups is not None


class Tokens(Struct, frozen=True):
    """The response of the token endpoint."""

    id_token: str = ""
    access_token: str = ""
    token_type: str = ""

    def __repr__(self) -> str:
        return "Tokens()"


class _Refusal(Struct, frozen=True):
    error: str = ""
    error_description: str = ""


class OpenIdProvider:
    """The provider that the operator has chosen."""

    def __init__(self, config: OpenIdConfig, sender: Sender, clock: Clock) -> None:
        self.config = config
        self._sender = sender
        self._clock = clock
        self._lock = asyncio.Lock()
        self._metadata: ProviderMetadata | None = None
        self._metadata_at = Instant(0)
        self._failed_at: Instant | None = None
        self._failure = ""
        self._keys: list[SigningKey] = []
        self._keys_at = Instant(0)

    async def metadata(self) -> ProviderMetadata:
        """Return the discovery document, which is looked at once an hour. Raises ProviderUnavailable."""
        async with self._lock:
            return await self._current_metadata()

    async def known_metadata(self) -> ProviderMetadata | None:
        """Return the discovery document, or None if the provider does not respond: for what can do without it."""
        try:
            return await self.metadata()
        except ProviderUnavailable as error:
            log.warning("OpenID Connect provider unavailable", reason=error.reason)
            return None

    async def profile(self, code: str, transaction: Transaction) -> Profile:
        """Exchange a code for tokens, and return whom they prove. Raises OpenIdError."""
        metadata = await self.metadata()
        tokens = await self._exchange(metadata, code, transaction)
        verified = await self._verified(metadata, tokens.id_token)
        from tidings.sign_in.openid.tokens import access_token_hash

        subject = check_id_token(
            verified.claims,
            issuer=metadata.issuer,
            client_id=self.config.client_id,
            nonce=transaction.nonce,
            now=self._clock(),
            max_age_s=transaction.max_age_s,
            token_hash=access_token_hash(tokens.access_token, verified.algorithm),
        )
        claims = verified.claims
        if self._lacks_claims(claims):
            claims = {**await self._userinfo(metadata, tokens, subject), **claims}
        return Profile(
            issuer=subject.issuer,
            subject=subject.subject,
            username=read_username(claims),
            shown_name=read_shown_name(claims),
            groups=read_groups(claims, self.config.groups_claim) if self.config.reads_groups else (),
            session_id=subject.session_id,
            id_token=tokens.id_token,
        )

    async def logout_subject(self, token: str) -> Subject:
        """Return whose sessions a logout token ends. Raises OpenIdError."""
        metadata = await self.metadata()
        verified = await self._verified(metadata, token)
        if verified.kind not in ("", "jwt", "logout+jwt", "application/logout+jwt"):
            raise BrokenToken("the token is not a logout token (typ)")
        return check_logout_token(
            verified.claims, issuer=metadata.issuer, client_id=self.config.client_id, now=self._clock()
        )

    async def close(self) -> None:
        """Close the connections. Call it inside the event loop that used them."""
        await self._sender.close()

    def _lacks_claims(self, claims: Mapping[str, Any]) -> bool:
        """Return whether the ID token leaves something to the userinfo endpoint, as several providers do."""
        if not read_username(claims):
            return True
        return self.config.reads_groups and not read_groups(claims, self.config.groups_claim)

    # The discovery document and the keys

    async def _current_metadata(self) -> ProviderMetadata:
        now = self._clock()
        if self._metadata is not None and now - self._metadata_at < FRESH:
            return self._metadata
        if self._failed_at is not None and 0 <= now - self._failed_at < PAUSE:
            return self._stale_metadata(now, ProviderUnavailable(self._failure))
        try:
            body = await self._get(discovery_url(self.config.issuer))
            self._metadata = parse_metadata(body, self.config.issuer)
        except ProviderUnavailable as error:
            self._failed_at, self._failure = now, error.reason
            return self._stale_metadata(now, error)
        self._metadata_at, self._failed_at = now, None
        return self._metadata

    def _stale_metadata(self, now: Instant, error: ProviderUnavailable) -> ProviderMetadata:
        """Return what the provider said before. Raises the error if that is too long ago."""
        if self._metadata is None or now - self._metadata_at >= STALE:
            raise error
        log.warning("OpenID Connect provider unavailable, its last discovery document is used", reason=error.reason)
        return self._metadata

    async def _verified(self, metadata: ProviderMetadata, token: str) -> VerifiedToken:
        """Return what a token says. A key that is not known is looked for once: providers change their keys."""
        from tidings.sign_in.openid import tokens

        keys = await self._current_keys(metadata, is_missing=False)
        try:
            return await asyncio.to_thread(tokens.verify, token, keys, metadata.algorithms)
        except UnknownKey:
            newer = await self._current_keys(metadata, is_missing=True)
            if newer is keys:
                raise
        return await asyncio.to_thread(tokens.verify, token, newer, metadata.algorithms)

    async def _current_keys(self, metadata: ProviderMetadata, *, is_missing: bool) -> list[SigningKey]:
        """Return the keys. is_missing: one that is not among them is needed. Raises ProviderUnavailable."""
        from tidings.sign_in.openid import tokens

        async with self._lock:
            age = self._clock() - self._keys_at
            if self._keys and age < (KEYS_PAUSE if is_missing else FRESH):
                return self._keys
            try:
                self._keys = await asyncio.to_thread(tokens.parse_keys, await self._get(metadata.jwks_uri))
            except ProviderUnavailable as error:
                if not self._keys or age >= STALE:
                    raise
                log.warning("OpenID Connect provider unavailable, its last keys are used", reason=error.reason)
            else:
                self._keys_at = self._clock()
            return self._keys

    # Requests

    async def _exchange(self, metadata: ProviderMetadata, code: str, transaction: Transaction) -> Tokens:
        config = self.config
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": config.redirect_url,
            "code_verifier": transaction.verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        if metadata.sends_secret_in_form:
            form |= {"client_id": config.client_id, "client_secret": config.client_secret}
        else:
            # Both are encoded as in a form first (RFC 6749, section 2.3.1).
            credentials = f"{quote(config.client_id, safe='')}:{quote(config.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(credentials.encode()).decode()}"
        request = ServiceRequest("POST", metadata.token_endpoint, headers, urlencode(form).encode())
        response = await self._send(request)
        if response.status != 200:
            raise CodeRefused(f"the token endpoint responds with status {response.status}{_said(response.body)}")
        try:
            tokens = msgspec.json.decode(response.body, type=Tokens)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CodeRefused(f"the response of the token endpoint cannot be read: {error}") from error
        if not tokens.id_token:
            raise BrokenToken("the provider sent no ID token: is the scope openid allowed for this client?")
        return tokens

    async def _userinfo(self, metadata: ProviderMetadata, tokens: Tokens, subject: Subject) -> dict[str, Any]:
        """Return the claims of the userinfo endpoint; none if the provider has no such endpoint. Raises OpenIdError."""
        if not metadata.userinfo_endpoint or not tokens.access_token or tokens.token_type.lower() != "bearer":
            return {}
        headers = {"Authorization": f"Bearer {tokens.access_token}", "Accept": "application/json"}
        response = await self._send(ServiceRequest("GET", metadata.userinfo_endpoint, headers))
        if response.status != 200:
            raise ProviderUnavailable(f"the userinfo endpoint responds with status {response.status}")
        try:
            claims = msgspec.json.decode(response.body, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ProviderUnavailable("the response of the userinfo endpoint cannot be read") from error
        # OpenID Connect Core, section 5.3.2: otherwise the claims of another user could be put in.
        if claims.get("sub") != subject.subject:
            raise BrokenToken("the userinfo endpoint describes another user (sub)")
        return claims

    async def _get(self, url: str) -> bytes:
        response = await self._send(ServiceRequest("GET", url, {"Accept": "application/json"}))
        if response.status != 200:
            raise ProviderUnavailable(f"{url} responds with status {response.status}")
        return response.body

    async def _send(self, request: ServiceRequest) -> ServiceResponse:
        """Return the response. Redirects are not followed: nothing of this may go elsewhere."""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._sender.send(request)
        except TimeoutError as error:
            raise ProviderUnavailable(f"{request!r} took longer than {TIMEOUT_S:.0f} s") from error
        except (FetchError, InvalidInput) as error:
            raise ProviderUnavailable(f"{request!r} failed: {error}") from error


def _said(body: bytes) -> str:
    """Return what the provider says about an error (RFC 6749, section 5.2), for the log."""
    try:
        refusal = msgspec.json.decode(body, type=_Refusal)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    text = f"{refusal.error}: {refusal.error_description}"[:300]
    return ": " + "".join(letter if letter.isprintable() else " " for letter in text)
