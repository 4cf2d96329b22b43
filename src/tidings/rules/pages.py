"""The pages of rules: the list in its order, the editor with a preview, and the question before one is deleted.

/rules   /rules/new?entry=5&by=author   /rules/7   /rules/7/delete   /rules/7/apply   /rules/try
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from tidings.base.errors import InvalidField, InvalidInput
from tidings.base.messages import Message, msg
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Entry
from tidings.domain.entries.labels import Label
from tidings.engine.database import Read
from tidings.http.binding import Form, Query, parse_id
from tidings.http.endpoints import Routes
from tidings.query import normal_form
from tidings.query.model import Text, TextField, all_of
from tidings.rules import runs_store, store
from tidings.rules.model import Action, ActionType, Rule, RuleFields, Scope, day_of
from tidings.rules.rules import RulePreview, owned_rule
from tidings.rules.services import RuleServices
from tidings.services import Services
from tidings.services.entries.entries import owned_entry
from tidings.storage.entries import labels
from tidings.storage.feeds import categories, feeds
from tidings.web.conditions import QUERIES, Built, Matches, QueryRows, edited, query_matches, read, shown, stored
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import N_, _
from tidings.web.message_translation import translated

routes = Routes()

# Feeds to choose from; those of larger accounts are reached from their articles.
MAX_FEEDS = 300
# Words of a title that a rule begins with.
MAX_TITLE_WORDS = 3
_LONG_WORD = re.compile(r"[^\W_]{4,40}")

ACTIONS = {
    ActionType.MARK_READ: (N_("Mark as read"), ""),
    ActionType.STAR: (N_("Star"), ""),
    ActionType.HIDE: (N_("Hide from Unread"), N_("It stays in the lists of its feed and category.")),
    ActionType.DROP: (N_("Drop"), N_("It never appears, and does not come back when the rule is deleted.")),
    ActionType.SAVE: (N_("Save to my services"), ""),
    ActionType.NOTIFY: (
        N_("Notify me"),
        N_("Through the services that notify you of new entries. They need not do so for all feeds."),
    ),
    ActionType.WEBHOOK: (N_("Send to my webhook"), ""),
}
_FIELDS = {"feed_id": "where", "category_id": "where", "actions": "action"}


class RuleForm(QueryRows, frozen=True):
    """The editor's form."""

    rule: str = ""
    """Id of the rule that is tried; empty for a new one."""
    name: str = ""
    query: str = ""
    where: str = ""
    """The only feed (f7) or category (c3) whose entries the rule is tried on; empty for all."""
    action: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    """Ids of the labels to give."""
    stop: bool | None = None
    for_changed: bool | None = None
    enabled: bool | None = None
    everything: bool | None = None
    """The user knows that every entry matches."""


class RulesForm(Form, frozen=True):
    """The form of the list: one field for each action, with the id of a rule."""

    up: str = ""
    down: str = ""
    on: str = ""
    off: str = ""


class NewRuleQuery(Query, frozen=True):
    """The entry that a rule is made from, and what it begins with: author, title or feed."""

    entry: int | None = None
    by: str = ""


class RuleLine(Struct, frozen=True):
    """A rule in the list."""

    rule: Rule
    scope: str
    actions: list[str]
    matched_today: int
    problem: Message | None


@routes.get("/rules")
def show_rules(context: RequestContext, rules: RuleServices) -> PageResponse:
    user = context.caller
    with context.services.reading() as db:
        listed = store.list_all(db, user.id)
        problems = rules.rules.problems_of(db, user.id, listed)
        names = _names(db, user.id, listed)
        filtered = store.feeds_with_filters(db, user.id)
    today = day_of(context.now, user.timezone)
    lines = [
        RuleLine(
            rule,
            names.scope(rule),
            names.actions(rule.action_list),
            rule.matched_on(today),
            problems.get(rule.id),
        )
        for rule in listed
    ]
    has_filters = bool(user.block_filter_entry_rules.strip() or user.keep_filter_entry_rules.strip())
    values = {"title": _("Rules"), "lines": lines, "filtered": filtered, "has_filters": has_filters}
    return PageResponse("rules/rules.html", values)


