"""One feed: everything that may be set on it, its rules tried out before they are kept, and a check right now."""

from __future__ import annotations

from typing import Any

from tidings.domain.errors import FetchError, InvalidInput, NotFound
from tidings.domain.feed_changes import RULES
from tidings.domain.feeds import Feed
from tidings.domain.retention import MOST_DAYS, NEVER
from tidings.domain.rules.pipeline import RuleTexts, compile_rules
from tidings.domain.users import User
from tidings.services import Services
from tidings.services.feeds import owned
from tidings.services.polling import RefreshFailed
from tidings.services.trials import Trial
from tidings.storage import categories, feed_health
from tidings.web import security
from tidings.web.calling import Form
from tidings.web.feed_rows import feed_rows, states
from tidings.web.language import _
from tidings.web.problems import plain
from tidings.web.routes import Routes
from tidings.web.visits import Page, Redirect, Visit
from tidings.web.wording import translated

routes = Routes()

_TEXTS = (
    "title",
    "feed_url",
    "site_url",
    "description",
    "user_agent",
    "cookie",
    "username",
    "password",
    "proxy_url",
    "webhook_url",
    "apprise_service_urls",
    *RULES,
)
_SWITCHES = (
    "disabled",
    "crawler",
    "hide_globally",
    "no_media_player",
    "ignore_entry_updates",
    "match_entries_by_url",
    "fetch_via_proxy",
    "ignore_http_cache",
    "allow_self_signed_certificates",
    "disable_http2",
)
_DAYS = ("keep_read_days", "keep_unread_days")
# Numbers, and what an empty field means.
_NUMBERS: dict[str, int | None] = {"check_interval_minutes": 0, **dict.fromkeys(_DAYS)}


class FeedForm(Form, frozen=True):
    """As the API names them. Numbers are texts here, so that what was typed is kept."""

    title: str = ""
    feed_url: str = ""
    site_url: str = ""
    description: str = ""
    category_id: int | None = None
    user_agent: str = ""
    cookie: str = ""
    username: str = ""
    password: str = ""
    proxy_url: str = ""
    webhook_url: str = ""
    apprise_service_urls: str = ""
    scraper_rules: str = ""
    rewrite_rules: str = ""
    urlrewrite_rules: str = ""
    blocklist_rules: str = ""
    keeplist_rules: str = ""
    block_filter_entry_rules: str = ""
    keep_filter_entry_rules: str = ""
    disabled: bool | None = None
    crawler: bool | None = None
    hide_globally: bool | None = None
    no_media_player: bool | None = None
    ignore_entry_updates: bool | None = None
    match_entries_by_url: bool | None = None
    fetch_via_proxy: bool | None = None
    ignore_http_cache: bool | None = None
    allow_self_signed_certificates: bool | None = None
    disable_http2: bool | None = None
    check_interval_minutes: str = ""
    keep_read_days: str = ""
    keep_unread_days: str = ""


class Back(Form, frozen=True):
    back: str = ""


@routes.get("/feeds/{feed_id}/edit")
def show_feed_form(visit: Visit, feed_id: int) -> Page:
    return _page(visit, feed_id)


@routes.post("/feeds/{feed_id}/edit")
def change_feed(visit: Visit, caller: User, services: Services, feed_id: int, form: FeedForm) -> Page | Redirect:
    """Only what differs is written: a title that follows its publisher goes on doing so."""
    with services.reading() as db:
        feed = owned(db, caller.id, feed_id)
    given, problems = _given(feed, form)
    problems |= _rule_problems(form)
    if not problems:
        try:
            services.feeds.update(caller.id, feed_id, given)
        except InvalidInput as error:
            problems = {error.field or "title": plain(error).message}
    if problems:
        return _page(visit, feed_id, form, problems)
    return Redirect(f"/feeds/{feed_id}/edit", notice=_("Saved."))


@routes.post("/feeds/{feed_id}/try")
def try_rules(visit: Visit, caller: User, services: Services, feed_id: int, form: FeedForm) -> Page:
    """What the rules as they were typed would do to entries that are there. Nothing is kept."""
    trial = services.trials.run(caller, feed_id, {name: getattr(form, name) for name in RULES})
    return _page(visit, feed_id, form, _rule_problems(form), trial)


@routes.post("/feeds/{feed_id}/refresh")
async def refresh_feed(caller: User, services: Services, feed_id: int, form: Back) -> Redirect:
    told = _("Checked.")
    try:
        await services.polling.refresh_now(caller.id, feed_id)
    except (RefreshFailed, FetchError, InvalidInput) as error:
        told = translated(error.message)
    return Redirect(security.own_path(form.back) or f"/feeds/{feed_id}/edit", notice=told)


def _given(feed: Feed, form: FeedForm) -> tuple[dict[str, Any], dict[str, str]]:
    """What is to be changed, and what was wrong with it by field."""
    given: dict[str, Any] = {name: getattr(form, name) for name in _TEXTS}
    given |= {name: bool(getattr(form, name)) for name in _SWITCHES}
    given["category_id"] = form.category_id or feed.category_id
    problems = {}
    for name, empty in _NUMBERS.items():
        text = getattr(form, name).strip()
        try:
            given[name] = int(text) if text else empty
        except ValueError:
            problems[name] = _("Type a whole number, or leave it empty.")
            continue
        if name in _DAYS and given[name] not in (None, NEVER) and not 1 <= given[name] <= MOST_DAYS:
            problems[name] = _("Type 1 to %(most)d days, -1 for ever, or nothing.", most=MOST_DAYS)
    return {name: value for name, value in given.items() if value != getattr(feed, name)}, problems


def _rule_problems(form: FeedForm) -> dict[str, str]:
    """Of every rule that cannot be used, by field; each names the rule."""
    found: dict[str, list[str]] = {}
    for one in compile_rules(RuleTexts(**{name: getattr(form, name) for name in RULES})).problems:
        found.setdefault(one.field, []).append(translated(one.message))
    return {name: "\n".join(messages) for name, messages in found.items()}


def _page(
    visit: Visit,
    feed_id: int,
    form: FeedForm | None = None,
    problems: dict[str, str] | None = None,
    trial: Trial | None = None,
) -> Page:
    user, now = visit.caller, visit.now
    with visit.services.reading() as db:
        feed = owned(db, user.id, feed_id)
        signs = feed_health.one(db, user.id, feed_id, now)
        if signs is None:
            raise NotFound(f"There is no feed {feed_id}.")
        named = {one.id: one.title for one in categories.listed(db, user.id)}
        (row,) = feed_rows(db, states([signs], now), named, now)
    values = {
        "title": feed.title,
        "place": "",
        "feed": feed,
        "row": row,
        "typed": _typed(feed) if form is None else form,
        "problems": problems or {},
        "trial": trial,
        "user_rules": bool(user.block_filter_entry_rules.strip() or user.keep_filter_entry_rules.strip()),
    }
    return Page("feed_edit.html", values, status=400 if problems and trial is None else 200)


def _typed(feed: Feed) -> FeedForm:
    values: dict[str, Any] = {name: getattr(feed, name) for name in (*_TEXTS, *_SWITCHES, "category_id")}
    for name, empty in _NUMBERS.items():
        value = getattr(feed, name)
        values[name] = "" if value == empty else str(value)
    return FeedForm(**values)
