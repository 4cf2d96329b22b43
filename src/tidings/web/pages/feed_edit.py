"""The page of a feed's settings, with a preview of its rules and a button that checks the feed now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import defstruct
from msgspec.structs import replace

from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import msg, verbatim
from tidings.content.pages import selectors_text, written_selectors
from tidings.content.rules.pipeline import RuleTexts, compile_rules
from tidings.domain.accounts.users import User
from tidings.domain.entries import retention
from tidings.domain.feeds.feed_settings import DAYS, NUMBERS, RULES, SWITCHES, TEXTS
from tidings.domain.feeds.feeds import Feed, is_fetched
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.http.requests import run_while_connected
from tidings.net.errors import FetchError
from tidings.services import Services
from tidings.services.feeds.feeds import owned_feed
from tidings.services.feeds.rule_preview import RulePreview
from tidings.services.polling.lease import RefreshFailed
from tidings.services.publisher_requests import BOUND_TO_HOST, options_elsewhere
from tidings.storage.feeds import categories, further_categories, health
from tidings.web import security
from tidings.web.conditions import FILTERS, LISTS, Built, ListRows, Matches, edited, filter_matches, read, shown, stored
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.feed_rows import feed_rows
from tidings.web.field_errors import field_error
from tidings.web.language import N_, _
from tidings.web.message_translation import translated

routes = Routes()

# Check boxes by section of the form: name, label, help.
SWITCH_LABELS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "checking": (("disabled", N_("Switched off: it is not checked"), ""),),
    "entries": (
        ("crawler", N_("Fetch full articles"), N_("For feeds that publish only the beginning.")),
        ("hide_globally", N_("Hide from Unread"), ""),
        ("keep_duplicates", N_("Keep duplicates of other feeds"), ""),
        (
            "ignore_entry_updates",
            N_("Ignore entry updates"),
            N_("Entries stay as they first arrived, whatever the publisher changes later."),
        ),
        (
            "discard_versions",
            N_("Do not keep earlier versions of entries"),
            N_("When the publisher changes an entry, what it said before is not kept."),
        ),
        (
            "match_entries_by_url",
            N_("Tell entries apart by their address"),
            N_("For feeds whose old entries keep coming back as new."),
        ),
        ("no_media_player", N_("Do not show an audio or video player"), ""),
    ),
    "fetching": (
        ("fetch_via_proxy", N_("Fetch through the proxy of this server"), ""),
        (
            "fetch_via_flaresolverr",
            N_("Fetch through FlareSolverr"),
            N_("A browser of this server, for sites that check that visitors are human."),
        ),
        ("allow_self_signed_certificates", N_("Trust self-signed certificates"), ""),
        ("ignore_http_cache", N_("Always fetch the whole feed"), ""),
        ("disable_http2", N_("Do not use HTTP/2"), ""),
    ),
}


# By the prefix of rows: the name of the setting, and what its text is written in.
FILTER_SETTINGS = {
    "block": ("block_filter_entry_rules", FILTERS),
    "keep": ("keep_filter_entry_rules", FILTERS),
    "blocklist": ("blocklist_rules", LISTS),
    "keeplist": ("keeplist_rules", LISTS),
}


class FeedFormBase(ListRows, frozen=True):
    """The fixed fields of FeedForm."""

    category_id: int | None = None
    """None keeps the category."""
    also: tuple[str, ...] = ()
    """Ids of the other categories to stay in; the form sends "" with them, so that it can tell none from not sent."""
    also_in: int | None = None
    """One more."""
    forget_password: bool | None = None
    """Remove the stored password."""


if TYPE_CHECKING:
    FeedForm = FeedFormBase
else:
    # A field for each setting, named as in the API. Numbers are strings, so that the page can show invalid input again.
    FeedForm = defstruct(
        "FeedForm",
        [(name, str, "") for name in (*TEXTS, *NUMBERS)] + [(name, bool | None, None) for name in SWITCHES],
        bases=(FeedFormBase,),
        module=__name__,
        frozen=True,
    )


class RefreshForm(Form, frozen=True):
    back: str = ""


@routes.get("/feeds/{feed_id}/edit")
def show_feed_form(context: RequestContext, feed_id: int) -> PageResponse:
    return _page(context, feed_id)


@routes.post("/feeds/{feed_id}/edit")
def change_feed(
    context: RequestContext, caller: User, services: Services, feed_id: int, form: FeedForm
) -> PageResponse | Redirect:
    """Write only changed fields: an unchanged title still follows the publisher's."""
    with services.reading() as db:
        feed = owned_feed(db, caller.id, feed_id)
        further = further_categories.of_feeds(db, caller.id, [feed_id]).get(feed_id, ())
    form, filters = _with_filters(form, is_final=True)
    fields, problems = _changes(feed, form)
    problems |= {FILTER_SETTINGS[one.prefix][0]: _("Say what to look for.") for one in filters if one.has_gaps}
    category_ids = _categories(feed, form, further)
    if category_ids != (feed.category_id, *further):
        fields["category_ids"] = category_ids
    # One by one, so that the page shows all errors together.
    for name in fields.keys() - problems.keys():
        try:
            services.feeds.subscriptions.validate(caller.id, {name: fields[name]})
        except InvalidInput as error:
            problems[name] = field_error(error).message
    # A stored rule that matches nothing does not prevent other changes.
    problems |= {name: problem for name, problem in _rule_problems(form).items() if name in fields}
    if not problems:
        try:
            services.feeds.subscriptions.update(caller.id, feed_id, _with_shown(feed, form, fields))
        except InvalidInput as error:
            problems = {error.field or "title": field_error(error).message}
    if problems:
        return _page(context, feed_id, form, _rule_problems(form) | problems, filters=filters)
    return Redirect(f"/feeds/{feed_id}/edit", notice=_("Saved."))