@routes.post("/rules")
def change_rules(caller: User, rules: RuleServices, form: RulesForm) -> Redirect:
    """Move a rule, or switch it on or off."""
    rule_id = parse_id("rule_id", form.up or form.down or form.on or form.off)
    if form.up or form.down:
        rules.rules.move(caller.id, rule_id, -1 if form.up else 1)
        return Redirect(f"/rules#r{rule_id}")
    rules.rules.set_enabled(caller.id, rule_id, enabled=bool(form.on))
    return Redirect(f"/rules#r{rule_id}", notice=_("Switched on.") if form.on else _("Switched off."))


@routes.get("/rules/new")
def show_new_rule(context: RequestContext, query: NewRuleQuery) -> PageResponse:
    """Show the editor for a new rule, which may begin with what an entry has."""
    if query.entry is None:
        return _editor(context, RuleForm(enabled=True))
    with context.services.reading() as db:
        entry = owned_entry(db, context.caller.id, query.entry)
    by = query.by or ("author" if entry.author else "title")
    form = RuleForm(
        enabled=True, query=_beginning(entry, by), where=f"f{entry.feed_id}", action=(ActionType.MARK_READ,)
    )
    return _editor(context, form, entry=entry, by=by)


@routes.post("/rules/new")
def add_rule(context: RequestContext, rules: RuleServices, form: RuleForm) -> PageResponse | Redirect:
    form, built = _built(form)
    if built.is_wrong:
        return _editor(context, form, built, is_refused=True)
    try:
        rule = rules.rules.create(context.caller.id, _fields(form), may_match_everything=bool(form.everything))
    except InvalidInput as error:
        return _editor(context, form, built, problem=error)
    return Redirect(f"/rules#r{rule.id}", notice=_("The rule decides about entries that arrive from now on."))


@routes.post("/rules/try")
def try_rule(context: RequestContext, rules: RuleServices, form: RuleForm) -> PageResponse:
    """Show what the typed rule would do to stored entries, or its rows after a change. Nothing is stored."""
    form, built = _built(form, is_final=not form.edit)
    if form.edit:
        return _edited(context, form, edited(built, form.edit))
    if built.is_wrong:
        return _editor(context, form, built, is_refused=True)
    try:
        preview = rules.rules.preview(context.caller, _fields(form))
    except InvalidInput as error:
        return _editor(context, form, built, problem=error)
    return _editor(context, form, built, preview=preview)


@routes.get("/rules/{rule_id}")
def show_rule(context: RequestContext, rules: RuleServices, rule_id: int) -> PageResponse:
    with context.services.reading() as db:
        rule = owned_rule(db, context.caller.id, rule_id)
        problem = rules.rules.problems_of(db, context.caller.id, [rule]).get(rule_id)
    return _editor(context, _form(rule), rule_problem=problem)


@routes.post("/rules/{rule_id}")
def change_rule(context: RequestContext, rules: RuleServices, rule_id: int, form: RuleForm) -> PageResponse | Redirect:
    form, built = _built(form)
    if built.is_wrong:
        return _editor(context, form, built, is_refused=True)
    try:
        rules.rules.update(context.caller.id, rule_id, _fields(form), may_match_everything=bool(form.everything))
    except InvalidInput as error:
        return _editor(context, form, built, problem=error)
    return Redirect(f"/rules#r{rule_id}", notice=_("Saved."))


@routes.get("/rules/{rule_id}/delete")
def confirm_deletion(context: RequestContext, rule_id: int) -> PageResponse:
    """Ask first."""
    with context.services.reading() as db:
        rule = owned_rule(db, context.caller.id, rule_id)
    return PageResponse("rules/rule_delete.html", {"title": _("Delete a rule"), "rule": rule})


@routes.post("/rules/{rule_id}/delete")
def delete_rule(caller: User, services: Services, rules: RuleServices, rule_id: int) -> Redirect:
    with services.reading() as db:
        rule = owned_rule(db, caller.id, rule_id)
    rules.rules.delete(caller.id, rule_id)
    return Redirect("/rules", notice=_("%(title)s deleted.", title=rule.name or _("The rule")))


