"""The pages of rules, without scripts."""

from __future__ import annotations

import re

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.rules.services import RuleServices


def test_a_rule_is_made_from_an_article(alice: Person, reader: Visitor, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Rain & snow: all tomorrow's weather", "Sun"])
    entry = next(one for one in alice.entries() if one["title"].startswith("Rain"))

    link = re.search(r'href="(/rules/new\?entry=\d+)"', reader.page(f"/feeds/{feed['id']}/entries/{entry['id']}"))
    assert link
    page = reader.page(link[1])
    query = re.search(r'name="query" value="([^"]*)"', page)
    assert query
    assert query[1] == "title:Rain title:snow title:tomorrow"
    assert f'<option value="f{feed["id"]}" selected>' in page
    answer = reader.post("/rules/new", query=query[1], where=f"f{feed['id']}", action="mark_read", enabled="1")

    assert "arrive from now on" in reader.follow(answer)
    (rule,) = alice.get("/v1/rules")
    assert (rule["scope"], rule["feed_id"], rule["query"]) == ("feed", feed["id"], query[1])
    assert rule["actions"] == [{"type": "mark_read"}]


def test_rules_are_ordered_switched_changed_and_deleted(alice: Person, reader: Visitor) -> None:
    label = alice.service.services.entries.labels.create(alice.id, "Later")
    ids = [alice.post("/v1/rules", {"query": query, "actions": [{"type": "star"}]})["id"] for query in ("rain", "snow")]

    page = reader.page("/rules")
    assert page.index("rain") < page.index("snow")
    reader.post("/rules", up=ids[1])
    assert [one["id"] for one in alice.get("/v1/rules")] == [ids[1], ids[0]]
    reader.post("/rules", off=ids[0])
    assert alice.get(f"/v1/rules/{ids[0]}")["enabled"] is False

    page = reader.page(f"/rules/{ids[0]}")
    answer = reader.post(f"/rules/{ids[0]}", rule=ids[0], query="hail", action="drop", label=label.id, stop="1")
    assert answer.status == 303
    changed = alice.get(f"/v1/rules/{ids[0]}")
    assert changed["actions"] == [{"type": "drop"}, {"type": "label", "label_id": label.id}]
    assert (changed["query"], changed["stop"], changed["enabled"]) == ("hail", True, False)
    page = reader.page(f"/rules/{ids[0]}")
    assert re.search(r'name="action" value="drop" checked', page)
    assert re.search(rf'name="label" value="{label.id}" checked', page)

    assert "does not come back" in reader.page(f"/rules/{ids[0]}/delete")
    reader.follow(reader.post(f"/rules/{ids[0]}/delete"))
    assert [one["id"] for one in alice.get("/v1/rules")] == [ids[1]]


def test_a_wrong_query_is_marked_where_it_is_wrong(alice: Person, reader: Visitor) -> None:
    reader.page("/rules/new")
    answer = reader.post("/rules/new", query="rain title:(snow", action="star", name="Kept")

    page = answer.body.decode()
    assert answer.status == 400
    assert "title:<mark>(snow</mark>" in page
    assert 'value="Kept"' in page
    assert alice.get("/v1/rules") == []


def rows(page: str) -> list[tuple[str, ...]]:
    """Return field, comparison and value of each row on a page."""
    found = []
    for row in re.findall(r"<li>\n<select class=\"field-of\".*?</li>", page, re.DOTALL):
        chosen = re.findall(r'<option value="([^"]*)" selected>', row)
        typed = re.findall(r'<input name="query_value"[^>]* value="([^"]*)"', row)
        found.append(tuple(chosen + typed))
    return found


def test_rows_build_a_query(alice: Person, reader: Visitor, site: Publisher) -> None:
    """Without scripts: a row more, a row less, a look at what matches, and then saved."""
    alice.has_feed(site, ["Rain at noon", "Rain", "Snow"])
    page = reader.page("/rules/new")
    assert rows(page) == [("any", "has", "")]

    sent = {"query_mode": "rows", "query_field": ["title"], "query_how": ["has"], "query_value": ["rain"]}
    page = reader.post("/rules/try", sent | {"edit": "query-add"}).body.decode()
    assert rows(page) == [("title", "has", "rain"), ("any", "has", "")]
    sent = {
        "query_mode": "rows",
        "query_field": ["title", "author", "title"],
        "query_how": ["has", "has", "lacks"],
        "query_value": ["rain", "", "noon"],
    }
    page = reader.post("/rules/try", sent | {"edit": "query-preview"}).body.decode()
    assert "1 stored entry matches" in page
    assert rows(page)[1:] == [("author", "has", ""), ("title", "lacks", "noon")]
    # A row without a value does not count in a preview; it is not stored.
    answer = reader.post("/rules/new", sent | {"action": "star"})
    assert answer.status == 400
    assert re.search(r'id="query-error-2">Say what to look for', answer.body.decode())
    page = reader.post("/rules/try", sent | {"edit": "query-remove-1"}).body.decode()
    assert rows(page) == [("title", "has", "rain"), ("title", "lacks", "noon")]

    two = {name: values[::2] if isinstance(values, list) else values for name, values in sent.items()}
    assert reader.post("/rules/new", two | {"action": "star"}).status == 303
    (rule,) = alice.get("/v1/rules")
    assert rule["query"] == "title:rain -title:noon"
    assert rows(reader.page(f"/rules/{rule['id']}")) == [("title", "has", "rain"), ("title", "lacks", "noon")]


def test_rows_and_text_say_the_same(alice: Person, reader: Visitor) -> None:
    """What no row can say stays text in a row; text that is not changed stays as it was typed."""
    typed = "intitle:rain  (is:starred OR has:audio)"
    rule = alice.post("/v1/rules", {"query": typed, "actions": [{"type": "star"}]})["id"]

    page = reader.page(f"/rules/{rule}")
    shown = [("title", "has", "rain"), ("query", "has", "is:starred OR has:audio")]
    assert rows(page) == shown
    assert "stay as text" in page
    sent = {
        "rule": rule,
        "action": "star",
        "query": typed,
        "query_mode": "rows",
        "query_field": ["title", "query"],
        "query_how": ["has", "has"],
        "query_value": ["rain", "is:starred OR has:audio"],
    }
    page = reader.post("/rules/try", sent | {"edit": "query-text"}).body.decode()
    assert f'name="query" type="text" value="{typed}"' in page
    page = reader.post("/rules/try", query=typed, query_mode="text", edit="query-rows").body.decode()
    assert rows(page) == shown
    assert reader.post(f"/rules/{rule}", sent).status == 303
    assert alice.get(f"/v1/rules/{rule}")["query"] == typed
    reader.page(f"/rules/{rule}")
    reader.post(f"/rules/{rule}", sent | {"query_any": "1", "query_value": ["snow", "is:starred"]})
    assert alice.get(f"/v1/rules/{rule}")["query"] == "title:snow OR is:starred"


def test_a_wrong_value_is_told_at_its_row(alice: Person, reader: Visitor) -> None:
    sent = {
        "query_mode": "rows",
        "query_field": ["title", "words"],
        "query_how": ["matches", "above"],
        "query_value": ["(rain", "many"],
        "action": "star",
    }
    reader.page("/rules/new")
    for path, edit in (("/rules/new", ""), ("/rules/try", "query-text")):
        page = reader.post(path, sent | {"edit": edit}).body.decode()

        assert re.search(r'id="query-error-1">Expected an expression that RE2 can read\.', page)
        assert re.search(r'id="query-error-2">Expected a whole number\.', page)
        assert rows(page) == [("title", "matches", "(rain"), ("words", "above", "many")]
    assert alice.get("/v1/rules") == []


def test_a_rule_for_every_entry_is_asked_about_first(alice: Person, reader: Visitor) -> None:
    page = reader.page("/rules/new")
    assert 'name="everything"' not in page
    answer = reader.post("/rules/new", query=" ", action="star")
    assert answer.status == 400
    assert 'name="everything"' in answer.body.decode()

    assert reader.post("/rules/new", query=" ", action="star", everything="1").status == 303
    (rule,) = alice.get("/v1/rules")
    # It is not asked about again.
    reader.page(f"/rules/{rule['id']}")
    assert reader.post(f"/rules/{rule['id']}", rule=rule["id"], action="star", everything="1", name="All").status == 303


def test_a_try_lists_what_would_change_and_changes_nothing(alice: Person, reader: Visitor, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Snow"])

    reader.page("/rules/new")
    page = reader.post("/rules/try", query="title:rain", action="mark_read").body.decode()

    assert "1 stored entry matches" in page
    assert re.search(r">Rain</a> <span class=\"state\">Mark as read<", page)
    assert 'value="title:rain"' in page
    assert {entry["status"] for entry in alice.entries()} == {"unread"}


def test_a_rule_is_applied_after_a_question(alice: Person, reader: Visitor, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Snow"])
    rule = alice.post("/v1/rules", {"query": "title:rain", "actions": [{"type": "star"}]})["id"]
    runs = alice.service.services.of(RuleServices).runs

    assert "The rule would change 1 of them." in reader.page(f"/rules/{rule}/apply")
    page = reader.follow(reader.post(f"/rules/{rule}/apply"))
    assert "<progress" in page
    while runs.work("worker"):
        pass
    page = reader.page(f"/rules/{rule}/apply")
    assert "1 entry was changed" in page
    assert "Undo" in page
    assert [entry["starred"] for entry in alice.entries()].count(True) == 1
    assert "Undoing" in reader.follow(reader.post(f"/rules/{rule}/undo"))
    while runs.work("worker"):
        pass
    assert "Undone" in reader.page(f"/rules/{rule}/apply")


def test_what_is_about_a_feed_or_category_is_named_before_that_is_deleted(
    alice: Person, bob: Person, reader: Visitor, site: Publisher
) -> None:
    feed = alice.has_feed(site)
    alice.put(f"/v1/feeds/{feed['id']}", {"title": "Weekly weather"}, status=201)
    category, below = feed["category"]["id"], alice.post("/v1/categories", {"title": "Far <i>"})["id"]
    alice.put(f"/v1/categories/{below}", {"parent_id": category}, status=201)
    star = {"actions": [{"type": "star"}]}
    for name, fields in {
        "Of the feed": {"scope": "feed", "feed_id": feed["id"]},
        "Of the category": {"scope": "category", "category_id": category},
        "Below": {"scope": "category", "category_id": below},
        "By title": {"query": "rain feed:weather"},
        "By number": {"query": f"rain OR f:{feed['id']}"},
        "By path": {"query": "rain -category:far"},
        "Else": {"query": "feed:snow category:none"},
    }.items():
        alice.post("/v1/rules", {"name": name} | star | fields)
    alice.post("/v1/views", {"name": "Weathers", "query": f"c:{category}"})
    bob.post("/v1/rules", {"name": "Of Bob", "query": "feed:weather category:far"} | star)

    def named(page: str) -> set[str]:
        listed = re.search(r'<ul class="bullets">(.*?)</ul>', page)
        return set(re.findall(r"<li>the (?:rule|view) (.*?)</li>", listed[1])) if listed else set()

    reader.page("/feeds")
    of_feed = {"Of the feed", "By title", "By number"}
    assert named(reader.post("/feeds/bulk", feed=feed["id"], action="delete").body.decode()) == of_feed
    assert named(reader.page(f"/categories/{below}/delete")) == {"Below", "By path"}
    everything = of_feed | {"Of the category", "Below", "By path", "Weathers"}
    assert named(reader.page(f"/categories/{category}/delete")) == everything


def test_filters_are_shown_next_to_rules(alice: Person, reader: Visitor, site: Publisher) -> None:
    feed = alice.has_feed(site, block_filter_entry_rules="EntryTitle=ad")

    page = reader.page("/rules")

    assert f'href="/feeds/{feed["id"]}/edit#rules"' in page
    assert 'href="/settings/filters"' in page