@routes.post("/feeds/{feed_id}/try")
async def try_rules(
    context: RequestContext, caller: User, services: Services, feed_id: int, form: FeedForm
) -> PageResponse:
    """Show what the typed rules would do to existing entries, or rows after a change. Nothing is stored."""
    form, filters = _with_filters(form)
    if form.edit:
        return await asyncio.to_thread(_edited, context, feed_id, form, filters)
    rules = {name: getattr(form, name) for name in RULES}
    preview = await run_while_connected(
        context.request,
        lambda is_stopped: services.feeds.rule_previewer.run(caller, feed_id, rules, is_stopped=is_stopped),
    )
    return await asyncio.to_thread(_page, context, feed_id, form, preview=preview, filters=filters)


@routes.post("/feeds/{feed_id}/refresh")
async def refresh_feed(caller: User, services: Services, feed_id: int, form: RefreshForm) -> Redirect:
    notice = _("Checked.")
    try:
        await services.polling.claims.refresh_now(caller.id, feed_id)
    except (RefreshFailed, FetchError, InvalidInput) as error:
        notice = translated(error.text)
    return Redirect(security.local_path(form.back) or f"/feeds/{feed_id}/edit", notice=notice)


@routes.post("/feeds/{feed_id}/through-flaresolverr")
async def fetch_through_flaresolverr(caller: User, services: Services, feed_id: int, form: RefreshForm) -> Redirect:
    """Have the feed fetched through FlareSolverr from now on, in place of the proxy, and check it."""
    fields = {"fetch_via_flaresolverr": True, "fetch_via_proxy": False}
    await asyncio.to_thread(services.feeds.subscriptions.update, caller.id, feed_id, fields)
    return await refresh_feed(caller, services, feed_id, form)


def _with_filters(form: FeedForm, *, is_final: bool = False) -> tuple[FeedForm, list[Built]]:
    """Return the form with the rows of its filters as their texts, and these."""
    filters = [
        read(language, prefix, form, getattr(form, name), is_final=is_final)
        for prefix, (name, language) in FILTER_SETTINGS.items()
    ]
    return replace(form, **{FILTER_SETTINGS[one.prefix][0]: one.text for one in filters}), filters


def _edited(context: RequestContext, feed_id: int, form: FeedForm, filters: list[Built]) -> PageResponse:
    """Return the page after a change of rows, with what they match now among the newest entries of the feed."""
    filters = [edited(one, form.edit) for one in filters]
    changed = form.edit.partition("-")[0]
    matches = {one.prefix: filter_matches(context, one, feed_id=feed_id) for one in filters if one.prefix == changed}
    return _page(context, feed_id, form, filters=filters, matches=matches)


def _categories(feed: Feed, form: FeedForm, further: Sequence[int]) -> tuple[int, ...]:
    """Return the categories that the feed is to be in. further: those after the first now."""
    kept = [one for one in further if not form.also or str(one) in form.also]
    added = [form.also_in] if form.also_in else []
    return tuple(dict.fromkeys((form.category_id or feed.category_id, *kept, *added)))


