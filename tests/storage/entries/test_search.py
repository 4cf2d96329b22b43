"""Full-text search on both engines: what it finds, and that the index follows all changes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.databases import Databases
from support.entry_fixtures import NOW, FeedFixture, ready
from support.random_examples import examples
from tidings.base.times import SECOND, Instant
from tidings.domain.entries.entries import Direction, EntryStatus, Order, PageRequest
from tidings.engine.database import Database
from tidings.services.entries.search_index import SearchIndexer
from tidings.storage.accounts import users
from tidings.storage.entries import entries, search_index
from tidings.storage.feeds import feeds
from tidings.storage.polling import entry_writes


@pytest.fixture
def feed_fixture(database: Database) -> FeedFixture:
    return FeedFixture.create(database)


def index(database: Database) -> None:
    while SearchIndexer(database).work():
        pass


def test_a_word_is_found_in_the_title_and_in_the_text(feed_fixture: FeedFixture) -> None:
    feed_fixture.add(
        ready("Rain tomorrow", "Take an umbrella."), ready("Sunshine", "No <b>rain</b> at all."), ready("Snow")
    )
    index(feed_fixture.database)

    assert feed_fixture.titles("rain") == ["Rain tomorrow", "Sunshine"]
    assert feed_fixture.total("rain") == 2


def test_markup_is_not_searched(feed_fixture: FeedFixture) -> None:
    feed_fixture.add(ready("Links", '<a href="https://elsewhere.example/">here</a>'))
    index(feed_fixture.database)

    assert feed_fixture.titles("elsewhere") == []
    assert feed_fixture.titles("href") == []


LIBRARY = {
    "storm": ("Storm warning", "<p>Strong winds are expected along the coast. Ships stay in the harbour.</p>"),
    "harbour": ("Harbour festival", "<p>Ships, music and fireworks; the storm of last week is forgotten.</p>"),
    "cake": ("A cake recipe", "<p>Flour, eggs and sugar. Don't open the oven!</p>"),
    "cafe": ("Café crème", "<p>Où boire un café à Zürich? Straße 7, C++ and .NET meetup.</p>"),
    "tokyo": ("東京タワーの歴史", "<p>サーバーを再起動する。Python入門</p>"),
    "chinese": ("全文检索", "<p>我们在北京大学学习自然语言处理。</p>"),
    "korean": ("서울에서 만나요", "<p>한국어 검색</p>"),
    "russian": ("Новости", "<p>Ёлка стоит в большой комнате.</p>"),
    "hindi": ("हिन्दी समाचार", "<p>नमस्ते दुनिया</p>"),
    "arabic": ("أخبار", "<p>مُحَمَّد في المدينة</p>"),
    "thai": ("ข่าววันนี้", "<p>ประเทศไทย</p>"),
    "party": ("Party 🎉", "<p>See snake_case and kebab-case at 3.14.</p>"),
    "relations": ("Foreign relations", "<p>Tidings of organizations</p>"),
}
FOUND = {
    "storm": {"storm", "harbour"},
    "STORM": {"storm", "harbour"},
    "ship harbor": set(),
    "ship harbour": {"storm", "harbour"},
    '"stay in the harbour"': {"storm"},
    '"harbour festival"': {"harbour"},
    '"festival ships"': set(),  # the end of a title and the beginning of a text are not neighbours
    '"festival harbour"': set(),
    "ships -music": {"storm"},
    'storm -"last week"': {"storm"},
    "-storm -python -cake -news -ships": set(LIBRARY) - {"storm", "harbour", "tokyo", "cake"},
    "fire*": {"harbour"},
    '"stay in the har"*': {"storm"},
    "expecting": {"storm"},
    "organize": {"relations"},
    "relation*": {"relations"},
    "relatio*": {"relations"},
    "tiding*": {"relations"},
    "tidin*": {"relations"},
    "the": {"storm", "harbour", "cake"},
    "don't": {"cake"},
    "dont": set(),
    "cafe": {"cafe"},
    "CAFÉ": {"cafe"},
    "creme zurich": {"cafe"},
    "strasse": {"cafe"},
    "c++": {"cafe"},
    "東京": {"tokyo"},
    "タワー": {"tokyo"},
    "京タ": {"tokyo"},
    "東": {"tokyo"},
    "史": {"tokyo"},
    "京都": set(),
    "サーバー": {"tokyo"},
    "ｻｰﾊﾞｰ": {"tokyo"},
    "python 入門": {"tokyo"},
    '"python 入門"': {"tokyo"},
    "北京大学": {"chinese"},
    "大学": {"chinese"},
    "北大": set(),
    "서울": {"korean"},
    "елка": {"russian"},
    "НОВОСТИ": {"russian"},
    "हिन्दी": {"hindi"},
    "محمد": {"arabic"},
    "ประเทศ": {"thai"},
    "🎉": {"party"},
    "snake": {"party"},
    "kebab-case": {"party"},
    "3.14": {"party"},
    "cake OR ships": {"cake", "storm", "harbour"},
    "festival or cake -eggs": {"harbour"},
    "cake OR -ships": set(LIBRARY) - {"storm", "harbour"},
    'recipe OR "strong winds" OR 北京': {"cake", "storm", "chinese"},
    "nothing OR -storm -cake": set(LIBRARY) - {"storm", "harbour", "cake"},
    "cake AND eggs": {"cake"},
    "title:cake": set(),
    "cake NOT eggs": set(),
    "NEAR(cake eggs)": set(),
    '"unbalanced cake': set(),
    'cake "': {"cake"},
    "cake*eggs": set(),
    "cake -": {"cake"},
    "ca*": {"cake", "cafe", "party"},
    "!!!": set(),
    "   ": set(LIBRARY),
    "' OR 1=1 --": set(),
    "ca%": set(),
}


@pytest.fixture(scope="module")
def library(databases: Databases) -> Iterator[FeedFixture]:
    with databases.migrated() as url:
        database = Database(url)
        feed_fixture = FeedFixture.create(database)
        feed_fixture.add(*(ready(title, text, url=name) for name, (title, text) in LIBRARY.items()))
        index(database)
        yield feed_fixture
        database.close()


@pytest.mark.parametrize("query", FOUND)
def test_a_query_finds_the_same_entries_on_both_engines(library: FeedFixture, query: str) -> None:
    names = {title: name for name, (title, _) in LIBRARY.items()}

    assert {names[title] for title in library.titles(query.strip())} == FOUND[query]
    assert library.total(query.strip()) == len(FOUND[query])


@pytest.mark.slow
@settings(max_examples=examples(75), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=st.one_of(
        st.text(), st.text(alphabet="\"*-():^+&|!<>\\'{}[]:~/ aZ9é東\0\ud800", max_size=40), st.binary().map(bytes.hex)
    )
)
def test_no_query_makes_a_search_fail(library: FeedFixture, query: str) -> None:
    assert len(library.titles(query)) == library.total(query)


@pytest.mark.parametrize(
    "query",
    ["a" * 100_000, "a " * 50_000, '"' * 100_000, "東" * 100_000, "-a " * 30_000, "a* " * 30_000, "(" * 100_000, "e*"],
)
def test_a_very_long_query_is_answered(library: FeedFixture, query: str) -> None:
    assert library.total(query) >= 0


@pytest.mark.slow
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(title=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), body=st.text())
def test_whatever_an_entry_says_can_be_indexed_changed_and_forgotten(
    library: FeedFixture, title: str, body: str
) -> None:
    feed = library.another_feed()
    feed.add(ready(title, body.replace("\0", "")))
    index(library.database)
    with library.database.writing() as db:
        feeds.remove(db, feed.user_id, feed.feed_id)
    index(library.database)
    ensure_sound(library.database)


@pytest.mark.slow
def test_a_very_long_text_is_searched_from_its_beginning(feed_fixture: FeedFixture) -> None:
    feed_fixture.add(ready("Book", "beginning " + "".join(f"w{n} " for n in range(100_000)) + "ending"))
    feed_fixture.add(ready("漢" * 500_000, "漢字" * 500_000), ready("ﷺ" * 200_000, "x" * 3_000_000))
    index(feed_fixture.database)

    assert feed_fixture.titles("beginning") == ["Book"]
    assert feed_fixture.titles("ending") == []
    assert feed_fixture.total("漢字") == 1


def test_a_change_by_the_publisher_is_followed(feed_fixture: FeedFixture) -> None:
    old = ready("Rain", "umbrella")
    feed_fixture.add(old)
    index(feed_fixture.database)
    with feed_fixture.database.writing() as db:
        id_ = entry_writes.look_up(db, {feed_fixture.feed_id: [old.hash]})[feed_fixture.feed_id].ids[old.hash]
        entry_writes.change(db, feed_fixture.user_id, {id_: ready("Sun", "parasol")}, now=NOW)
    index(feed_fixture.database)

    assert feed_fixture.titles("rain") == feed_fixture.titles("umbrella") == []
    assert feed_fixture.titles("sun parasol") == ["Sun"]
    ensure_sound(feed_fixture.database)


def test_writing_twice_before_it_is_indexed_indexes_the_last(feed_fixture: FeedFixture) -> None:
    old = ready("Rain", "umbrella")
    feed_fixture.add(old)
    with feed_fixture.database.writing() as db:
        id_ = entry_writes.look_up(db, {feed_fixture.feed_id: [old.hash]})[feed_fixture.feed_id].ids[old.hash]
        entry_writes.change(db, feed_fixture.user_id, {id_: ready("Sun", "parasol")}, now=NOW)
    index(feed_fixture.database)

    assert feed_fixture.titles("umbrella") == []
    assert feed_fixture.titles("parasol") == ["Sun"]


def test_a_deleted_entry_is_not_found_even_before_it_leaves_the_index(feed_fixture: FeedFixture) -> None:
    other = feed_fixture.another_feed()
    feed_fixture.add(ready("Rain"))
    other.add(ready("More rain"))
    index(feed_fixture.database)

    with feed_fixture.database.writing() as db:
        feeds.remove(db, feed_fixture.user_id, feed_fixture.feed_id)
    assert feed_fixture.titles("rain") == ["More rain"]
    assert feed_fixture.total("rain") == 1

    index(feed_fixture.database)
    assert feed_fixture.titles("rain") == ["More rain"]
    assert indexed_rows(feed_fixture.database) == 1
    ensure_sound(feed_fixture.database)


def test_entries_of_a_deleted_user_leave_the_index(database: Database) -> None:
    leaving, staying = FeedFixture.create(database), FeedFixture.create(database)
    for feed_fixture in (leaving, staying):
        feed_fixture.add(*(ready(f"Rain {n}") for n in range(70)))
    index(database)
    with database.writing() as db:
        users.remove(db, leaving.user_id)
    index(database)

    assert indexed_rows(database) == 70
    assert staying.total("rain") == 70
    assert indexed_terms(database, leaving.user_id) == set()
    assert "rain" in indexed_terms(database, staying.user_id)
    ensure_sound(database)


def test_an_entry_that_is_deleted_before_it_was_indexed_leaves_nothing_behind(feed_fixture: FeedFixture) -> None:
    feed_fixture.add(ready("Rain"))
    with feed_fixture.database.writing() as db:
        feeds.remove(db, feed_fixture.user_id, feed_fixture.feed_id)
    index(feed_fixture.database)

    with feed_fixture.database.reading() as db:
        assert not search_index.is_behind(db)
    assert indexed_rows(feed_fixture.database) == 0


def test_a_search_does_not_find_entries_of_other_users(database: Database) -> None:
    # Ids of which one begins like the other.
    people = [FeedFixture.create(database) for _ in range(12)]
    for person in people:
        person.add(ready(f"Rain for {person.user_id}"))
    index(database)

    for person in people:
        assert person.titles("rain") == person.titles("ra*") == [f"Rain for {person.user_id}"]
        assert person.titles("-sun") == [f"Rain for {person.user_id}"]


@pytest.mark.parametrize("kept", [1 << 20, 0])
def test_users_with_equal_texts_find_their_own_entry(
    database: Database, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr("tidings.storage.entries.search_index.MAX_KEPT_CHARACTERS", kept)
    people = [FeedFixture.create(database) for _ in range(3)]
    for person in people:
        person.add(ready("News", "<p>late rain</p>"), ready("News", "<p>späte Häuser</p>", language="de"))
    index(database)

    for person in people:
        assert (person.total("news"), person.total('"late rain"'), person.total("rain late")) == (2, 1, 1)
        # Its stem is one of German only.
        assert person.total("haus") == 1


def test_a_search_catches_up_for_its_own_user_only(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.services.entries.search_index.CATCH_UP_TIMEOUT_S", 60)
    alice, bob = FeedFixture.create(database), FeedFixture.create(database)
    alice.add(*(ready(f"Rain {n}") for n in range(120)))
    bob.add(ready("Rain"))

    SearchIndexer(database).catch_up(alice.user_id)

    assert alice.total("rain") == 120
    with database.reading() as db:
        assert not search_index.is_behind(db, alice.user_id)
        assert search_index.is_behind(db, bob.user_id)


def test_a_search_holds_together_with_every_other_filter(feed_fixture: FeedFixture) -> None:
    first, second, third = feed_fixture.add(
        ready("Rain one", tags=("Weather",)), ready("Rain two"), ready("Rain three", tags=("weather", "x"))
    )
    elsewhere = feed_fixture.another_feed()
    elsewhere.add(ready("Rain elsewhere"))
    feed_fixture.add(ready("Sun", tags=("weather",)))
    with feed_fixture.database.writing() as db:
        entries.set_state(db, feed_fixture.user_id, [second], status=EntryStatus.READ, now=NOW)
        entries.set_state(db, feed_fixture.user_id, [third], starred=True, now=Instant(NOW + SECOND))
    index(feed_fixture.database)

    assert feed_fixture.titles("rain", statuses=(EntryStatus.READ,)) == ["Rain two"]
    assert feed_fixture.titles("rain", starred=True) == ["Rain three"]
    assert feed_fixture.titles("rain", tags=("weather",)) == ["Rain one", "Rain three"]
    assert feed_fixture.titles("rain", feed_id=elsewhere.feed_id) == ["Rain elsewhere"]
    assert feed_fixture.total("rain", category_id=feed_fixture.category_id) == 4
    assert feed_fixture.titles("rain", changed_after=NOW) == ["Rain three"]
    assert feed_fixture.titles("rain", before_entry_id=second) == ["Rain one"]
    assert feed_fixture.titles("-two", after_entry_id=first, feed_id=feed_fixture.feed_id) == ["Rain three", "Sun"]


@pytest.mark.parametrize("order", Order)
def test_pages_of_a_search_in_any_order_hold_each_match_once(feed_fixture: FeedFixture, order: Order) -> None:
    feed_fixture.add(*(ready(f"Rain {n % 4}", author=f"{n % 3}") for n in range(23)), ready("Sun"))
    index(feed_fixture.database)

    for direction in Direction:
        pages = [
            feed_fixture.titles("rain", PageRequest(order=order, direction=direction, limit=10, offset=offset))
            for offset in (0, 10, 20, 30)
        ]
        assert [len(page) for page in pages] == [10, 10, 3, 0]
        assert sorted(title for page in pages for title in page) == sorted(f"Rain {n % 4}" for n in range(23))


def test_concurrent_indexing_storing_and_deleting_leave_a_correct_index(database: Database) -> None:
    feed_fixture = FeedFixture.create(database)
    feeds_at_hand = [feed_fixture.another_feed() for _ in range(6)]
    for feed in feeds_at_hand:
        feed.add(*(ready(f"Rain {n}") for n in range(60)))

    def keep_indexing() -> None:
        for _ in range(15):
            SearchIndexer(database).work()

    def keep_storing() -> None:
        for n in range(15):
            feed_fixture.add(ready(f"Hail {n}"))

    def delete_half() -> None:
        for feed in feeds_at_hand[:3]:
            with database.writing() as db:
                feeds.remove(db, feed.user_id, feed.feed_id)

    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(what) for what in (keep_indexing, delete_half, keep_indexing, keep_storing)]:
            done.result(60)
    index(database)

    assert feed_fixture.total("rain") == 180
    assert feed_fixture.total("hail") == 15
    assert indexed_rows(database) == 195
    ensure_sound(database)


def indexed_rows(database: Database) -> int:
    table = "search_documents" if database.is_sqlite else "search_vectors"
    with database.reading() as db:
        return int(db.connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() or 0)


def indexed_terms(database: Database, user_id: int) -> set[str]:
    with database.writing() as db:
        if database.is_sqlite:
            db.connection.exec_driver_sql(
                "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, entry_words, row)"
            )
            known = db.connection.exec_driver_sql("SELECT term FROM temp.vocabulary").scalars().all()
            db.connection.exec_driver_sql("DROP TABLE temp.vocabulary")
        else:
            unnested = "SELECT DISTINCT unnest(tsvector_to_array(words)) FROM search_vectors"
            known = db.connection.exec_driver_sql(unnested).scalars().all()
    return {term.partition("/")[2] for term in known if term.startswith(f"{user_id}/")}


def ensure_sound(database: Database) -> None:
    """Check the integrity of the FTS5 index."""
    if database.is_sqlite:
        with database.writing() as db:
            db.connection.exec_driver_sql("INSERT INTO entry_words (entry_words) VALUES ('integrity-check')")


IN_LANGUAGES = {
    "de": ("Häuser am See", "<p>Die Kinder spielen.</p>"),
    "de-AT": ("Das Haus am Hang", "<p>Ein Kind spielt.</p>"),
    "fr": ("Les chevaux", "<p>continuellement en route</p>"),
    "en": ("Connections", "<p>House of new things</p>"),
    "ru": ("Новости", "<p>Новый дом</p>"),
    "": ("Connected", "<p>Newsletter</p>"),
}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("haus", {"de", "de-AT"}),
        ("hausern", {"de", "de-AT"}),
        ('"kinder spielen"', {"de"}),
        ("kindern", {"de", "de-AT"}),
        ("continuel", {"fr"}),
        ("connecting", {"en", ""}),
        ("новые", {"ru"}),
        ("haus -hang", {"de"}),
        ("-haus", {"fr", "en", "ru", ""}),
        ("häus*", {"de", "de-AT"}),
        ("house OR haus", {"de", "de-AT", "en"}),
        ("news", set()),
    ],
)
def test_words_are_found_in_each_language_of_the_user(feed_fixture: FeedFixture, query: str, found: set[str]) -> None:
    created = {title: language for language, (title, _) in IN_LANGUAGES.items()}
    feed_fixture.add(*(ready(title, text, language=language) for language, (title, text) in IN_LANGUAGES.items()))
    index(feed_fixture.database)

    assert {created[title] for title in feed_fixture.titles(query)} == found
    assert feed_fixture.total(query) == len(found)


def test_an_entry_that_changes_its_language_is_found_by_its_new_words(feed_fixture: FeedFixture) -> None:
    old = ready("Häuser", "am See")
    feed_fixture.add(old)
    index(feed_fixture.database)
    with feed_fixture.database.writing() as db:
        known = entry_writes.look_up(db, {feed_fixture.feed_id: [old.hash]})[feed_fixture.feed_id]
        changed = {known.ids[old.hash]: ready("Häuser", "am See", language="de")}
        entry_writes.change(db, feed_fixture.user_id, changed, now=NOW)
    index(feed_fixture.database)

    assert feed_fixture.titles("haus") == ["Häuser"]
    ensure_sound(feed_fixture.database)
