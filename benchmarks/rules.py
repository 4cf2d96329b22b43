"""Measures rules: what a hundred of them cost an entry that arrives, and how fast one is applied to 5,000 entries.

On both engines: storing entries without rules of any user, with rules of another user, and with a hundred of one's own.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks import lists
from support.databases import Databases
from support.entry_fixtures import NOW, FeedFixture, ready
from support.running import environment_for
from tidings.content.search import stem
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import ReadyEntry
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.changes import FeedUpdate
from tidings.engine.database import Database
from tidings.rules.model import Action, ActionType, RuleFields
from tidings.rules.services import RuleServices
from tidings.services.listeners import Listeners
from tidings.services.polling.check import FeedChecker
from tidings.services.polling.store import store_updates
from tidings.settings import load
from tidings.storage.accounts import users
from tidings.storage.feeds import feeds
from tidings.wiring.services import AllServices, build_services

RULES, BATCH, ROUNDS, STORED = 100, 30, 9, 5_000
# As long as the median and the mean of real entries. Splitting a long text into words takes as long as the rules.
WORDS = (150, 900)
# More than that for an entry of the median length is an error.
MAX_MS = 1.0

_chance = random.Random(34)  # noqa: S311 - no secret
_VOCABULARY = ["".join(_chance.choices("abcdefghijklmnoprstuvw", k=_chance.randint(3, 10))) for _ in range(8_000)]
_KINDS = (
    "{0}", "title:{0}", '"{0} {1}"', "{0} OR {1}", "title:{0} -{1}", "{0}*", "author:{0}", "url:/{0}/",
    "words>2000 {0}", "title:/{0}.*{1}/i", "#{0}", "has:video {0}", "feed:{0} {1}", "lang:xx {0}",
)  # fmt: skip


def run() -> int:
    # As in a worker: the words of texts repeat, and it has stemmed them for the search index.
    for word in _VOCABULARY:
        stem(word)
    is_slow = False
    for engine in ("sqlite", "postgresql"):
        with tempfile.TemporaryDirectory() as folder, lists.databases(engine, Path(folder)) as created:
            is_slow = _measure(engine, created, Path(folder)) or is_slow
    return int(is_slow)


def _measure(engine: str, created: Databases, folder: Path) -> bool:
    with created.migrated() as url:
        database = Database(url)
        services = build_services(database, load(environment_for(url, folder), None))
        checker = services.polling.claims._checker
        assert isinstance(checker, FeedChecker)
        own, other = FeedFixture.create(database), FeedFixture.create(database)
        unused = _per_entry(database, own, checker._listeners, WORDS[0])
        _say(f"{engine}: an entry takes {_per_entry(database, own, Listeners(), WORDS[0]):.2f} ms without a listener")
        _add_rules(services, other)
        strange = _per_entry(database, own, checker._listeners, WORDS[0])
        _say(f"  {unused:.2f} ms without rules, {strange:.2f} ms with rules of another user")
        plain = {words: _per_entry(database, own, checker._listeners, words) for words in WORDS}
        _add_rules(services, own)
        more = {words: _per_entry(database, own, checker._listeners, words) - plain[words] for words in WORDS}
        for words, ms in more.items():
            _say(f"  {ms:.2f} ms more with {RULES} rules if it has {words} words")
        _say(f"  a rule is applied to {STORED:,} entries in {_applied(services, database, own):.1f} s")
        database.close()
    return more[WORDS[0]] > MAX_MS


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _add_rules(services: AllServices, owner: FeedFixture) -> None:
    for number in range(RULES):
        query = _KINDS[number % len(_KINDS)].format(*_chance.sample(_VOCABULARY, 2))
        fields = RuleFields(query=query, actions=(Action(ActionType.STAR),))
        services.of(RuleServices).rules.create(owner.user_id, fields)


def _entry(words: int) -> ReadyEntry:
    text = " ".join(_chance.choices(_VOCABULARY, k=words))
    return ready(" ".join(_chance.choices(_VOCABULARY, k=8)), f"<p>{text}</p>", author="Ada Lovelace", tags=("rain",))


def _per_entry(database: Database, owner: FeedFixture, listeners: Listeners, words: int) -> float:
    """Return the milliseconds of processor time for storing one of the entries of a check."""
    user, feed = _owner(database, owner)
    took = []
    for _ in range(ROUNDS):
        new = {entry.hash: entry for entry in (_entry(words) for _ in range(BATCH))}
        started = time.thread_time()
        with database.writing() as db:
            store_updates(db, [FeedUpdate(user=user, feed=feed, now=NOW, new=new)], listeners=listeners)
        took.append((time.thread_time() - started) / BATCH * 1000)
    return median(took)


def _owner(database: Database, owner: FeedFixture) -> tuple[User, Feed]:
    with database.reading() as db:
        user, feed = users.get(db, owner.user_id), feeds.get(db, owner.user_id, owner.feed_id)
    assert user is not None
    assert feed is not None
    return user, feed


def _applied(services: AllServices, database: Database, owner: FeedFixture) -> float:
    """Return the seconds for marking all entries read by a rule."""
    for _ in range(STORED // 1_000):
        owner.add(*(ready("Rain") for _ in range(1_000)))
    user, _ = _owner(database, owner)
    fields = RuleFields(query="title:rain", actions=(Action(ActionType.MARK_READ),))
    rules = services.of(RuleServices)
    rule = rules.rules.create(owner.user_id, fields)
    while services.entries.search.work():
        pass
    lists.vacuum(database)
    rules.runs.start(user, rule.id)
    started = time.monotonic()
    while rules.runs.work("benchmark"):
        pass
    return time.monotonic() - started
