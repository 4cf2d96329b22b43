"""The services of this slice, for its endpoints and pages."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.services import SliceServices
from tidings.sign_in.account_log import AccountLog
from tidings.sign_in.codes.second_factors import SecondFactors
from tidings.sign_in.limits import AccountLimiter
from tidings.sign_in.links import AccountLinks
from tidings.sign_in.openid.sign_in import OpenIdSignIn
from tidings.sign_in.passkeys.passkeys import Passkeys
from tidings.sign_in.proxy import ProxySignIn


@dataclass(frozen=True, slots=True)
class SignInServices(SliceServices):
    """Ways of signing in, the log of accounts, and their limits."""

    log: AccountLog
    links: AccountLinks
    limits: AccountLimiter
    openid: OpenIdSignIn | None
    """None unless OpenID Connect is configured."""
    proxy: ProxySignIn | None
    """None unless a reverse proxy signs users in."""
    factors: SecondFactors
    passkeys: Passkeys

    async def close(self) -> None:
        """Close connections to the provider. Call it inside the event loop that used them."""
        if self.openid is not None:
            await self.openid.provider.close()
