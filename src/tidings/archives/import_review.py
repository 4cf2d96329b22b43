"""Names and values of what an import would change, or left off, as the import page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from tidings.archives.archived_newsletters import NEWSLETTER
from tidings.archives.archived_old_unread import OLD_UNREAD
from tidings.archives.archived_rules import RULE
from tidings.archives.archived_webhooks import WEBHOOKS
from tidings.archives.integration_settings import IntegrationKind
from tidings.archives.parts import SECURITY, ArchivePart, ImportReview, LeftOff, PlannedChange
from tidings.domain.feeds.own_bridges import SERVICE_NAMES
from tidings.http.binding import Form
from tidings.web.language import N_, _
from tidings.web.message_translation import translated
from tidings.web.setting_fields import Field
from tidings.web.setting_forms import ACCOUNT, APPEARANCE, CUSTOM, FILTERS, READING

_FORMS: Final = (ACCOUNT, READING, APPEARANCE, FILTERS, CUSTOM)
_FIELDS: Final = {field.name: (field, form.path) for form in _FORMS for group in form.groups for field in group.fields}
_OF_FEEDS: Final = {
    "webhook_url": N_("Webhook address"),
    "apprise_service_urls": N_("Apprise service URLs"),
    "ntfy_enabled": N_("Notifications by ntfy"),
    "pushover_enabled": N_("Notifications by Pushover"),
    "proxy_url": N_("Proxy"),
    "allow_self_signed_certificates": N_("Trust self-signed certificates"),
}
_PARTS: Final = {
    ArchivePart.SETTINGS: (N_("Apply these settings"), ""),
    ArchivePart.RULES: (
        N_("Apply these filters and rules"),
        N_("They decide about new entries of all your feeds. Otherwise rules come in switched off."),
    ),
    ArchivePart.SCRIPTS: (
        N_("Apply these styles and scripts"),
        N_("On every page that you see. A script can do whatever you can: only if the archive is your own."),
    ),
    ArchivePart.INTEGRATIONS: (
        N_("Switch these on"),
        N_("They send entries or requests to other servers. Otherwise they come in switched off or are left out."),
    ),
}
# Longer values are folded.
_SHORT_CHARS: Final = 80


class ShownChange(Struct, frozen=True):
    """A change that the archive would make, as the page shows it."""

    label: str
    """What changes."""
    before: str
    """Empty if nothing was set."""
    after: str
    feed: str
    is_long: bool
    """The new value is to be folded."""


class ShownPart(Struct, frozen=True):
    """A part of an archive with a check box."""

    name: str
    """Name of the check box."""
    label: str
    help: str
    is_on: bool
    changes: list[ShownChange]


class ShownLeftOff(Struct, frozen=True):
    """Switches that the import left off, as the page shows them."""

    label: str
    path: str
    """Path of the page that has the switch."""
    feeds: list[str]
    more_feeds: int


class AnswerForm(Form, frozen=True):
    """The boxes of a review; each has the name of its part."""

    started_at: int | None = None
    """Start of the import that the boxes are about."""
    settings: bool | None = None
    rules: bool | None = None
    scripts: bool | None = None
    integrations: bool | None = None

    def parts(self) -> frozenset[ArchivePart]:
        return frozenset(part for part in ArchivePart if getattr(self, part))


def parts_of(review: ImportReview, kinds: Mapping[str, IntegrationKind]) -> list[ShownPart]:
    """Return the parts that the user can choose; only harmless settings are preselected."""
    return [
        ShownPart(
            name=str(part),
            label=_(_PARTS[part][0]),
            help=_(_PARTS[part][1]) if _PARTS[part][1] else "",
            is_on=part is ArchivePart.SETTINGS,
            changes=[_change(change, kinds) for change in review.changes if change.part == part],
        )
        for part in review.parts
    ]


def security_of(review: ImportReview, kinds: Mapping[str, IntegrationKind]) -> list[str]:
    """Return what imports never change, although the archive has another value."""
    return list(dict.fromkeys(_label(change.name, kinds) for change in review.changes if change.part == SECURITY))


def left_off(left: list[LeftOff], kinds: Mapping[str, IntegrationKind], *, security: bool) -> list[ShownLeftOff]:
    """Return what was left off. security: what protects the account, instead of what the user did not choose."""
    return [
        ShownLeftOff(_label(one.name, kinds), _path(one, kinds), one.feeds, max(0, one.feed_count - len(one.feeds)))
        for one in left
        if (one.part == SECURITY) is security and not one.name.startswith("has_chosen_")
    ]


def _change(change: PlannedChange, kinds: Mapping[str, IntegrationKind]) -> ShownChange:
    after = _value(change.name, change.after)
    return ShownChange(
        label=_label(change.name, kinds),
        before=_value(change.name, change.before)[:_SHORT_CHARS],
        after=after,
        feed=change.feed,
        is_long=len(after) > _SHORT_CHARS or "\n" in after,
    )


def _label(name: str, kinds: Mapping[str, IntegrationKind]) -> str:
    if name in _OF_FEEDS:
        return _(_OF_FEEDS[name])
    if name in kinds:
        return translated(kinds[name].title)
    if name == RULE:
        return _("Rule")
    if name == WEBHOOKS:
        return _("Webhooks")
    if name == NEWSLETTER:
        return _("Newsletter")
    if name in SERVICE_NAMES:
        return SERVICE_NAMES[name]
    if name == OLD_UNREAD:
        return _("Mark unread entries as read after days")
    return _(_FIELDS[name][0].label) if name in _FIELDS else name


def _path(left: LeftOff, kinds: Mapping[str, IntegrationKind]) -> str:
    if left.feed_count:
        return "/feeds"
    if left.name == WEBHOOKS:
        return "/settings/integrations"
    if left.name in SERVICE_NAMES:
        return "/settings/bridges"
    if left.name in kinds:
        return f"/settings/integrations/{left.name}"
    return _FIELDS[left.name][1] if left.name in _FIELDS else "/settings"


def _value(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return _("on") if value else _("off")
    field: Field | None = _FIELDS[name][0] if name in _FIELDS else None
    choices = field.choices() if field is not None and field.choices is not None else {}
    return choices.get(str(value), f"{value:g}" if isinstance(value, float) else str(value))
