"""Endpoints for newsletters: the secret addresses of a user, and the senders of what arrived there."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tidings.api.schema_annotations import Required, Timestamp
from tidings.base.errors import InvalidInput, NotFound
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.binding import LazyBody
from tidings.http.endpoints import Routes
from tidings.http.json_body import Int64
from tidings.net.errors import FetchError
from tidings.newsletters.model import MAX_NAME_CHARS, NewsletterAddress, NewsletterSender
from tidings.newsletters.services import NewsletterServices
from tidings.services.clock import time_zone

routes = Routes("Newsletters", after="OPML")

Name = Annotated[str | None, Meta(extra_json_schema={"maxLength": MAX_NAME_CHARS})]


class NewsletterOut(Struct, frozen=True):
    """A secret address. post_path: send messages there, as they are (RFC 5322). addresses: mail addresses that lead
    there, if the operator has named one.

    one_feed: new senders share one feed. category_id: of new feeds; null for the first category.
    """

    id: int
    name: str
    post_path: str
    addresses: list[str]
    one_feed: bool
    category_id: int | None
    letters: int
    created_at: Timestamp
    last_letter_at: Timestamp | None


class NewsletterCreate(Struct, frozen=True):
    """one_feed: whether new senders share one feed; default false. category_id: default the first category."""

    name: Required[str] = None
    one_feed: bool | None = None
    category_id: Int64 | None = None


class NewsletterSenderOut(Struct, frozen=True):
    """A newsletter. list_id: its List-Id; else it is known by its address. feed_id: where its letters go; null until
    the next one makes a feed.

    discarded: letters since it is blocked. one_click: the API can unsubscribe from it.
    authentication: of its newest letter, as in "spf=pass dkim=pass". spam: a filter said so of its newest letter.
    confirmation_url: open it to confirm the subscription; "" if there is nothing to do.
    """

    id: int
    name: str
    address: str
    list_id: str
    feed_id: int | None
    blocked: bool
    letters: int
    discarded: int
    last_letter_at: Timestamp | None
    unsubscribe_url: str
    unsubscribe_mail: str
    one_click: bool
    unsubscribed_at: Timestamp | None
    authentication: str
    spam: bool
    confirmation_url: str
    confirmation_subject: str


class NewsletterSenderUpdate(Struct, frozen=True):
    """feed_id: one of your feeds of newsletters, to which the letters go from now on.

    confirmed: true if there is nothing more to confirm.
    """

    name: Name = None
    blocked: bool | None = None
    feed_id: Int64 | None = None
    confirmed: bool | None = None


@routes.get("/v1/newsletters", scope=KeyScope.MANAGE, lists=NewsletterOut)
def list_newsletters(caller: User, newsletters: NewsletterServices) -> list[NewsletterOut]:
    """List your secret addresses for newsletters."""
    return [_out(caller, newsletters, one) for one in newsletters.newsletters.list_addresses(caller.id)]


@routes.post("/v1/newsletters", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput, NotFound))
def create_newsletter(caller: User, newsletters: NewsletterServices, body: NewsletterCreate) -> NewsletterOut:
    """Make a secret address at which newsletters arrive and become feeds."""
    made = newsletters.newsletters.create_address(
        caller.id, body.name or "", is_one_feed=bool(body.one_feed), category_id=body.category_id
    )
    return _out(caller, newsletters, made)


@routes.delete("/v1/newsletters/{newsletter_id}", scope=KeyScope.MANAGE, status=204, raises=(InvalidInput, NotFound))
def delete_newsletter(caller: User, newsletters: NewsletterServices, newsletter_id: int) -> None:
    """Delete a secret address: nothing more arrives there. Its feeds stay."""
    newsletters.newsletters.delete_address(caller.id, newsletter_id)


@routes.get("/v1/newsletters/senders", scope=KeyScope.MANAGE, lists=NewsletterSenderOut)
def list_newsletter_senders(caller: User, newsletters: NewsletterServices) -> list[NewsletterSenderOut]:
    """List the senders of newsletters that have arrived, by name."""
    return [_sender_out(caller, one) for one in newsletters.newsletters.list_senders(caller.id)]


@routes.put("/v1/newsletters/senders/{sender_id}", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput, NotFound))
def update_newsletter_sender(
    caller: User, newsletters: NewsletterServices, sender_id: int, body: LazyBody[NewsletterSenderUpdate]
) -> NewsletterSenderOut:
    """Rename a sender, block it, or send its letters to the feed of another one."""
    newsletters.newsletters.get_sender(caller.id, sender_id)
    asked = body.read()
    changed = newsletters.newsletters.update_sender(
        caller.id,
        sender_id,
        name=asked.name,
        is_blocked=asked.blocked,
        feed_id=asked.feed_id,
        is_confirmed=asked.confirmed,
    )
    return _sender_out(caller, changed)


@routes.post(
    "/v1/newsletters/senders/{sender_id}/unsubscribe",
    scope=KeyScope.MANAGE,
    raises=(InvalidInput, NotFound, FetchError),
)
async def unsubscribe_from_newsletter(
    caller: User, newsletters: NewsletterServices, sender_id: int
) -> NewsletterSenderOut:
    """Ask a sender for no more letters, by the one-click request of RFC 8058."""
    return _sender_out(caller, await newsletters.unsubscriber.unsubscribe(caller.id, sender_id))


def _out(caller: User, newsletters: NewsletterServices, address: NewsletterAddress) -> NewsletterOut:
    zone = time_zone(caller.timezone)
    return NewsletterOut(
        id=address.id,
        name=address.name,
        post_path=newsletters.post_path(address.secret),
        addresses=newsletters.mail_addresses(address.secret),
        one_feed=address.is_one_feed,
        category_id=address.category_id,
        letters=address.letters,
        created_at=zone.format(address.created_at),
        last_letter_at=zone.format_optional(address.last_letter_at),
    )


def _sender_out(caller: User, sender: NewsletterSender) -> NewsletterSenderOut:
    zone = time_zone(caller.timezone)
    kind, _, name = sender.sender_key.partition(":")
    return NewsletterSenderOut(
        id=sender.id,
        name=sender.name,
        address=sender.address,
        list_id=name if kind == "list" else "",
        feed_id=sender.feed_id,
        blocked=sender.is_blocked,
        letters=sender.letters,
        discarded=sender.discarded,
        last_letter_at=zone.format_optional(sender.last_letter_at),
        unsubscribe_url=sender.unsubscribe_url,
        unsubscribe_mail=sender.unsubscribe_mail,
        one_click=sender.is_one_click,
        unsubscribed_at=zone.format_optional(sender.unsubscribed_at),
        authentication=sender.authentication,
        spam=sender.is_spam,
        confirmation_url=sender.confirmation_url,
        confirmation_subject=sender.confirmation_subject,
    )
