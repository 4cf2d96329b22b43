"""Pages of account settings: forms that are rendered from one description."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.content.errors import InvalidRule
from tidings.content.rules.pipeline import RuleTexts, compile_rules
from tidings.domain.accounts.user_changes import CHOSEN, RANGES, RULES
from tidings.domain.accounts.users import User
from tidings.http import forms
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import N_, _
from tidings.web.message_translation import translated
from tidings.web.pages.settings import choices, fields
from tidings.web.pages.settings.fields import Field, Group

routes = Routes()


class AccountForm(Struct, frozen=True):
    path: str
    title: str
    about: str
    groups: tuple[Group, ...]


def _number(name: str, label: str, help: str = "", *, step: str = "1") -> Field:  # noqa: A002
    minimum, maximum = RANGES[name]
    return Field("number", name, label, help, more={"min": f"{minimum:g}", "max": f"{maximum:.0f}", "step": step})


_PLAIN_TEXT = {"autocapitalize": "none", "spellcheck": "false", "autocomplete": "off"}

ACCOUNT = AccountForm(
    "/settings",
    N_("Account"),
    "",
    (
        Group(
            "",
            (
                Field("text", "username", N_("Username"), more=_PLAIN_TEXT | {"autocomplete": "username"}),
                Field("select", "language", N_("Language"), choices=choices.languages),
                Field("select", "timezone", N_("Time zone"), choices=choices.zones),
                Field("select", "default_home_page", N_("Home page"), choices=choices.of("default_home_page")),
            ),
        ),
        Group(
            N_("Apps"),
            (
                Field(
                    "check",
                    "allow_account_password_in_apps",
                    N_("Apps may use the password of this account"),
                    N_("In the Google Reader API. When this is off, each app needs an API password."),
                ),
            ),
        ),
    ),
)
READING = AccountForm(
    "/settings/reading",
    N_("Reading"),
    N_("On all your devices."),
    (
        Group(
            N_("Lists"),
            (
                Field(
                    "select",
                    "entry_sorting_order",
                    N_("Sort by"),
                    choices=choices.of("entry_sorting_order"),
                ),
                Field(
                    "choice",
                    "entry_sorting_direction",
                    N_("Sort order"),
                    choices=choices.of("entry_sorting_direction"),
                ),
                Field(
                    "choice",
                    "categories_sorting_order",
                    N_("Categories"),
                    choices=choices.of("categories_sorting_order"),
                ),
                _number("entries_per_page", N_("Entries per page")),
            ),
        ),
        Group(
            N_("Entries"),
            (
                Field("check", "mark_read_on_view", N_("Mark entries as read when opened")),
                Field("check", "open_external_links_in_new_tab", N_("Open links in a new tab")),
                Field(
                    "check",
                    "always_open_external_links",
                    N_("Link titles to the original"),
                    N_("Instead of to the entry here."),
                ),
                Field(
                    "check",
                    "proxies_pictures",
                    N_("Load pictures through this service"),
                    N_("Then publishers do not see your address."),
                ),
                Field(
                    "check",
                    "saves_starred",
                    N_("Save entries when starred"),
                    N_("To the services under Integrations."),
                ),
                Field("check", "show_reading_time", N_("Show the reading time")),
                _number("default_reading_speed", N_("Reading speed"), N_("Words per minute.")),
                _number("cjk_reading_speed", N_("In Chinese, Japanese and Korean"), N_("Characters per minute.")),
            ),
        ),
        Group(
            N_("Audio and video"),
            (
                _number("media_playback_rate", N_("Speed"), N_("1 is normal speed."), step="any"),
                Field(
                    "check", "mark_read_on_media_player_completion", N_("Mark entries as read when played to the end")
                ),
            ),
        ),
        Group(
            N_("Keyboard and touch"),
            (
                Field("check", "keyboard_shortcuts", N_("Keyboard shortcuts"), N_("Press ? to see them.")),
                Field("check", "entry_swipe", N_("Swipe entries in lists"), N_("Right marks read, left stars.")),
                Field("choice", "gesture_nav", N_("Go to the next entry by"), choices=choices.of("gesture_nav")),
                Field(
                    "select",
                    "display_mode",
                    N_("Installed as an app"),
                    N_("Takes effect the next time it is installed."),
                    choices=choices.of("display_mode"),
                ),
            ),
        ),
    ),
)
# Its form is on the page of this device's appearance.
APPEARANCE = AccountForm(
    "/settings/appearance",
    N_("Appearance"),
    "",
    (
        Group(
            N_("All your devices"), (Field("select", "theme", N_("Colours and typeface"), choices=choices.of("theme")),)
        ),
    ),
)
_CODE = {"spellcheck": "false", "autocapitalize": "none"}
FILTERS = AccountForm(
    "/settings/filters",
    N_("Filters"),
    N_("For entries of all feeds, when they arrive. One rule per line, such as EntryTitle=(?i)sponsored."),
    (
        Group(
            "",
            (
                Field(
                    "area",
                    "block_filter_entry_rules",
                    N_("Block"),
                    N_("Entries that match any of these never appear."),
                    more=_CODE,
                ),
                Field(
                    "area",
                    "keep_filter_entry_rules",
                    N_("Keep only"),
                    N_("Entries that match none of these never appear."),
                    more=_CODE,
                ),
            ),
        ),
    ),
)
CUSTOM = AccountForm(
    "/settings/custom",
    N_("Your own styles"),
    N_("Added after ours, on every page that you see."),
    (
        Group(
            "",
            (
                Field("area", "stylesheet", N_("Style sheet (CSS)"), more=_CODE),
                Field(
                    "text",
                    "external_font_hosts",
                    N_("Fonts may come from"),
                    N_("Domains separated by spaces, such as fonts.example.org."),
                    more=_PLAIN_TEXT,
                ),
                Field(
                    "area",
                    "custom_js",
                    N_("Script (JavaScript)"),
                    N_("It can do whatever you can: paste only what you trust."),
                    more=_CODE,
                ),
            ),
        ),
    ),
)


@routes.get("/settings")
def show_account(context: RequestContext) -> PageResponse:
    return _show(context, ACCOUNT)


@routes.get("/settings/reading")
def show_reading(context: RequestContext) -> PageResponse:
    return _show(context, READING)


@routes.get("/settings/appearance")
def show_appearance() -> Redirect:
    return Redirect("/view")


@routes.get("/settings/filters")
def show_filters(context: RequestContext) -> PageResponse:
    return _show(context, FILTERS)


@routes.get("/settings/custom")
def show_custom(context: RequestContext) -> PageResponse:
    return _show(context, CUSTOM)


@routes.post("/settings")
def change_account(context: RequestContext, services: Services) -> PageResponse | Redirect:
    return _save(context, services, ACCOUNT)


@routes.post("/settings/reading")
def change_reading(context: RequestContext, services: Services) -> PageResponse | Redirect:
    return _save(context, services, READING)


@routes.post("/settings/appearance")
def change_appearance(context: RequestContext, services: Services) -> PageResponse | Redirect:
    return _save(context, services, APPEARANCE)


@routes.post("/settings/filters")
def change_filters(context: RequestContext, services: Services) -> PageResponse | Redirect:
    return _save(context, services, FILTERS)


@routes.post("/settings/custom")
def change_custom(context: RequestContext, services: Services) -> PageResponse | Redirect:
    return _save(context, services, CUSTOM)


def _save(context: RequestContext, services: Services, form: AccountForm) -> PageResponse | Redirect:
    values = fields.sent_values(dict(forms.fields(context.request)), form.groups)
    stored = fields.form_values(context.caller, form.groups)
    try:
        # A stored rule that cannot be used does not prevent other changes.
        for error in _rule_errors(form, values):
            if values[error.field] != stored[error.field]:
                raise error
        services.users.update(context.caller, context.caller.id, _chosen(context.caller, fields.parse(values)))
    except InvalidInput as error:
        return _page(form, values, field_error(error))
    return Redirect(form.path, notice=_("Saved."))


def _chosen(user: User, values: dict[str, Any]) -> dict[str, Any]:
    """Returns the values without those that the form showed as a default and that stay one."""
    return {
        name: value
        for name, value in values.items()
        if name not in CHOSEN or getattr(user, CHOSEN[name]) or value != getattr(user, name)
    }


def _show(context: RequestContext, form: AccountForm) -> PageResponse:
    return _page(form, fields.form_values(context.caller, form.groups))


def _page(form: AccountForm, values: dict[str, Any], problem: InvalidInput | None = None) -> PageResponse:
    labels = {field.name: _(field.label) for group in form.groups for field in group.fields}
    ignored = [f"{labels[error.field]}: {translated(error.problem)}" for error in _rule_errors(form, values)]
    known = {"title": _(form.title), "form": form, "values": values, "ignored_rules": [] if problem else ignored}
    return PageResponse("settings/account.html", known, status=400 if problem else 200, problem=problem)


def _rule_errors(form: AccountForm, values: dict[str, Any]) -> tuple[InvalidRule, ...]:
    """Returns an error for each filter of the form that cannot be used."""
    texts = {name: values[name] for name in RULES if form is FILTERS}
    return compile_rules(RuleTexts(**texts)).errors
