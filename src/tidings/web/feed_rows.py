"""Rows of the feeds page: the state of each feed in words, and a small chart of its last half year."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup
from msgspec import Struct

from tidings.base.times import DAY, HOUR, MINUTE, Instant
from tidings.content.model import DocumentLimit
from tidings.domain.feeds.feeds import WORSE_PAGES
from tidings.domain.feeds.health import FeedHealth, FeedHealthData
from tidings.engine.database import Read
from tidings.services.polling.decide import CONFIRMATIONS
from tidings.storage.feeds.health import entries_per_week
from tidings.web.language import N_, _, ngettext
from tidings.web.message_translation import join_sentences, translated

WEEKS = 26
_BAR, _STEP, _HEIGHT = 3, 4, 24

# Labels of states, in the filter and in rows.
NAMES = {
    FeedHealth.DEAD: N_("Dead"),
    FeedHealth.FAILING: N_("Failing"),
    FeedHealth.MOVED: N_("Redirected"),
    FeedHealth.SILENT: N_("Silent"),
    FeedHealth.SLOW: N_("Slow"),
    FeedHealth.RARE: N_("Rare"),
    FeedHealth.WAITING: N_("Waiting"),
    FeedHealth.OFF: N_("Switched off"),
    FeedHealth.FINE: N_("Fine"),
}

LIMIT_NOTES = {
    DocumentLimit.ENTRIES: N_("The document has more than 10,000 entries: those after them were left out."),
    DocumentLimit.TEXT: N_("An entry has more than 4,000,000 characters: the rest of its text was left out."),
    DocumentLimit.ELEMENTS: N_("The document has more elements than fit into memory: the end of it was left out."),
    WORSE_PAGES: N_(
        "Pages of new entries have far less text than the feed: they ask for a log-in or consent, or show an error."
        " The texts of the feed were kept."
    ),
}


class FeedRow(Struct, frozen=True):
    """A row of the feeds page."""

    feed: FeedHealthData
    category: str
    """Paths of all that it is in."""
    trouble: str
    """What is wrong; empty if nothing is."""
    advice: str
    """What to do about the trouble; may be empty."""
    rhythm: str
    next_check: str
    """Empty when no check is scheduled."""
    chart: Markup

    @property
    def health(self) -> FeedHealth:
        return self.feed.health

    @property
    def label(self) -> str:
        return _(NAMES[self.health])

    @property
    def notes(self) -> list[str]:
        """What was left out of the last document, or could not be had from pages, as sentences."""
        return [_(text) for limit, text in LIMIT_NOTES.items() if limit in self.feed.limits_reached.split()]

    @property
    def took_s(self) -> float:
        """Seconds that the last response took; 0 when not known."""
        return max(round(self.feed.took_ms / 1000, 1), 0.1) if self.feed.took_ms else 0


def feed_rows(
    db: Read,
    user_id: int,
    feeds: Sequence[FeedHealthData],
    categories: Mapping[int, str],
    further: Mapping[int, Sequence[int]],
    now: Instant,
) -> list[FeedRow]:
    """Return the rows of feeds. categories: paths by id. further: categories after the first, by feed id."""
    weekly = entries_per_week(db, user_id, [feed.id for feed in feeds], now, WEEKS)
    return [
        FeedRow(
            feed,
            ", ".join(categories.get(one, "") for one in (feed.category_id, *further.get(feed.id, ()))),
            trouble(feed),
            advice(feed.health),
            rhythm(weekly[feed.id]),
            "" if feed.disabled else soon(feed.next_check_at, now),
            chart(weekly[feed.id]),
        )
        for feed in feeds
    ]


def rhythm(weekly: Sequence[int]) -> str:
    """Return how often entries appear: a day, a week, or in half a year when there is less than one a week."""
    total = sum(weekly)
    if not total:
        return _("nothing in half a year")
    if total >= 14 * len(weekly):
        return _("%(count)d a day", count=round(total / len(weekly) / 7))
    if total >= len(weekly):
        return _("%(count)d a week", count=round(total / len(weekly)))
    return ngettext("%(count)d in half a year", "%(count)d in half a year", total, count=total)


def soon(moment: Instant, now: Instant) -> str:
    """Return the time until a moment in words."""
    left = moment - now
    if left < MINUTE:
        return _("now")
    if left < HOUR:
        return _("in %(count)d min", count=left // MINUTE)
    if left < 2 * DAY:
        return _("in %(count)d h", count=left // HOUR)
    return ngettext("in %(count)d day", "in %(count)d days", left // DAY, count=left // DAY)


def chart(weekly: Sequence[int]) -> Markup:
    """Return an SVG chart: a bar for each week, scaled to the highest. A week with entries is never empty."""
    largest = max(weekly, default=0)
    bars = "".join(
        f"M{place * _STEP} {_HEIGHT}v-{max(2, round(count * _HEIGHT / largest))}h{_BAR}V{_HEIGHT}z"
        for place, count in enumerate(weekly)
        if count
    )
    width = len(weekly) * _STEP - _STEP + _BAR
    ground = f"M0 {_HEIGHT - 0.5}H{width}"
    total = sum(weekly)
    label = ngettext("%(count)d entry in half a year", "%(count)d entries in half a year", total, count=total)
    return Markup(
        '<svg class="spark" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '<path class="ground" d="{}"/><path d="{}"/></svg>'
    ).format(width, _HEIGHT, label, ground, bars)


def trouble(feed: FeedHealthData) -> str:
    """Return what is wrong with a feed, "" if nothing is."""
    error = translated(feed.error)
    if feed.health in (FeedHealth.DEAD, FeedHealth.FAILING):
        if feed.failed_checks < 2:
            return error
        times = ngettext(
            "Failed %(count)d time in a row.",
            "Failed %(count)d times in a row.",
            feed.failed_checks,
            count=feed.failed_checks,
        )
        return join_sentences(error, times)
    if feed.health is FeedHealth.MOVED and feed.moved_times >= CONFIRMATIONS:
        return _(
            "It has moved to %(address)s, on another host, where its cookie, password and user agent are not sent. "
            "If you trust the new address, enter it in the settings of the feed, with what it needs.",
            address=feed.moved_to,
        )
    if feed.health is FeedHealth.MOVED:
        return _(
            "It redirects to %(address)s. We follow once it has done so %(times)d times (now: %(now)d).",
            address=feed.moved_to,
            times=CONFIRMATIONS,
            now=feed.moved_times,
        )
    if feed.error_message and not feed.disabled:
        # A first failure, perhaps a temporary one.
        return error
    return ""


def advice(state: FeedHealth) -> str:
    """Return what to do about the state of a feed, or what it means; "" if the state says all."""
    if state is FeedHealth.DEAD:
        return _("Look for its new address, or unsubscribe.")
    if state is FeedHealth.SILENT:
        return _("It works, but has published nothing for half a year.")
    if state is FeedHealth.SLOW:
        return _("Its site is slow to answer. Nothing is lost, and no other feed waits for it.")
    if state is FeedHealth.WAITING:
        return _("It has not been checked yet.")
    return ""
