"""Endpoints for rules with actions (docs/rules.md)."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from tidings.api.schema_annotations import Required, Timestamp, one_of
from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import Message, msg
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus
from tidings.http.binding import LazyBody
from tidings.http.endpoints import Routes
from tidings.rules import runs_store, store
from tidings.rules.model import Action, ActionType, Rule, RuleFields, Scope, day_of
from tidings.rules.rules import owned_rule
from tidings.rules.runs_store import RuleRun, RunState
from tidings.rules.services import RuleServices
from tidings.services import Services
from tidings.services.clock import time_zone

routes = Routes("Rules", after="Enclosures")


class RuleActionBody(Struct, frozen=True, omit_defaults=True):
    """label_id: the label to give, only with the type label."""

    type: Annotated[str, one_of(ActionType)]
    label_id: int | None = None


class RuleOut(Struct, frozen=True):
    """scope: which entries it is tried on; feed_id or category_id says of what, and is null otherwise.

    query: in the query language; "" matches every entry. stop: no later rule is tried on an entry that it matches.
    for_changed: it is tried on entries that the publisher changed, too, unless you have dealt with them.
    matched_today, matched_total: how many arriving entries it matched. matched_at: when it last did, null if never.
    problem: why it does nothing though it may be enabled, "" if it works.
    """

    id: int
    name: str
    enabled: bool
    scope: Annotated[str, one_of(Scope)]
    category_id: int | None
    feed_id: int | None
    query: str
    actions: list[RuleActionBody]
    stop: bool
    for_changed: bool
    matched_today: int
    matched_total: int
    matched_at: Timestamp | None
    problem: str


class RuleUpdate(Struct, frozen=True):
    """What you decide about a rule. scope: all, category or feed; with the others, category_id or feed_id is needed.

    matches_everything: true says that you know that every entry of your account matches.
    """

    name: str | None = None
    enabled: bool | None = None
    scope: Annotated[str, one_of(Scope)] | None = None
    category_id: int | None = None
    feed_id: int | None = None
    query: Annotated[str, Meta(extra_json_schema={"maxLength": 2000})] | None = None
    actions: list[RuleActionBody] | None = None
    stop: bool | None = None
    for_changed: bool | None = None
    matches_everything: bool | None = None


class RuleOrder(Struct, frozen=True):
    """rule_ids: each of your rules once, in the order in which they are tried."""

    rule_ids: Required[list[int]] = None


class PreviewedEntryOut(Struct, frozen=True):
    """actions: those that would change the entry; none if it is already as the rule wants it."""

    id: int
    feed_id: int
    status: str
    starred: bool
    title: str
    url: str
    published_at: Timestamp
    actions: list[RuleActionBody]


class RulePreviewOut(Struct, frozen=True):
    """matched: how many stored entries match. changed: how many of these the actions would change.
    entries: the newest that match, at most 500.
    """

    matched: int
    changed: int
    entries: list[PreviewedEntryOut]


class RuleRunOut(Struct, frozen=True):
    """A rule that is or was applied to the stored entries. state: running, done, undoing or undone.

    total: entries to change, counted at the beginning. changed: entries that are changed by it now.
    finished_at: null until it has ended. can_undo: it goes on, or it ended less than a day ago and changed something.
    """

    id: int
    rule_id: int
    state: Annotated[str, one_of(RunState)]
    total: int
    changed: int
    started_at: Timestamp
    finished_at: Timestamp | None
    can_undo: bool


@routes.get("/v1/rules", lists=RuleOut)
def list_rules(caller: User, services: Services, rules: RuleServices) -> list[RuleOut]:
    """List the rules in the order in which they are tried."""
    with services.reading() as db:
        listed = store.list_all(db, caller.id)
        problems = rules.rules.problems_of(db, caller.id, listed)
    today = day_of(services.clock(), caller.timezone)
    return [_rule_out(rule, caller, today, problems.get(rule.id)) for rule in listed]


@routes.post("/v1/rules", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput,))
def create_rule(caller: User, services: Services, rules: RuleServices, body: RuleUpdate) -> RuleOut:
    """Add a rule behind the others. It decides about entries that arrive from now on."""
    fields = _fields(body, RuleFields())
    rule = rules.rules.create(caller.id, fields, may_match_everything=bool(body.matches_everything))
    return _one_out(caller, services, rules, rule)


@routes.put("/v1/rules/order", scope=KeyScope.MANAGE, status=204, raises=(InvalidInput,))
def order_rules(caller: User, rules: RuleServices, body: RuleOrder) -> None:
    """Set the order in which rules are tried."""
    if body.rule_ids is None:
        raise InvalidField("rule_ids", msg("name each of your rules once, in the order in which they are tried."))
    rules.rules.order(caller.id, body.rule_ids)


@routes.post("/v1/rules/preview", scope=KeyScope.READ, raises=(InvalidInput,))
def preview_rule(caller: User, rules: RuleServices, body: RuleUpdate) -> RulePreviewOut:
    """Tell what a rule would do to the stored entries. Nothing is changed or stored."""
    preview = rules.rules.preview(caller, _fields(body, RuleFields()))
    zone = time_zone(caller.timezone)
    return RulePreviewOut(
        preview.matched,
        preview.changed,
        [
            PreviewedEntryOut(
                entry.id,
                entry.feed_id,
                EntryStatus(entry.status).api_name,
                bool(entry.starred),
                entry.title,
                entry.url,
                zone.format(entry.published_at),
                [_action_out(action) for action in actions],
            )
            for entry, actions in zip(preview.entries, preview.actions, strict=True)
        ],
    )


@routes.get("/v1/rules/{rule_id}", raises=(InvalidInput, NotFound))
def get_rule(caller: User, services: Services, rules: RuleServices, rule_id: int) -> RuleOut:
    """Get a rule, with how often it matched."""
    with services.reading() as db:
        rule = owned_rule(db, caller.id, rule_id)
    return _one_out(caller, services, rules, rule)


@routes.put("/v1/rules/{rule_id}", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput, NotFound))
def update_rule(
    caller: User, services: Services, rules: RuleServices, rule_id: int, body: LazyBody[RuleUpdate]
) -> RuleOut:
    """Change a rule. Members that are not sent keep their values."""
    with services.reading() as db:
        current = owned_rule(db, caller.id, rule_id)
    change = body.read()
    fields = _fields(change, RuleFields.of(current))
    known = bool(change.matches_everything) or RuleFields.of(current).matches_everything
    rule = rules.rules.update(caller.id, rule_id, fields, may_match_everything=known)
    return _one_out(caller, services, rules, rule)


@routes.delete("/v1/rules/{rule_id}", scope=KeyScope.MANAGE, status=204, raises=(InvalidInput, NotFound))
def delete_rule(caller: User, rules: RuleServices, rule_id: int) -> None:
    """Delete a rule. What it did to entries stays."""
    rules.rules.delete(caller.id, rule_id)


@routes.post("/v1/rules/{rule_id}/apply", scope=KeyScope.MANAGE, status=202, raises=(InvalidInput, NotFound))
def apply_rule(caller: User, rules: RuleServices, rule_id: int) -> RuleRunOut:
    """Apply a rule to the stored entries, in the background, even if it is not enabled.

    Entries that are starred, shared or labelled are not dropped. Nothing is sent to other services.
    """
    return _run_out(caller, rules, rules.runs.start(caller, rule_id))


@routes.get("/v1/rules/{rule_id}/apply", raises=(InvalidInput, NotFound))
def get_rule_run(caller: User, services: Services, rules: RuleServices, rule_id: int) -> RuleRunOut:
    """Get how far applying a rule is, or what became of it the last time. 404 if it was never applied."""
    with services.reading() as db:
        run = runs_store.last_of(db, caller.id, rule_id)
    if run is None:
        raise NotFound(msg("Rule {id} was not applied to stored entries.", id=rule_id))
    return _run_out(caller, rules, run)


@routes.post("/v1/rules/{rule_id}/undo", scope=KeyScope.MANAGE, status=202, raises=(InvalidInput, NotFound))
def undo_rule(caller: User, rules: RuleServices, rule_id: int) -> RuleRunOut:
    """Undo the last time that a rule was applied, in the background, within a day. If that still goes on, it stops.

    Entries become what they were. Those that you have changed since keep their status and star.
    """
    return _run_out(caller, rules, rules.runs.undo(caller.id, rule_id))


def _run_out(caller: User, rules: RuleServices, run: RuleRun) -> RuleRunOut:
    zone = time_zone(caller.timezone)
    return RuleRunOut(
        run.id,
        run.rule_id,
        run.state,
        run.total,
        run.changed,
        zone.format(run.started_at),
        zone.format_optional(run.finished_at),
        rules.runs.can_undo(run),
    )


def _fields(body: RuleUpdate, current: RuleFields) -> RuleFields:
    """Return the fields after a change. Raises InvalidField for an unknown scope or action."""
    sent = {name: value for name in RuleFields.__struct_fields__ if (value := getattr(body, name)) is not None}
    if body.scope is not None:
        try:
            sent["scope"] = Scope(body.scope)
        except ValueError:
            problem = msg("choose one of {names}.", names=", ".join(Scope))
            raise InvalidField("scope", problem) from None
    if body.actions is not None:
        sent["actions"] = tuple(_action(one) for one in body.actions)
    return msgspec.structs.replace(current, **sent)


def _action(body: RuleActionBody) -> Action:
    try:
        type_ = ActionType(body.type)
    except ValueError:
        problem = msg("{name} is not one of {names}.", name=repr(body.type[:40]), names=", ".join(ActionType))
        raise InvalidField("actions", problem) from None
    return Action(type_, body.label_id or 0 if type_ is ActionType.LABEL else 0)


def _action_out(action: Action) -> RuleActionBody:
    return RuleActionBody(action.type.value, action.label_id or None)


def _one_out(caller: User, services: Services, rules: RuleServices, rule: Rule) -> RuleOut:
    with services.reading() as db:
        problem = rules.rules.problems_of(db, caller.id, [rule]).get(rule.id)
    return _rule_out(rule, caller, day_of(services.clock(), caller.timezone), problem)


def _rule_out(rule: Rule, caller: User, today: int, problem: Message | None) -> RuleOut:
    return RuleOut(
        rule.id,
        rule.name,
        bool(rule.enabled),
        rule.scope,
        rule.category_id,
        rule.feed_id,
        rule.query,
        [_action_out(action) for action in rule.action_list],
        bool(rule.stop),
        bool(rule.for_changed),
        rule.matched_on(today),
        rule.matched_total,
        time_zone(caller.timezone).format_optional(rule.matched_at),
        problem.english() if problem else "",
    )