def _changes(feed: Feed, form: FeedForm) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the changed settings, and errors by field."""
    fields: dict[str, Any] = {name: getattr(form, name) for name in TEXTS}
    fields["selectors"] = _stored_selectors(fields["selectors"])
    fields |= {name: bool(getattr(form, name)) for name in SWITCHES}
    fields["category_id"] = form.category_id or feed.category_id
    # The page does not show the stored password, so an empty field keeps it.
    fields["password"] = fields["password"] or ("" if form.forget_password else feed.password)
    problems = {}
    for name, empty in NUMBERS.items():
        text = getattr(form, name).strip()
        try:
            fields[name] = int(text) if text else empty
        except ValueError:
            problems[name] = _("Type a whole number, or leave it empty.")
            continue
        if name in DAYS and fields[name] is not None and not retention.is_allowed(fields[name]):
            problems[name] = _("Type 1 to %(max)d days, -1 for ever, or nothing.", max=retention.MAX_DAYS)
    return {name: value for name, value in fields.items() if value != getattr(feed, name)}, problems


def _stored_selectors(typed: str) -> str:
    """Return typed selectors as they are stored, or as they are if they cannot be read: validation says why."""
    try:
        return selectors_text(written_selectors(typed))
    except InvalidInput:
        return typed


def _shown_selectors(stored: str) -> str:
    """Return stored selectors with a line for each part."""
    return msgspec.json.format(stored, indent=2) if stored else ""


def _with_shown(feed: Feed, form: FeedForm, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the changes; with a new address, unchanged values that the page shows too: they are for that address.

    Raises InvalidInput if the stored password, which the page does not show, would go to another host.
    """
    if "feed_url" not in fields:
        return fields
    shown = {name: getattr(form, name) for name in BOUND_TO_HOST if name != "password"}
    kept = {"password": feed.password} if feed.password and "password" not in fields else {}
    if kept and not options_elsewhere(kept, feed.feed_url, fields["feed_url"]):
        raise InvalidField(
            "password", msg("the new address is on another host: type the password again, or remove it.")
        )
    return shown | fields


def _rule_problems(form: FeedForm) -> dict[str, str]:
    """Return an error for every invalid rule, by field; each names the rule."""
    problems: dict[str, list[str]] = {}
    for error in compile_rules(RuleTexts(**{name: getattr(form, name) for name in RULES})).errors:
        problems.setdefault(error.field, []).append(translated(error.problem))
    return {name: "\n".join(messages) for name, messages in problems.items()}


def _page(
    context: RequestContext,
    feed_id: int,
    form: FeedForm | None = None,
    problems: dict[str, str] | None = None,
    preview: RulePreview | None = None,
    *,
    filters: Sequence[Built] = (),
    matches: Mapping[str, Matches | None] | None = None,
) -> PageResponse:
    """problems: why the form was not saved, by field; otherwise the rules that are left out are marked."""
    user, now = context.caller, context.now
    with context.services.reading() as db:
        feed = owned_feed(db, user.id, feed_id)
        checked = health.get(db, user.id, feed_id, now)
        if checked is None:
            raise NotFound(verbatim(f"There is no feed {feed_id}."))
        further = further_categories.of_feeds(db, user.id, [feed_id])
        named = categories.paths(db, user.id)
        (row,) = feed_rows(db, user.id, [checked], named, further, now)
    typed = _form_of(feed) if form is None else form
    is_refused = bool(problems)
    problems = problems or _rule_problems(typed)
    filters = filters or [
        stored(language, prefix, getattr(typed, name)) for prefix, (name, language) in FILTER_SETTINGS.items()
    ]
    values = {
        "title": feed.title,
        "place": "",
        "feed": feed,
        "row": row,
        "is_fetched": is_fetched(feed.feed_url),
        "form": typed,
        "also": [(one, named.get(one, "")) for one in further.get(feed_id, ())],
        "is_typed": form is not None,
        "setting_labels": SWITCH_LABELS,
        "problems": problems,
        "is_refused": is_refused,
        "filters": {one.prefix: shown(context, one, matches=(matches or {}).get(one.prefix)) for one in filters},
        "shows_rules": preview is not None
        or typed.edit
        or any(name in problems or getattr(typed, name) for name in RULES),
        "preview": preview,
        "user_rules": bool(user.block_filter_entry_rules.strip() or user.keep_filter_entry_rules.strip()),
    }
    return PageResponse("feed_edit.html", values, status=400 if is_refused else 200, has_secret=True)


def _form_of(feed: Feed) -> FeedForm:
    values: dict[str, Any] = {name: getattr(feed, name) for name in (*TEXTS, *SWITCHES, "category_id")}
    for name, empty in NUMBERS.items():
        value = getattr(feed, name)
        values[name] = "" if value == empty else str(value)
    values["selectors"] = _shown_selectors(feed.selectors)
    return FeedForm(**values)
