"""Talking to the provider: keys that rotate, a provider that is down, and what is never sent anywhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import pytest
from joserfc.jwk import RSAKey
from msgspec.structs import replace

from sign_in.forging_provider import CLIENT_ID, CLIENT_SECRET, ForgingProvider
from tidings.base.times import DAY, HOUR, SECOND, Instant
from tidings.net.post import Sender
from tidings.services.clock import system_clock
from tidings.sign_in.openid.claims import Profile
from tidings.sign_in.openid.errors import BrokenToken, CodeRefused, ProviderUnavailable
from tidings.sign_in.openid.provider import OpenIdConfig, OpenIdProvider
from tidings.sign_in.openid.transaction import authorization_url, start_transaction

T = TypeVar("T")
SECOND_KEY = RSAKey.generate_key(2048, {"kid": "second"})


@pytest.fixture
def provider() -> Iterator[ForgingProvider]:
    with ForgingProvider() as running:
        yield running


class Client:
    """Our side, with a clock that a test may put forward."""

    def __init__(self, provider: ForgingProvider, **more: Any) -> None:
        self.offset = 0
        self.there = provider
        self.config = replace(
            OpenIdConfig(
                provider="oidc",
                name="Example ID",
                issuer=provider.issuer,
                client_id=CLIENT_ID,
                client_secret=CLIENT_SECRET,
                redirect_url="http://localhost/oauth2/oidc/callback",
                base_url="http://localhost",
                scopes="openid",
                groups_claim="groups",
                allowed_groups=None,
                admin_groups=None,
                creates_users=True,
            ),
            **more,
        )
        self.openid = OpenIdProvider(self.config, Sender(user_agent="tests", allow_private_networks=True), self.now)

    def now(self) -> Instant:
        return Instant(system_clock() + self.offset)

    async def sign_in(self, **claims: Any) -> Profile:
        metadata = await self.openid.metadata()
        transaction = start_transaction(self.now())
        url = authorization_url(
            transaction,
            endpoint=metadata.authorization_endpoint,
            client_id=self.config.client_id,
            redirect_url=self.config.redirect_url,
            scopes="openid",
        )
        # Tokens of the time that our clock shows.
        now_s = self.now() // SECOND
        answer = self.there.answer(url, **{"iat": now_s, "exp": now_s + 300, "preferred_username": "alice", **claims})
        return await self.openid.profile(answer["code"], transaction)

    def run(self, story: Callable[[], Awaitable[T]]) -> T:
        async def told() -> T:
            try:
                return await story()
            finally:
                await self.openid.close()

        return asyncio.run(told())


def test_the_discovery_document_and_the_keys_are_fetched_once_an_hour(provider: ForgingProvider) -> None:
    client = Client(provider)

    async def story() -> None:
        await client.sign_in()
        await client.sign_in()
        assert (provider.calls.count("/keys"), len(provider.calls)) == (1, 4)
        client.offset = HOUR
        await client.sign_in()
        assert (provider.calls.count("/keys"), len(provider.calls)) == (2, 7)

    client.run(story)


def test_a_new_key_is_looked_for_when_a_token_names_it(provider: ForgingProvider) -> None:
    client = Client(provider)

    async def story() -> None:
        await client.sign_in()
        provider.published = [provider.key, SECOND_KEY]
        provider.key = SECOND_KEY
        # Not again at once: whoever sends tokens could make us ask all the time.
        with pytest.raises(BrokenToken):
            await client.sign_in()
        client.offset = 11 * SECOND
        assert (await client.sign_in()).subject == "alice-1"
        assert provider.calls.count("/keys") == 2

    client.run(story)


def test_a_key_that_was_withdrawn_does_not_count_any_more(provider: ForgingProvider) -> None:
    client = Client(provider)
    old = provider.key

    async def story() -> None:
        await client.sign_in()
        provider.published = [SECOND_KEY]
        client.offset = HOUR
        with pytest.raises(BrokenToken):
            await client.sign_in()
        assert provider.key is old

    client.run(story)


def test_a_provider_that_is_down_is_left_in_peace_for_a_moment(provider: ForgingProvider) -> None:
    client = Client(provider)
    provider.is_down = True

    async def story() -> None:
        for _ in range(3):
            with pytest.raises(ProviderUnavailable):
                await client.openid.metadata()
        assert len(provider.calls) == 1
        assert await client.openid.known_metadata() is None
        provider.is_down = False
        client.offset = 6 * SECOND
        assert (await client.openid.metadata()).issuer == provider.issuer

    client.run(story)


def test_what_the_provider_said_is_used_for_a_day_while_it_is_down(provider: ForgingProvider) -> None:
    client = Client(provider)

    async def story() -> None:
        await client.openid.metadata()
        provider.is_down = True
        client.offset = 2 * HOUR
        assert (await client.openid.metadata()).issuer == provider.issuer
        client.offset = DAY
        with pytest.raises(ProviderUnavailable):
            await client.openid.metadata()

    client.run(story)


def test_a_provider_that_nobody_runs_is_unavailable(provider: ForgingProvider) -> None:
    client = Client(provider, issuer="http://127.0.0.1:9")

    async def story() -> None:
        with pytest.raises(ProviderUnavailable) as refused:
            await client.openid.metadata()
        assert "127.0.0.1" in refused.value.reason
        assert "127.0.0.1" not in refused.value.message

    client.run(story)


def test_another_issuer_than_the_configured_one_is_refused(provider: ForgingProvider) -> None:
    client = Client(provider)
    provider.metadata = {"issuer": "https://evil.example"}

    async def story() -> None:
        with pytest.raises(ProviderUnavailable, match="does not respond"):
            await client.openid.metadata()

    client.run(story)


def test_redirects_are_not_followed(provider: ForgingProvider) -> None:
    client = Client(provider, issuer=f"{provider.issuer}/elsewhere")

    async def story() -> None:
        with pytest.raises(ProviderUnavailable):
            await client.openid.metadata()

    client.run(story)


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_the_secret_is_sent_as_the_provider_takes_it(provider: ForgingProvider, method: str) -> None:
    client = Client(provider)
    provider.metadata = {"token_endpoint_auth_methods_supported": [method]}

    assert client.run(client.sign_in).subject == "alice-1"


def test_a_wrong_secret_is_named_in_the_log_only(provider: ForgingProvider) -> None:
    client = Client(provider, client_secret="wrong")

    async def story() -> None:
        with pytest.raises(CodeRefused) as refused:
            await client.sign_in()
        assert "invalid_client" in refused.value.reason
        assert "invalid_client" not in refused.value.message
        assert "wrong" not in refused.value.reason

    client.run(story)


def test_groups_are_read_only_if_they_decide_something(provider: ForgingProvider) -> None:
    without, reading = Client(provider), Client(provider, allowed_groups=frozenset({"a"}))

    assert without.run(lambda: without.sign_in(groups=["a"])).groups == ()
    assert reading.run(lambda: reading.sign_in(groups=["a"])).groups == ("a",)
    assert reading.run(lambda: reading.sign_in(userinfo_groups=["b"])).groups == ("b",)


def test_a_token_for_another_access_token_is_refused(provider: ForgingProvider) -> None:
    client = Client(provider)

    async def story() -> None:
        with pytest.raises(BrokenToken) as refused:
            await client.sign_in(at_hash="AAAA")
        assert "at_hash" in refused.value.reason

    client.run(story)


def test_secrets_are_not_shown_when_objects_are_printed(provider: ForgingProvider) -> None:
    client = Client(provider)
    profile = client.run(client.sign_in)

    assert CLIENT_SECRET not in repr(client.config)
    assert profile.id_token
    assert profile.id_token not in repr(profile)
