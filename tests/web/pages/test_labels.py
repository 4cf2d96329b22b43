"""Labels on the pages: given on the page of an entry, listed, changed, ordered and deleted."""

from __future__ import annotations

import html
import re

import pytest

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.storage.entries import labels
from tidings.web.sidebar import MAX_LABELS


def ids_by_name(person: Person) -> dict[str, int]:
    with person.service.services.reading() as db:
        return {label.name: label.id for label in labels.list_all(db, person.id)}


def names_of(person: Person, entry_id: int) -> list[str]:
    with person.service.services.reading() as db:
        return [label.name for label in labels.of_entries(db, person.id, [entry_id]).get(entry_id, ())]


def entry_ids(person: Person) -> dict[str, int]:
    return {entry["title"]: entry["id"] for entry in person.entries()}


@pytest.mark.slow
def test_an_entry_gets_new_and_known_labels_and_loses_them(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two"])
    one = entry_ids(alice)["One"]
    page = reader.page(f"/unread/{one}")
    assert 'id="entry-labels"' in page
    assert 'name="label"' not in page

    page = reader.follow(reader.post(f"/entries/{one}/labels", new="  To <read> ", back=f"/unread/{one}"))
    assert "To &lt;read&gt;</bdi></a>" in page
    assert "Labels saved." in page
    reader.post(f"/entries/{one}/labels", new="Work", label=str(ids_by_name(alice)["To <read>"]))
    assert names_of(alice, one) == ["To <read>", "Work"]

    known = ids_by_name(alice)
    page = reader.page(f"/labels/{known['Work']}/entries/{one}")
    assert f'name="label" value="{known["Work"]}" checked' in page
    reader.post(f"/entries/{one}/labels", label=str(known["To <read>"]), back=f"/labels/{known['Work']}/entries/{one}")
    assert names_of(alice, one) == ["To <read>"]
    # The page stays what it was, in the list that the entry has left.
    assert "To &lt;read&gt;" in reader.page(f"/labels/{known['Work']}/entries/{one}")
    reader.post(f"/entries/{one}/labels")
    assert names_of(alice, one) == []
    assert sorted(ids_by_name(alice)) == ["To <read>", "Work"]


def test_a_label_that_an_entry_cannot_get_says_why(
    reader: Visitor, alice: Person, bob: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["One"])
    (one,) = entry_ids(alice).values()
    theirs = bob.service.services.entries.labels.create(bob.id, "Bob's")
    reader.page(f"/unread/{one}")

    for name, message in (("all", "You have a category called"), ("x" * 201, "This label is too long")):
        assert message in reader.follow(reader.post(f"/entries/{one}/labels", new=name))
    reader.post(f"/entries/{one}/labels", label=str(theirs.id))
    assert names_of(alice, one) == []
    assert reader.post(f"/entries/{one}/labels", label="x").status == 400


def test_a_list_of_a_label_has_its_entries_page_by_page(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, [f"Entry {number}" for number in range(5)])
    ids = entry_ids(alice)
    services = alice.service.services
    services.entries.labels.change(alice.id, [ids[f"Entry {number}"] for number in range(4)], add=["Work"])
    services.accounts.users.update(alice.user, alice.id, {"entries_per_page": 3})
    alice.put("/v1/entries", {"entry_ids": [ids["Entry 1"]], "status": "read"})
    path = f"/labels/{ids_by_name(alice)['Work']}"

    first = reader.page(path)
    following = reader.page(html.unescape(re.findall(r'rel="next" href="([^"]+)"', first)[0]))
    shown = [[title for title in sorted(ids) if f">{title}<" in page] for page in (first, following)]
    assert [len(titles) for titles in shown] == [3, 1]
    assert sorted(shown[0] + shown[1]) == ["Entry 0", "Entry 1", "Entry 2", "Entry 3"]
    assert f'href="{path}" aria-current="page"' in first

    assert "3 marked read" in reader.follow(reader.post(f"{path}/mark-read"))
    assert [entry["title"] for entry in alice.entries(status="unread")] == ["Entry 4"]


def test_a_label_without_entries_says_how_entries_get_it(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    label = alice.service.services.entries.labels.create(alice.id, "Work")

    assert "No entry has this label." in reader.page(f"/labels/{label.id}")


def test_labels_are_created_renamed_and_deleted(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two"])
    reader.get("/labels")
    assert "Work created." in reader.follow(reader.post("/labels/add", name=" Work "))
    number = ids_by_name(alice)["Work"]
    alice.service.services.entries.labels.change(alice.id, list(entry_ids(alice).values()), add=["Work"])

    page = reader.follow(reader.post(f"/labels/{number}/edit", name="<Evening>"))
    assert 'value="&lt;Evening&gt;"' in page
    assert "2 entries" in page
    assert "2 entries will lose it, but are kept." in reader.page(f"/labels/{number}/delete")
    assert "&lt;Evening&gt; deleted." in reader.follow(reader.post(f"/labels/{number}/delete"))
    assert ids_by_name(alice) == {}
    assert len(alice.entries()) == 2


def test_a_label_has_its_colour_wherever_its_name_is(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One"])
    (one,) = entry_ids(alice).values()
    reader.get("/labels")
    reader.post("/labels/add", name="Work", color="green")
    number = ids_by_name(alice)["Work"]
    reader.post(f"/entries/{one}/labels", label=str(number))

    page = reader.page(f"/unread/{one}")
    # In the sidebar, in the row of the entry next to the list, in the entry, in its menu, and as one for a new label.
    assert page.count('data-color="green"') == 5
    assert f'<a class="line" href="/labels/{number}" data-color="green">' in page
    assert '<span class="row-label" data-color="green">' in page
    # A list of a label does not repeat it in each row.
    assert "row-label" not in reader.page(f"/labels/{number}")

    assert '<option value="green" selected>Green</option>' in reader.page("/labels")
    reader.post(f"/labels/{number}/edit", name="Work", color="")
    # Only as one for a new label.
    assert reader.page(f"/unread/{one}").count('data-color="green"') == 1
    answer = reader.post(f"/labels/{number}/edit", name="Work", color="#ff0000")
    assert answer.status == 400
    assert "is not one of the colours" in answer.body.decode()


def test_labels_are_moved_up_and_down(reader: Visitor, alice: Person) -> None:
    for name in ("Alpha", "Beta", "Gamma"):
        alice.service.services.entries.labels.create(alice.id, name)
    number = ids_by_name(alice)["Gamma"]

    def buttons() -> list[tuple[str, str, str]]:
        """Return name, place and state of the buttons of the last label."""
        form = reader.page("/labels" if answer is None else answer.headers["location"])
        form = form.partition(f'action="/labels/{number}/move"')[2].partition("</form>")[0]
        return re.findall(r'name="(up|down)" value="(\d)"(?: (disabled|autofocus))?', form)

    answer = None
    assert buttons() == [("up", "2", ""), ("down", "4", "disabled")]
    answer = reader.post(f"/labels/{number}/move", up="2")
    assert list(ids_by_name(alice)) == ["Alpha", "Gamma", "Beta"]
    # The same button can be pressed again; at the end of the list, the other one.
    assert buttons() == [("up", "1", "autofocus"), ("down", "3", "")]
    answer = reader.post(f"/labels/{number}/move", up="1")
    page = reader.page("/labels")
    assert re.findall(r'<span class="name" dir="auto">(Alpha|Beta|Gamma)<', page) == ["Gamma", "Alpha", "Beta"]
    assert buttons() == [("up", "0", "disabled"), ("down", "2", "autofocus")]
    assert reader.post(f"/labels/{number}/move", up="0").status == 400
    answer = reader.post(f"/labels/{number}/move", down="2")
    assert buttons() == [("up", "1", ""), ("down", "3", "autofocus")]
    assert list(ids_by_name(alice)) == ["Alpha", "Gamma", "Beta"]


def test_a_row_names_two_labels_and_counts_the_rest(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One"])
    alice.service.services.entries.labels.change(alice.id, list(entry_ids(alice).values()), add=list("ABCDE"))

    rows = reader.page("/unread").partition('<ol class="rows">')[2]

    assert re.findall(r'class="row-label"[^>]*>(?:<svg.*?</svg><span[^>]*>)?([^<]+)<', rows) == ["A", "B", "+3"]


def test_what_uses_a_label_is_named_before_it_is_deleted(reader: Visitor, alice: Person, bob: Person) -> None:
    made = {name: alice.post("/v1/labels", {"title": name})["id"] for name in ("Work", "Home")}
    views = {"By name": "rain label:work", "By beginning": "-label:wo*", "By id": f"L:{made['Work']}"}
    for name, query in (views | {"Of any": "label:*", "Of home": "label:home", "Of words": "work"}).items():
        alice.post("/v1/views", {"name": name, "query": query})
    giving = {"name": "Giver", "query": "rain", "actions": [{"type": "label", "label_id": made["Work"]}]}
    alice.post("/v1/rules", giving)
    alice.post("/v1/rules", {"name": "Star <b>", "query": "label:work", "actions": [{"type": "star"}]})
    alice.post("/v1/rules", {"name": "Else", "query": "snow", "actions": [{"type": "star"}]})
    bob.post("/v1/views", {"name": "Bob's", "query": "label:work"})
    reader.sign_in()

    page = reader.page(f"/labels/{made['Work']}/delete")

    assert re.findall(r"<li>(the [^<]*)</li>", page) == [
        *(f"the view {name}" for name in views),
        "the rule Giver",
        "the rule Star &lt;b&gt;",
    ]
    alice.delete(f"/v1/views/{alice.get('/v1/views')[-2]['id']}")
    assert "the view Of home" not in reader.page(f"/labels/{made['Home']}/delete")


@pytest.mark.parametrize(
    ("name", "message"), [("other", "already have a label"), ("all", "have a category"), (" ", "needs a name")]
)
def test_an_invalid_name_is_reported_next_to_its_field(reader: Visitor, alice: Person, name: str, message: str) -> None:
    services = alice.service.services
    first, _ = services.entries.labels.create(alice.id, "First"), services.entries.labels.create(alice.id, "Other")
    reader.get("/labels")

    for path in ("/labels/add", f"/labels/{first.id}/edit"):
        answer = reader.post(path, name=name)
        assert answer.status == 400
        assert message in answer.body.decode()
        assert f'value="{name}"' in answer.body.decode()
    assert sorted(ids_by_name(alice)) == ["First", "Other"]


def test_a_sidebar_lists_the_first_labels_and_the_current_one(reader: Visitor, alice: Person) -> None:
    services = alice.service.services
    made = [services.entries.labels.create(alice.id, f"Label {number:03}") for number in range(MAX_LABELS + 5)]

    page = reader.page(f"/labels/{made[-1].id}")

    assert f'href="/labels/{made[0].id}"' in page
    assert f'href="/labels/{made[-1].id}" aria-current="page"' in page
    assert f'href="/labels/{made[-2].id}"' not in page
    assert "All labels" in page


def test_a_label_is_added_to_those_that_an_entry_has(
    reader: Visitor, alice: Person, bob: Person, site: Publisher
) -> None:
    """As a script does when an entry is dropped on a label of the sidebar."""
    alice.has_feed(site, ["One"])
    (one,) = entry_ids(alice).values()
    alice.service.services.entries.labels.change(alice.id, [one], add=["Work", "Later"])
    later = alice.service.services.entries.labels.create(alice.id, "Third")
    theirs = bob.service.services.entries.labels.create(bob.id, "Bob's")
    reader.page("/unread")

    assert "Label Third added." in reader.follow(reader.post(f"/entries/{one}/labels", add=later.id, back="/unread"))
    assert sorted(names_of(alice, one)) == ["Later", "Third", "Work"]
    assert reader.post(f"/entries/{one}/labels", add=theirs.id).status == 404
    assert sorted(names_of(alice, one)) == ["Later", "Third", "Work"]
