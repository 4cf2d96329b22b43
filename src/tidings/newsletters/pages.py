"""The page of newsletters: what is to be confirmed, the secret addresses, and the senders of what has arrived.

/newsletters   /newsletters/address   /newsletters/7/delete   /newsletters/senders/3   …/3/unsubscribe   …/3/edit
"""

from __future__ import annotations

from typing import Any

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.users import User
from tidings.http.binding import Form, parse_id
from tidings.http.endpoints import Routes
from tidings.net.errors import FetchError
from tidings.newsletters.lmtp_listener import is_answered, shown_place
from tidings.newsletters.model import NewsletterSender
from tidings.newsletters.services import NewsletterServices
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.feed_rows import soon
from tidings.web.field_errors import field_error
from tidings.web.language import _
from tidings.web.message_translation import translated

routes = Routes()

PATH = "/newsletters"


class AddressForm(Form, frozen=True):
    """The form that makes an address."""

    name: str = ""
    one_feed: bool | None = None


class SenderForm(Form, frozen=True):
    """The form of a sender."""

    action: str = ""
    """block, unblock or confirmed."""


class SenderEditForm(Form, frozen=True):
    """The form that renames a sender, and sends its letters to the feed of another one."""

    name: str = ""
    feed: str = ""
    """The id of a feed of newsletters; empty if the next letter makes one."""


@routes.get(PATH)
def show_newsletters(context: RequestContext, newsletters: NewsletterServices) -> PageResponse:
    return _page(context, newsletters, AddressForm())


@routes.post(PATH)
def create_address(
    context: RequestContext, newsletters: NewsletterServices, form: AddressForm
) -> PageResponse | Redirect:
    try:
        name = form.name.strip() or _("Newsletters")
        made = newsletters.newsletters.create_address(context.caller.id, name, is_one_feed=bool(form.one_feed))
    except InvalidInput as error:
        return _page(context, newsletters, form, field_error(error, field="name"))
    return Redirect(f"{PATH}#a{made.id}", notice=_("%(title)s created.", title=made.name))


@routes.post(PATH + "/address")
def find_address(caller: User, newsletters: NewsletterServices) -> Redirect:
    """Show the user's first address, which is made if there is none yet."""
    addresses = newsletters.newsletters.list_addresses(caller.id)
    first = addresses[0] if addresses else newsletters.newsletters.create_address(caller.id, _("Newsletters"))
    return Redirect(f"{PATH}#a{first.id}")


@routes.get(PATH + "/{newsletter_id}/delete")
def confirm_deletion(caller: User, newsletters: NewsletterServices, newsletter_id: int) -> PageResponse:
    """Ask first: a secret does not come back."""
    address = newsletters.newsletters.get_address(caller.id, newsletter_id)
    values = {"title": _("Delete an address"), "place": "newsletters", "address": address}
    return PageResponse("newsletters/newsletter_delete.html", values)


@routes.post(PATH + "/{newsletter_id}/delete")
def delete_address(caller: User, newsletters: NewsletterServices, newsletter_id: int) -> Redirect:
    address = newsletters.newsletters.get_address(caller.id, newsletter_id)
    newsletters.newsletters.delete_address(caller.id, newsletter_id)
    return Redirect(PATH, notice=_("%(title)s deleted.", title=address.name))


@routes.post(PATH + "/senders/{sender_id}")
def change_sender(caller: User, newsletters: NewsletterServices, sender_id: int, form: SenderForm) -> Redirect:
    newsletters.newsletters.update_sender(
        caller.id,
        sender_id,
        is_blocked={"block": True, "unblock": False}.get(form.action),
        is_confirmed=form.action == "confirmed",
    )
    return Redirect(f"{PATH}#s{sender_id}", notice=_("Saved."))


@routes.get(PATH + "/senders/{sender_id}/edit")
def show_sender(caller: User, newsletters: NewsletterServices, sender_id: int) -> PageResponse:
    sender = newsletters.newsletters.get_sender(caller.id, sender_id)
    feed = "" if sender.feed_id is None else str(sender.feed_id)
    return _sender_page(caller, newsletters, sender, SenderEditForm(name=sender.name, feed=feed))


@routes.post(PATH + "/senders/{sender_id}/edit")
def edit_sender(
    caller: User, newsletters: NewsletterServices, sender_id: int, form: SenderEditForm
) -> PageResponse | Redirect:
    sender = newsletters.newsletters.get_sender(caller.id, sender_id)
    try:
        feed_id = parse_id("feed", form.feed) if form.feed else None
        newsletters.newsletters.update_sender(caller.id, sender_id, name=form.name, feed_id=feed_id)
    except InvalidInput as error:
        problem = field_error(error, field="name", renamed={"feed_id": "feed"})
        return _sender_page(caller, newsletters, sender, form, problem)
    return Redirect(f"{PATH}#s{sender_id}", notice=_("Saved."))


@routes.post(PATH + "/senders/{sender_id}/unsubscribe")
async def unsubscribe(caller: User, newsletters: NewsletterServices, sender_id: int) -> Redirect:
    try:
        await newsletters.unsubscriber.unsubscribe(caller.id, sender_id)
    except (InvalidInput, FetchError) as error:
        return Redirect(f"{PATH}#s{sender_id}", notice=translated(error.text))
    return Redirect(f"{PATH}#s{sender_id}", notice=_("You are unsubscribed."))


def _sender_page(
    caller: User,
    newsletters: NewsletterServices,
    sender: NewsletterSender,
    form: SenderEditForm,
    problem: InvalidInput | None = None,
) -> PageResponse:
    feeds = {str(one.id): one.title for one in newsletters.newsletters.list_feeds(caller.id)}
    values = {
        "title": sender.name,
        "place": "newsletters",
        "sender": sender,
        "form": form,
        "feeds": feeds if form.feed else {"": _("A new feed")} | feeds,
    }
    return PageResponse("newsletters/newsletter_sender.html", values, status=400 if problem else 200, problem=problem)


def _page(
    context: RequestContext, newsletters: NewsletterServices, form: AddressForm, problem: InvalidInput | None = None
) -> PageResponse:
    user_id = context.caller.id
    mailbox = newsletters.mailboxes.find(user_id)
    values = {
        "title": _("Newsletters"),
        "place": "newsletters",
        "addresses": [
            (one, newsletters.mail_addresses(one.secret), f"{newsletters.base_url}/mail/{one.secret}")
            for one in newsletters.newsletters.list_addresses(user_id)
        ],
        "senders": newsletters.newsletters.list_senders(user_id),
        "mailbox": mailbox,
        "next_round": soon(mailbox.next_poll_at, context.now) if mailbox else "",
        "ways": _ways(context, newsletters),
        "name_typed": form.name,
        "is_one_feed": bool(form.one_feed),
    }
    return PageResponse(
        "newsletters/newsletters.html", values, status=400 if problem else 200, problem=problem, has_secret=True
    )


def _ways(context: RequestContext, newsletters: NewsletterServices) -> dict[str, Any] | None:
    """Return how letters reach this installation; None unless the user is an administrator."""
    if not context.caller.is_admin:
        return None
    shared = newsletters.mailboxes.find_shared()
    place = newsletters.lmtp
    return {
        "has_mailbox": newsletters.mailboxes.shared is not None,
        "mailbox": shared,
        "next_round": soon(shared.next_poll_at, context.now) if shared else "",
        "lmtp": "" if place is None else shown_place(place),
        "lmtp_answers": place is not None and is_answered(place),
    }
