"""Rewrites title and content of an entry by rules, before the content is cleaned.

    nl2br, replace("one (\\w+)"|"$1 one") remove(".ad, .banner")

Strings are arguments of the name before them. Everything between names and strings is ignored. The folder `rewrites`
has what each name does; feeds without rules of their own get the built-in ones for the host that the entry links to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Final

from msgspec import Struct

from tidings.base.messages import Message, msg
from tidings.content.errors import InvalidRule
from tidings.content.rules.evaluation import (
    RewriteAction,
    RuleBudgetExceeded,
    RuleEntry,
    RuleErrors,
    collect_error,
    host_without_www,
    is_too_long,
    raise_first,
    with_location,
)
from tidings.content.rules.regex import MAX_RESULT_CHARS
from tidings.content.rules.rewrites import ghost_cards, images, links, text, video

# Syntax

_TOKEN: Final = re.compile(r'(?P<name>[^\W\d]\w*)|(?P<string>"(?:[^"\\\n]|\\[^\n])*")|(?P<open>")')
# Only these are escapes: other backslashes belong to the expression, such as "\d".
_ESCAPE: Final = re.compile(r'\\(["\\nrt])')
_ESCAPED_CHARACTERS: Final = {"n": "\n", "r": "\r", "t": "\t"}


class RuleCall(Struct, frozen=True):
    """A rewrite rule as written: a name and its arguments."""

    number: int
    """Position in the text, counted from 1."""
    name: str
    arguments: tuple[str, ...] = ()


def read_calls(text: str, *, field: str, errors: RuleErrors) -> tuple[RuleCall, ...]:
    """Return the calls up to the first error, which is added to `errors`."""
    # The names with their arguments.
    calls: list[tuple[str, list[str]]] = []
    if is_too_long(text, field=field, errors=errors):
        return ()
    for token in _TOKEN.finditer(text):
        try:
            _add_token(token, calls)
        except InvalidRule as error:
            errors.append(with_location(error, field=field, number=max(len(calls), 1)))
            break
    return tuple(RuleCall(number, name, tuple(arguments)) for number, (name, arguments) in enumerate(calls, 1))


def unquote_string(literal: str) -> str:
    """Return the value of a string literal. literal: includes its quotation marks."""
    return _ESCAPE.sub(lambda match: _ESCAPED_CHARACTERS.get(match[1], match[1]), literal[1:-1])


def _add_token(token: re.Match[str], calls: list[tuple[str, list[str]]]) -> None:
    """Add a name or a string to the calls."""
    if token["name"] is not None:
        calls.append((token["name"], []))
        return
    place = token.start() + 1
    if token["open"] is not None:
        raise InvalidRule(msg('The string at character {place} has no closing " on its line.', place=place))
    if not calls:
        raise InvalidRule(msg("The string at character {place} has no rule name before it.", place=place))
    calls[-1][1].append(unquote_string(token["string"]))


# All rules by name

ActionBuilder = Callable[[tuple[str, ...]], RewriteAction]

WITHOUT_ARGUMENTS: Final[dict[str, RewriteAction]] = {
    "add_castopod_episode": video.add_castopod_episode,
    "add_dynamic_iframe": video.add_dynamic_iframe,
    "add_dynamic_image": images.add_dynamic_image,
    "add_enclosure_links": links.add_enclosure_links,
    "add_hn_links_using_hack": links.add_hn_links_using_hack,
    "add_hn_links_using_opener": links.add_hn_links_using_opener,
    "add_image_title": images.add_image_title,
    "add_invidious_video": video.add_invidious_video,
    "add_mailto_subject": links.add_mailto_subject,
    "add_pdf_download_link": links.add_pdf_download_link,
    "add_youtube_video": video.add_youtube_video,
    "add_youtube_video_from_id": video.add_youtube_video_from_id,
    "add_youtube_video_using_invidious_player": video.add_youtube_video_using_invidious_player,
    "convert_text_link": links.convert_text_links,
    "convert_text_links": links.convert_text_links,
    "fix_ghost_cards": ghost_cards.fix_ghost_cards,
    "fix_medium_images": images.show_noscript_pictures,
    "nl2br": text.nl2br,
    "remove_clickbait": text.remove_clickbait,
    "remove_img_blur_params": images.remove_img_blur_params,
    "remove_tables": text.remove_tables,
    "use_noscript_figure_images": images.show_noscript_pictures,
}

# The number of arguments that each needs; further arguments are ignored.
WITH_ARGUMENTS: Final[dict[str, tuple[int, ActionBuilder]]] = {
    "base64_decode": (0, text.base64_decode),
    "remove": (1, text.remove),
    "replace": (2, text.replace_content),
    "replace_title": (2, text.replace_title),
}

NAMES: Final = frozenset(WITHOUT_ARGUMENTS) | frozenset(WITH_ARGUMENTS)


def build_action(call: RuleCall) -> RewriteAction:
    """Return the action of a call.

    Raises InvalidRule, without field and number, for an unknown name or missing arguments.
    """
    if call.name in WITHOUT_ARGUMENTS:
        return WITHOUT_ARGUMENTS[call.name]
    if call.name not in WITH_ARGUMENTS:
        raise InvalidRule(msg("There is no rewrite rule {name}.", name=repr(call.name[:60])))
    needed, build = WITH_ARGUMENTS[call.name]
    if len(call.arguments) < needed:
        raise InvalidRule(
            msg("{name} needs 1 argument in double quotes.", name=call.name)
            if needed == 1
            else msg("{name} needs {needed} arguments in double quotes.", name=call.name, needed=needed)
        )
    return build(call.arguments)


# Application

# Applied last, so that its link comes first in the content.
_APPLIED_LAST: Final = "add_pdf_download_link"


class RewriteRule(Struct, frozen=True):
    """A rewrite rule that is ready to be applied."""

    number: int
    """Position in the text, counted from 1."""
    name: str
    action: RewriteAction


RewriteRules = tuple[RewriteRule, ...]


def parse_rewrites(text: str, *, field: str = "rewrite_rules") -> RewriteRules:
    """Return the rules in the order of application. Raises InvalidRule for the first unusable rule."""
    errors = RuleErrors()
    rules = read_rewrites(text, field=field, errors=errors)
    raise_first(errors)
    return rules


def read_rewrites(text: str, *, field: str, errors: RuleErrors) -> RewriteRules:
    """Return the usable rules and add an error to `errors` for each of the others."""
    calls = read_calls(text, field=field, errors=errors)
    rules = [
        collect_error(partial(_build_rule, call), errors=errors, field=field, number=call.number) for call in calls
    ]
    return tuple(sorted(filter(None, rules), key=lambda rule: rule.name == _APPLIED_LAST))


def apply_rewrites(entry: RuleEntry, rules: RewriteRules) -> tuple[RuleEntry, tuple[Message, ...]]:
    """Return the rewritten entry, and a warning for each rule that was skipped.

    A rule that makes the content longer than MAX_RESULT_CHARS is skipped. If the budget of all rules is used up, one
    warning is for all that were left.
    """
    warnings: list[Message] = []
    for rule in rules:
        try:
            entry.budget.check()
        except RuleBudgetExceeded as error:
            warnings.append(
                msg(
                    "Rewrite rule {number} ({name}) and those after it were skipped: {reason}.",
                    number=rule.number,
                    name=rule.name,
                    reason=error.reason,
                )
            )
            break
        try:
            entry = _applied(rule, entry)
        except RuleBudgetExceeded as error:
            warnings.append(
                msg(
                    "Rewrite rule {number} ({name}) was skipped: {reason}.",
                    number=rule.number,
                    name=rule.name,
                    reason=error.reason,
                )
            )
    return entry, tuple(warnings)


def _applied(rule: RewriteRule, entry: RuleEntry) -> RuleEntry:
    changed = rule.action(entry)
    chars = len(changed.content)
    if changed.content != entry.content:
        entry.budget.spend(chars)
    if chars > MAX_RESULT_CHARS and chars > len(entry.content):
        raise RuleBudgetExceeded(msg("it makes the text too long"))
    return changed


def _build_rule(call: RuleCall) -> RewriteRule:
    return RewriteRule(call.number, call.name, build_action(call))


# Built-in rules. The list is short on purpose: each line affects all users of a site.

# Each host includes its subdomains.
BY_HOST: Final = {
    # The image's title is part of the comic.
    "xkcd.com": "add_image_title",
    # The feed has only a description; users expect the video.
    "youtube.com": "add_youtube_video",
    # Preprints: an entry may link to the document itself.
    "arxiv.org": "add_pdf_download_link",
    # Images are blurred placeholders until a script replaces them.
    "medium.com": "fix_medium_images",
    # Links to other pages are bookmark cards.
    "ghost.org": "fix_ghost_cards",
}
_HOSTS: Final = tuple(BY_HOST)


def builtin_rewrites(url: str) -> RewriteRules:
    """Return the built-in rules for an entry with this URL."""
    host = host_without_www(url)
    while host.endswith(_HOSTS):
        if host in BY_HOST:
            return _parsed(host)
        host = host.partition(".")[2]
    return ()


@lru_cache(maxsize=len(BY_HOST))
def _parsed(host: str) -> RewriteRules:
    return parse_rewrites(BY_HOST[host])