@routes.get("/rules/{rule_id}/apply")
def show_run(context: RequestContext, rules: RuleServices, rule_id: int) -> PageResponse:
    """Ask before a rule is applied to stored entries; show how far that is, and offer to undo it."""
    with context.services.reading() as db:
        rule = owned_rule(db, context.caller.id, rule_id)
        run = runs_store.last_of(db, context.caller.id, rule_id)
        problem = rules.rules.problems_of(db, context.caller.id, [rule]).get(rule_id)
        names = _names(db, context.caller.id, [rule])
    is_open = run is not None and run.is_open
    preview = None if is_open or problem else rules.rules.preview(context.caller, RuleFields.of(rule), limit=1)
    values = {
        "title": _("Apply to stored entries"),
        "rule": rule,
        "actions": names.actions(rule.action_list),
        "run": run,
        "can_undo": run is not None and rules.runs.can_undo(run),
        "preview": preview,
        "rule_problem": problem,
    }
    return PageResponse("rules/rule_apply.html", values)


@routes.post("/rules/{rule_id}/apply")
def apply_rule(context: RequestContext, rules: RuleServices, rule_id: int) -> Redirect:
    """Begin to apply a rule."""
    notice = ""
    try:
        rules.runs.start(context.caller, rule_id)
    except InvalidInput as error:
        notice = translated(error.text)
    return Redirect(f"/rules/{rule_id}/apply", notice=notice)


@routes.post("/rules/{rule_id}/undo")
def undo_rule(context: RequestContext, rules: RuleServices, rule_id: int) -> Redirect:
    """Begin to undo what applying a rule did."""
    notice = ""
    try:
        rules.runs.undo(context.caller.id, rule_id)
    except InvalidInput as error:
        notice = translated(error.text)
    return Redirect(f"/rules/{rule_id}/apply", notice=notice)


def _built(form: RuleForm, *, is_final: bool = True) -> tuple[RuleForm, Built]:
    """Return the form with its rows as the query, and these."""
    built = read(QUERIES, "query", form, form.query, is_final=is_final)
    return replace(form, query=built.text), built


def _edited(context: RequestContext, form: RuleForm, built: Built) -> PageResponse:
    """Return the editor after a change of its rows, with what matches now."""
    try:
        feed_id, category_id = _scope(form)
        matches = query_matches(context, built, feed_id=feed_id, category_id=category_id)
    except InvalidInput as error:
        return _editor(context, form, built, problem=error)
    return _editor(context, form, built, matches=matches)


def _scope(form: RuleForm) -> tuple[int | None, int | None]:
    """Return the ids of the feed and of the category that the rule is for. Raises InvalidField, as `_fields`."""
    kind, number = form.where[:1], form.where[1:]
    if kind not in ("", "c", "f"):
        raise InvalidField("where", msg("choose one from the list."))
    chosen = parse_id("where", number) if kind else None
    return chosen if kind == "f" else None, chosen if kind == "c" else None


def _fields(form: RuleForm) -> RuleFields:
    """Return what a form says. Raises InvalidField for what no form of ours sends."""
    feed_id, category_id = _scope(form)
    actions = [Action(type_) for type_ in ACTIONS if type_ in form.action]
    actions += [Action(ActionType.LABEL, parse_id("label", text)) for text in form.label]
    return RuleFields(
        name=form.name,
        enabled=bool(form.enabled),
        scope=Scope.FEED if feed_id else Scope.CATEGORY if category_id else Scope.ALL,
        category_id=category_id,
        feed_id=feed_id,
        query=form.query,
        actions=tuple(actions),
        stop=bool(form.stop),
        for_changed=bool(form.for_changed),
    )


def _form(rule: Rule) -> RuleForm:
    where = f"f{rule.feed_id}" if rule.feed_id else f"c{rule.category_id}" if rule.category_id else ""
    fields = RuleFields.of(rule)
    return RuleForm(
        rule=str(rule.id),
        name=rule.name,
        query=rule.query,
        where=where,
        action=tuple(one.type.value for one in fields.actions if one.type is not ActionType.LABEL),
        label=tuple(map(str, fields.label_ids)),
        stop=bool(rule.stop),
        for_changed=bool(rule.for_changed),
        enabled=bool(rule.enabled),
        everything=fields.matches_everything,
    )


