"""Endpoints for list links: secret addresses at which other programs follow the lists of a user."""

from __future__ import annotations

from msgspec import Struct

from tidings.api.public_address import PublicAddress
from tidings.base.errors import Forbidden
from tidings.base.messages import msg
from tidings.domain.accounts.rights import KeyScope, Rights
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.services import Services

routes = Routes("List links")


class ListLinksOut(Struct, frozen=True):
    """Secret addresses of lists, as Atom feeds, or as JSON Feeds with ?format=json; null while there are none.

    category, feed, view, view_opml: {category_id}, {feed_id} and {view_id} stand for an id. view_opml: the feeds of a
    saved view as OPML.
    """

    unread: str | None = None
    starred: str | None = None
    category: str | None = None
    feed: str | None = None
    view: str | None = None
    view_opml: str | None = None


@routes.get("/v1/list-links", scope=KeyScope.MANAGE, raises=(Forbidden,))
def get_list_links(caller: User, rights: Rights, services: Services, address: PublicAddress) -> ListLinksOut:
    """Get the secret addresses of your lists. Who knows one needs no key."""
    _ensure_lasting(rights)
    return _out(services.entries.feed_links.token(caller.id), address)


@routes.post("/v1/list-links", scope=KeyScope.MANAGE, status=201, raises=(Forbidden,))
def create_list_links(caller: User, rights: Rights, services: Services, address: PublicAddress) -> ListLinksOut:
    """Make secret addresses of your lists. Those that you had no longer work."""
    _ensure_lasting(rights)
    return _out(services.entries.feed_links.renew(caller.id), address)


@routes.delete("/v1/list-links", scope=KeyScope.MANAGE, status=204)
def delete_list_links(caller: User, services: Services) -> None:
    """Revoke the secret addresses of your lists, if there are any."""
    services.entries.feed_links.revoke(caller.id)


def _ensure_lasting(rights: Rights) -> None:
    if rights.expires_at is not None:
        raise Forbidden(msg("A key that expires cannot get the addresses of lists, which would outlive it."))


def _out(token: str, address: PublicAddress) -> ListLinksOut:
    if not token:
        return ListLinksOut()
    base = address.url(f"/lists/{token}")
    return ListLinksOut(
        unread=f"{base}/unread",
        starred=f"{base}/starred",
        category=f"{base}/categories/{{category_id}}",
        feed=f"{base}/feeds/{{feed_id}}",
        view=f"{base}/views/{{view_id}}",
        view_opml=f"{base}/views/{{view_id}}/opml",
    )
