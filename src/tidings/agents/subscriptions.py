"""The tools that add feeds and rules."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tidings.agents.changes import Confirmable, Confirmation
from tidings.agents.confirmations import LIFETIME_S
from tidings.agents.fences import address, one_line
from tidings.agents.tool import Arguments, CategoryId, FeedId, FromStrangers, LabelId, ToolCall, Tools, text
from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.secret_urls import hide_secrets
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.feeds.feed_changes import has_credentials
from tidings.rules import store
from tidings.rules.model import MAX_ACTIONS, Action, ActionType, RuleFields, Scope
from tidings.services.feeds.discovery import DiscoveredFeed
from tidings.services.feeds.feeds import SubscriptionExists
from tidings.services.feeds.typed_urls import complete_url, reach

MAX_CHOICES = 20

tools = Tools()


class Subscribe(Arguments, frozen=True, kw_only=True):
    url: Annotated[str, text("The address of a feed, or of a page that has one.", 2_000)]
    category_id: Annotated[str, CategoryId] | None = None


class RuleAction(Struct, frozen=True, forbid_unknown_fields=True):
    type: Annotated[ActionType, Meta(description="drop deletes; save, notify and webhook send entries to services.")]
    label_id: Annotated[str, LabelId] | None = None


class CreateRule(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, text("Which entries it is for, in the query language of search.", 2_000)]
    actions: Annotated[list[RuleAction], Meta(min_length=1, max_length=MAX_ACTIONS)]
    name: Annotated[str, text("Without it, the query is the name.", 200)] = ""
    feed_id: Annotated[str, FeedId] | None = None
    category_id: Annotated[str, CategoryId] | None = None
    apply_to_stored: Annotated[
        bool, Meta(description="Also apply it once to the entries that are there; the user can undo that for a day.")
    ] = False
    confirmation: Confirmation = ""


class FeedChoice(Struct, frozen=True):
    url: str
    title: str


class Subscribed(FromStrangers, frozen=True, kw_only=True):
    feed_id: Annotated[
        str | None, Meta(description="The id of the new feed; null if there are several to choose from.")
    ]
    from_strangers: Annotated[
        list[FeedChoice], Meta(description="The feeds of the page: call again with the url of one of them.")
    ]


class RuleCreated(Confirmable, frozen=True, kw_only=True):
    rule_id: str | None = None


@tools.add("subscribe", title="Subscribe to a feed", scope=KeyScope.MANAGE, reaches_out=True)
async def subscribe(call: ToolCall, arguments: Subscribe) -> Subscribed:
    """Subscribe to a feed. Of a page that offers several, these are listed, and nothing is changed."""
    user, feeds = call.user, call.services.feeds
    if has_credentials(complete_url(arguments.url)):
        raise InvalidField("url", msg("leave out the name and the password: the user adds such a feed on its page."))

    async def find(url: str) -> list[DiscoveredFeed]:
        return await feeds.discovery.find(user.id, {"url": url})

    found = [feed for feed in await reach(arguments.url, find) if not feed.has_comments]
    if len(found) != 1:
        choices = [FeedChoice(address(hide_secrets(one.url)), one_line(one.title, 200)) for one in found[:MAX_CHOICES]]
        if not choices:
            raise InvalidField("url", msg("the page has only feeds of comments: give the address of the feed itself."))
        return Subscribed(feed_id=None, from_strangers=choices)
    fields: dict[str, object] = {"feed_url": found[0].url}
    if arguments.category_id is not None:
        fields["category_id"] = int(arguments.category_id)
    try:
        feed_id = await feeds.subscriptions.create(user, fields)
    except SubscriptionExists as error:
        raise InvalidField("url", msg("the user has this feed already, it is feed {id}.", id=error.feed_id)) from error
    return Subscribed(feed_id=str(feed_id), from_strangers=[])


@tools.add("create_rule", title="Create a rule", scope=KeyScope.MANAGE, is_destructive=True)
def create_rule(call: ToolCall, arguments: CreateRule) -> RuleCreated:
    """Add a rule, which does something with each entry that arrives from now on and matches a query.

    The first call changes nothing: it tells how many stored entries match and how many of them the rule would change,
    and returns a confirmation. Ask the user before the second call, which has the same arguments and the confirmation.
    """
    fields, user = _fields(arguments).checked(), call.user
    if arguments.confirmation:
        call.told_at(arguments.confirmation, fields, arguments.apply_to_stored)
        rule_id, count = _create(call, fields), 0
        if arguments.apply_to_stored:
            count = call.rules.runs.start(user, rule_id).total
        return RuleCreated(done=True, what=f"Added the rule {fields.name!r}.", count=count, rule_id=str(rule_id))
    preview = call.rules.rules.preview(user, fields, limit=1)
    count = preview.changed if arguments.apply_to_stored else 0
    stored = f"{preview.matched} stored entries match, of which {preview.changed} would change"
    reach_ = "these are changed as well" if arguments.apply_to_stored else "stored entries stay as they are"
    every = " Every entry of the account matches it." if fields.matches_everything else ""
    return RuleCreated(
        done=False,
        what=f"Would add the rule {fields.name!r} for entries that arrive from now on. {stored}; {reach_}.{every}",
        count=count,
        confirmation=call.confirmation(fields, arguments.apply_to_stored),
        expires_in_s=LIFETIME_S,
    )


def _create(call: ToolCall, fields: RuleFields) -> int:
    """Return the id of a new rule, or of the user's rule that is exactly like this one: a token may be used twice."""
    with call.services.reading() as db:
        same = next((one for one in store.list_all(db, call.user.id) if RuleFields.of(one) == fields), None)
    return same.id if same else call.rules.rules.create(call.user.id, fields, may_match_everything=True).id


def _fields(arguments: CreateRule) -> RuleFields:
    if arguments.feed_id is not None and arguments.category_id is not None:
        raise InvalidField("category_id", msg("name a feed or a category, not both."))
    feed_id = int(arguments.feed_id) if arguments.feed_id else None
    category_id = int(arguments.category_id) if arguments.category_id else None
    return RuleFields(
        name=arguments.name,
        scope=Scope.FEED if feed_id else Scope.CATEGORY if category_id else Scope.ALL,
        feed_id=feed_id,
        category_id=category_id,
        query=arguments.query,
        actions=tuple(Action(one.type, int(one.label_id or 0)) for one in arguments.actions),
    )
