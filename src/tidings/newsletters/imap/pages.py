"""The page of the mailbox that is read for letters.

/newsletters/mailbox   …/delete
"""

from __future__ import annotations

from typing import Any

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.users import User
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.newsletters.imap.model import DEFAULT_FOLDER, Mailbox
from tidings.newsletters.services import NewsletterServices
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _

routes = Routes()

PATH = "/newsletters/mailbox"


class MailboxForm(Form, frozen=True):
    """The form of the mailbox. password: empty to keep the stored one."""

    host: str = ""
    port: int | None = None
    starttls: bool | None = None
    username: str = ""
    password: str = ""
    folder: str = DEFAULT_FOLDER
    mark_seen: bool | None = None


@routes.get(PATH)
def show_mailbox(context: RequestContext, newsletters: NewsletterServices) -> PageResponse:
    known = newsletters.mailboxes.find(context.caller.id)
    typed = _typed(known) if known else _typed_form(MailboxForm())
    return _page(known, typed)


@routes.post(PATH)
def set_mailbox(context: RequestContext, newsletters: NewsletterServices, form: MailboxForm) -> PageResponse | Redirect:
    known = newsletters.mailboxes.find(context.caller.id)
    try:
        newsletters.mailboxes.save(
            context.caller.id,
            host=form.host,
            port=form.port,
            # What was set through the API stays: the page offers TLS alone.
            has_tls=known.has_tls if known and known.host == form.host.strip() and not form.starttls else True,
            has_starttls=bool(form.starttls),
            username=form.username,
            password=form.password or None,
            folder=form.folder,
            marks_seen=bool(form.mark_seen),
        )
    except InvalidInput as error:
        return _page(known, _typed_form(form), error)
    return Redirect(PATH, notice=_("Saved. The mailbox will be read in a moment."))


@routes.post(PATH + "/delete")
def delete_mailbox(caller: User, newsletters: NewsletterServices) -> Redirect:
    newsletters.mailboxes.remove(caller.id)
    return Redirect("/newsletters", notice=_("The mailbox is not read any more."))


def _typed(known: Mailbox) -> dict[str, Any]:
    return {
        "host": known.host,
        "port": known.port,
        "starttls": known.has_starttls,
        "username": known.username,
        "folder": known.folder,
        "mark_seen": known.marks_seen,
    }


def _typed_form(form: MailboxForm) -> dict[str, Any]:
    """Return what was typed, without the password."""
    return {
        "host": form.host,
        "port": "" if form.port is None else form.port,
        "starttls": bool(form.starttls),
        "username": form.username,
        "folder": form.folder,
        "mark_seen": bool(form.mark_seen),
    }


def _page(known: Mailbox | None, typed: dict[str, Any], problem: InvalidInput | None = None) -> PageResponse:
    values = {"title": _("Mailbox for newsletters"), "place": "newsletters", "mailbox": known, "typed": typed}
    return PageResponse("newsletters/mailbox.html", values, status=400 if problem else 200, problem=problem)