def _beginning(entry: Entry, by: str) -> str:
    """Return the query that a rule made from an entry begins with. by: author or title; anything else for none."""
    if by == "author" and entry.author:
        return normal_form(Text(entry.author, TextField.AUTHOR))
    if by == "title":
        words = list(dict.fromkeys(_LONG_WORD.findall(entry.title)))
        return normal_form(all_of([Text(word, TextField.TITLE) for word in words[:MAX_TITLE_WORDS]]))
    return ""


class _Names(Struct, frozen=True):
    """Titles by id, for sentences about rules."""

    feeds: Mapping[int, str]
    categories: Mapping[int, str]
    labels: Mapping[int, str]

    def scope(self, rule: Rule) -> str:
        if rule.feed_id:
            return self.feeds.get(rule.feed_id, "")
        return self.categories.get(rule.category_id, "") if rule.category_id else ""

    def actions(self, actions: Sequence[Action]) -> list[str]:
        return [
            _("Label %(name)s", name=self.labels.get(one.label_id, "?"))
            if one.type is ActionType.LABEL
            else _(ACTIONS[one.type][0])
            for one in actions
        ]


def _names(db: Read, user_id: int, listed: Sequence[Rule]) -> _Names:
    wanted = [rule.feed_id for rule in listed if rule.feed_id]
    return _Names(
        {feed.id: feed.title for feed in feeds.get_many(db, user_id, wanted)},
        {category.id: category.title for category in categories.list_all(db, user_id)},
        {label.id: label.name for label in labels.list_all(db, user_id)},
    )


def _editor(
    context: RequestContext,
    form: RuleForm,
    built: Built | None = None,
    *,
    problem: InvalidInput | None = None,
    is_refused: bool = False,
    matches: Matches | None = None,
    preview: RulePreview | None = None,
    rule_problem: Message | None = None,
    entry: Entry | None = None,
    by: str = "",
) -> PageResponse:
    """Return the page of the editor. built: the query as the form says it; None for one that is stored."""
    user_id = context.caller.id
    built = built or stored(QUERIES, "query", form.query)
    with context.services.reading() as db:
        known: list[Label] = labels.list_all(db, user_id)
        listed = categories.list_all(db, user_id)
        some_feeds = store.feeds_to_choose(db, user_id, limit=MAX_FEEDS)
        chosen = int(form.where[1:]) if form.where[:1] == "f" and form.where[1:].isdecimal() else 0
        if chosen and chosen not in dict(some_feeds):
            some_feeds += [(feed.id, feed.title) for feed in feeds.get_many(db, user_id, [chosen])]
    values = {
        "title": _("Change a rule") if form.rule else _("New rule"),
        "form": form,
        "path": f"/rules/{parse_id('rule', form.rule)}" if form.rule else "/rules/new",
        "actions": [(type_.value, _(name), _(help_) if help_ else "") for type_, (name, help_) in ACTIONS.items()],
        "labels": known,
        "categories": listed,
        "feeds": some_feeds,
        "has_all_feeds": len(some_feeds) < MAX_FEEDS,
        "asks_everything": bool(form.everything)
        or (problem is not None and problem.field == "query" and not form.query.strip()),
        "query": shown(context, built, problem, matches),
        "preview": preview,
        "previewed": _previewed(preview, known) if preview else [],
        "rule_problem": rule_problem,
        "entry": entry,
        "by": by,
    }
    told = field_error(problem, renamed=_FIELDS) if problem else None
    # A change of rows is answered, whatever is wrong in them.
    status = 400 if (problem or is_refused) and not form.edit else 200
    return PageResponse("rules/rule.html", values, status=status, problem=told)


def _previewed(preview: RulePreview, known: Sequence[Label]) -> list[tuple[Entry, list[str]]]:
    names = _Names({}, {}, {label.id: label.name for label in known})
    return [(entry, names.actions(actions)) for entry, actions in zip(preview.entries, preview.actions, strict=True)]
