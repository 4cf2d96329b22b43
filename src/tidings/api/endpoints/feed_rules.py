"""The endpoint that tries the rules of a feed on its stored entries."""

from __future__ import annotations

from msgspec import Struct

from tidings.api.schema_annotations import Timestamp
from tidings.api.setting_members import accepts
from tidings.base.errors import InvalidInput, NotFound
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.domain.feeds.feed_settings import FEED_SETTINGS, RULES
from tidings.http.endpoints import Routes
from tidings.http.json_body import sent
from tidings.http.requests import Request, run_while_connected
from tidings.services import Services
from tidings.services.clock import TimeZone, time_zone
from tidings.services.feeds.rule_preview import PreviewedEntry

routes = Routes("Feeds")


@accepts([one for one in FEED_SETTINGS if one.name in RULES])
class FeedRules(Struct, frozen=True):
    """Rules as in the settings of a feed. What is not sent is as it is stored."""


class TriedEntryOut(Struct, frozen=True):
    """is_kept: false if a rule filters the entry out; rule says which, and is empty otherwise.

    new_title, new_url: empty if unchanged. old_text, new_text: excerpts around the first difference of the content;
    both empty if its text is unchanged. has_new_markup: only the markup of the content differs. errors: rules that
    failed on the entry.
    """

    id: int
    title: str
    url: str
    published_at: Timestamp
    is_kept: bool
    rule: str
    new_title: str
    new_url: str
    old_text: str
    new_text: str
    has_new_markup: bool
    errors: list[str]


class RuleErrorOut(Struct, frozen=True):
    """A rule that was left out. field: the setting that has it. number: its place there, counted from 1."""

    field: str
    number: int
    message: str


class FeedRulesPreview(Struct, frozen=True):
    """entries: the newest stored ones, at most 50. filtered: how many the rules filter out. changed: how many of the
    others they change. untried: entries for which there was no time left.
    """

    filtered: int
    changed: int
    untried: int
    rule_errors: list[RuleErrorOut]
    entries: list[TriedEntryOut]


@routes.post("/v1/feeds/{feed_id}/rules/preview", scope=KeyScope.READ, status=200, raises=(InvalidInput, NotFound))
async def preview_feed_rules(
    caller: User, services: Services, request: Request, feed_id: int, body: FeedRules
) -> FeedRulesPreview:
    """Tell what rules of a feed would do to its stored entries. Nothing is changed or stored."""
    preview = await run_while_connected(
        request,
        lambda is_stopped: services.feeds.rule_previewer.run(caller, feed_id, sent(body), is_stopped=is_stopped),
    )
    clock = time_zone(caller.timezone)
    return FeedRulesPreview(
        preview.filtered,
        preview.changed,
        preview.untried,
        [RuleErrorOut(error.field, error.number, error.problem.english()) for error in preview.rule_errors],
        [_out(tried, clock) for tried in preview.entries],
    )


def _out(tried: PreviewedEntry, clock: TimeZone) -> TriedEntryOut:
    return TriedEntryOut(
        tried.entry.id,
        tried.entry.title,
        tried.entry.url,
        clock.format(tried.entry.published_at),
        tried.is_kept,
        tried.rule.english() if tried.rule else "",
        tried.new_title,
        tried.new_url,
        tried.old_text,
        tried.new_text,
        tried.has_new_markup,
        [error.english() for error in tried.errors],
    )
