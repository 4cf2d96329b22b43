"""The page of the filters for all feeds: rows to build, or text."""

from __future__ import annotations

from tidings.base.errors import InvalidInput
from tidings.content.rules.pipeline import RuleTexts, compile_rules
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.web.conditions import (
    FILTERS,
    Built,
    FilterRows,
    Matches,
    edited,
    filter_matches,
    read,
    shown,
    stored,
    with_spare_row,
)
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _
from tidings.web.message_translation import translated

routes = Routes()

PATH = "/settings/filters"
# By the prefix of rows: the name of the setting.
SETTINGS = {"block": "block_filter_entry_rules", "keep": "keep_filter_entry_rules"}


class FiltersForm(FilterRows, frozen=True):
    block_filter_entry_rules: str = ""
    keep_filter_entry_rules: str = ""


@routes.get("/settings/filters")
def show_filters(context: RequestContext) -> PageResponse:
    block, keep = (stored(FILTERS, prefix, getattr(context.caller, name)) for prefix, name in SETTINGS.items())
    return _page(context, [with_spare_row(block), keep])


@routes.post("/settings/filters/try")
def try_filters(context: RequestContext, form: FiltersForm) -> PageResponse:
    """Show the form after a change of its rows, with what they match now. Nothing is stored."""
    built = [edited(one, form.edit) for one in _read(form, is_final=False)]
    matches = {one.prefix: filter_matches(context, one) for one in built if form.edit.startswith(one.prefix)}
    return _page(context, built, matches=matches)


@routes.post("/settings/filters")
def change_filters(context: RequestContext, services: Services, form: FiltersForm) -> PageResponse | Redirect:
    user, built = context.caller, _read(form, is_final=True)
    values = {SETTINGS[one.prefix]: one.text for one in built}
    try:
        if any(one.has_gaps for one in built):
            return _page(context, built, is_refused=True)
        # A stored rule that cannot be used does not prevent other changes.
        for error in compile_rules(RuleTexts(**values)).errors:
            if values[error.field] != getattr(user, error.field):
                raise error
        services.accounts.users.update(user, user.id, values, origin=context.origin)
    except InvalidInput as error:
        return _page(context, built, problem=field_error(error))
    return Redirect(PATH, notice=_("Saved."))


def has_filters(user: User) -> bool:
    return any(getattr(user, name).strip() for name in SETTINGS.values())


def _read(form: FiltersForm, *, is_final: bool) -> list[Built]:
    return [read(FILTERS, prefix, form, getattr(form, name), is_final=is_final) for prefix, name in SETTINGS.items()]


def _page(
    context: RequestContext,
    built: list[Built],
    problem: InvalidInput | None = None,
    *,
    is_refused: bool = False,
    matches: dict[str, Matches | None] | None = None,
) -> PageResponse:
    known = {"block": _("Block"), "keep": _("Keep only")}
    values = {
        "title": _("Filters"),
        "filters": [
            (
                shown(context, one, matches=(matches or {}).get(one.prefix)),
                SETTINGS[one.prefix],
                known[one.prefix],
                _text_problem(one, problem),
            )
            for one in built
        ],
    }
    status = 400 if problem or is_refused else 200
    return PageResponse("settings/filters.html", values, status=status, problem=problem)


def _text_problem(built: Built, problem: InvalidInput | None) -> str:
    """Return what is wrong with a filter as a whole: rows tell what is wrong with them."""
    if problem is not None and problem.field == SETTINGS[built.prefix] and not built.problems:
        return translated(problem.text)
    if not built.is_text:
        return ""
    errors = compile_rules(RuleTexts(block_filter_entry_rules=built.text)).errors
    return "\n".join(translated(error.problem) for error in errors)
