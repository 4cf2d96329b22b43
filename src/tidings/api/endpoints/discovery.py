"""The endpoint that discovers the feeds of a site."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from tidings.api.schema_annotations import Required, one_of
from tidings.base.errors import InvalidInput, NotFound
from tidings.content.model import FeedFormat
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.net.errors import FetchError
from tidings.services import Services
from tidings.services.feeds.discovery import DiscoveredFeed
from tidings.services.feeds.typed_urls import reach

routes = Routes("Discovery")


class DiscoveryRequest(Struct, frozen=True, kw_only=True):
    """url: of a web page or a feed. The other members are sent to its host only."""

    url: Required[str] = None
    username: str | None = None
    password: str | None = None
    user_agent: str | None = None
    cookie: str | None = None
    proxy_url: str | None = None
    fetch_via_proxy: bool | None = None
    fetch_via_flaresolverr: bool | None = None
    allow_self_signed_certificates: bool | None = None
    disable_http2: bool | None = None


class DiscoveredOut(Struct, frozen=True):
    url: str
    title: str
    type: Annotated[str, one_of(FeedFormat)]


@routes.post("/v1/discover", scope=KeyScope.MANAGE, raises=(InvalidInput, NotFound, FetchError))
async def discover(caller: User, services: Services, body: DiscoveryRequest) -> list[DiscoveredOut]:
    """Find the feeds of a web page. Nothing is stored."""
    values = {name: value for name in body.__struct_fields__ if (value := getattr(body, name)) is not None}

    async def find(url: str) -> list[DiscoveredFeed]:
        return await services.feeds.discovery.find(caller.id, values | {"url": url})

    has_secrets = bool(body.username or body.password or body.cookie)
    found = await reach(body.url or "", find, has_secrets=has_secrets, completes=False)
    return [DiscoveredOut(url=feed.url, title=feed.title, type=feed.type.value) for feed in found]
