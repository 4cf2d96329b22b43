"""Labels: given by typing and by dragging, renamed in place, and put in order."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from browser.page_checks import findings, sticking_out
from browser.readers import SCREENS, TIMEOUT_MS, Reader, reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow

expect.set_options(timeout=TIMEOUT_MS)


def names(person: Person) -> list[str]:
    return [label["title"] for label in person.get("/v1/labels")]


def test_typing_finds_a_label_and_enter_gives_it(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["One"])
    (entry,) = alice.entries()
    for name in ("Rainy", "Élan", "Later"):
        alice.service.services.entries.labels.create(alice.id, name)
    page = reader.go(f"/unread/{entry['id']}")
    reader.wait_for_part("labels")
    page.locator("#pane [popovertarget=entry-labels]").click()
    field = page.get_by_label("Find or add a label")
    field.fill("ela")
    expect(page.locator("#entry-labels label.check:visible")).to_have_text(["Élan"])
    expect(page.locator("#label-note")).to_have_text("Enter adds Élan.")
    with page.expect_response("**/labels"):
        field.press("Enter")
    # Not in the menu, which the answer closes.
    expect(page.locator("#article .labels").get_by_text("Élan")).to_be_visible()

    page.locator("#pane [popovertarget=entry-labels]").click()
    field.fill("Brand new")
    expect(page.locator("#label-note")).to_have_text("Enter creates the label Brand new.")
    with page.expect_response("**/labels"):
        field.press("Enter")
    expect(page.locator("#article .labels").get_by_text("Brand new")).to_be_visible()
    assert sorted(names(alice)) == ["Brand new", "Later", "Rainy", "Élan"]


@pytest.mark.parametrize("screen", SCREENS)
def test_labels_and_categories_have_a_line_each_and_are_renamed_in_it(
    browser: Browser, service: RunningService, alice: Person, screen: str
) -> None:
    for name in ("Bread", "Later", "Work"):
        alice.service.services.entries.labels.create(alice.id, name, "teal")
        alice.has_category(f"{name} of categories")
    with reading(browser, service, **SCREENS[screen]) as reader:
        reader.set_session(alice)
        page, field = reader.page, reader.page.locator("#name")
        for path, label in (("/labels", "Name"), ("/categories", "Title")):
            reader.go(path)
            reader.wait_for_part("lines")
            for line in page.locator(".categories > li").all():
                box = line.bounding_box()
                assert box
                assert box["height"] < 64
            assert findings(page, in_the_dark=False) == []
            assert sticking_out(page) == []
            field = page.locator(".categories > li").nth(1).get_by_label(label)
            before = field.input_value()
            field.fill("Forgotten")
            field.press("Escape")
            expect(field).to_have_value(before)
            field.fill(f"Renamed {label}")
            field.press("Enter")
            reader.wait_for_text("Saved.")
            expect(page.locator("#sidebar").get_by_text(f"Renamed {label}")).to_have_count(1)
            field = page.get_by_label(label).and_(page.locator(f"[value='Renamed {label}']"))
            expect(field).to_be_focused()
        # What is refused is told at its line, and stays typed. Browsers log such an answer.
        reader.loses_connection = True
        field.fill("Work")
        field.press("Enter")
        expect(page.locator(".categories .error")).to_contain_text("Work")
        expect(page.locator(".categories [aria-invalid=true]")).to_have_value("Work")
        expect(page.locator(".categories [aria-invalid=true]")).to_be_focused()
    assert names(alice) == ["Bread", "Renamed Name", "Work"]


def test_labels_are_dragged_into_their_order(browser: Browser, service: RunningService, alice: Person) -> None:
    for name in ("Bread", "Later", "Work"):
        alice.service.services.entries.labels.create(alice.id, name)
    with reading(browser, service, **SCREENS["wide"]) as reader:
        reader.set_session(alice)
        page = reader.go("/labels")
        reader.wait_for_part("lines")
        lines = page.locator("#labels > li")
        with page.expect_response("**/move"):
            lines.nth(2).locator(".handle").drag_to(lines.nth(0), target_position={"x": 40, "y": 4})
        expect(page.locator("#own-labels .name")).to_have_text(["Work", "Bread", "Later"])
        # By keyboard; the button keeps the focus.
        down = page.locator("#labels").get_by_title("Move down").first
        down.press("Enter")
        expect(page.locator("#own-labels .name")).to_have_text(["Bread", "Work", "Later"])
        expect(page.locator("#labels > li").nth(1).get_by_title("Move down")).to_be_focused()
    assert names(alice) == ["Bread", "Work", "Later"]


def test_an_entry_gets_the_label_that_it_is_dropped_on(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, items=["Rain"])
    (entry,) = alice.entries()
    for name in ("Work", "Later"):
        alice.service.services.entries.labels.create(alice.id, name)
    alice.service.services.entries.labels.change(alice.id, [entry["id"]], add=["Later"])
    with reading(browser, service, **SCREENS["wide"]) as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        row = page.locator(".row", has_text="Rain")
        # A short drag would be over before its script is there, which a first one loads.
        row.get_by_role("link").first.dispatch_event("dragstart")
        reader.wait_for_part("drag")
        row.get_by_role("link").first.drag_to(page.locator("#own-labels a.line", has_text="Work"))
        reader.wait_for_text("Label Work added.")
        expect(row.locator(".row-label", has_text="Work")).to_be_visible()
    (entry,) = alice.entries()
    assert sorted(label["title"] for label in alice.get(f"/v1/entries/{entry['id']}")["labels"]) == ["Later", "Work"]


def test_a_new_label_has_a_colour_of_its_own_unless_another_is_chosen(
    reader: Reader, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, items=["One"])
    (entry,) = alice.entries()
    alice.service.services.entries.labels.create(alice.id, "Work", "red")
    page = reader.go(f"/unread/{entry['id']}")
    reader.wait_for_part("labels")

    def type_name(name: str) -> None:
        page.locator("#pane [popovertarget=entry-labels]").click()
        page.get_by_label("Find or add a label").fill(name)

    colours = page.get_by_role("group", name="Colour of a new label")
    type_name("wor")
    expect(colours).to_be_hidden()
    page.get_by_label("Find or add a label").fill("Later")
    expect(colours.get_by_role("radio", name="Orange")).to_be_checked()
    assert findings(page, in_the_dark=False) == []
    with page.expect_response("**/labels"):
        page.get_by_label("Find or add a label").press("Enter")
    expect(page.locator("#article .labels [data-color=orange]")).to_have_text("Later")

    type_name("Bread")
    colours.get_by_title("Teal").click()
    with page.expect_response("**/labels"):
        page.get_by_label("Find or add a label").press("Enter")
    expect(page.locator("#article .labels [data-color=teal]")).to_have_text("Bread")
    reader.go("/labels")
    expect(page.locator("form.new select")).to_have_value("yellow")


def test_a_click_gives_a_label_at_once(reader: Reader, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["One"])
    (entry,) = alice.entries()
    for name in ("Work", "Later"):
        alice.service.services.entries.labels.create(alice.id, name)
    page = reader.go(f"/unread/{entry['id']}")
    reader.wait_for_part("labels")
    given = page.locator("#article .labels li")
    page.locator("#pane [popovertarget=entry-labels]").click()
    page.locator("#entry-labels").get_by_text("Work").click()
    expect(given).to_have_text(["Work"])
    expect(page.locator("#entry-labels")).to_be_hidden()
    page.locator("#pane [popovertarget=entry-labels]").click()
    page.locator("#entry-labels").get_by_role("checkbox", name="Work").click()
    expect(given).to_have_count(0)


def test_labels_are_given_with_keys_alone(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, items=["Rain", "Snow"])
    for name in ("Bread", "Later", "Work"):
        alice.service.services.entries.labels.create(alice.id, name)
    with reading(browser, service, **SCREENS["wide"]) as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        reader.press("j")
        expect(page.locator("#pane h1")).to_have_text("Rain")
        reader.press("l")
        field = page.locator("#entry-labels").get_by_label("Find or add a label")
        expect(field).to_be_focused()
        # Several, with Space; Enter sends them.
        for _ in range(2):
            page.keyboard.press("Tab")
            expect(page.locator("#entry-labels :focus-visible")).to_have_count(1)
            page.keyboard.press("Space")
        page.keyboard.press("Enter")
        expect(page.locator("#article .labels li")).to_have_text(["Bread", "Later"])
        # The keys go on from there.
        reader.press("j")
        expect(page.locator("#pane h1")).to_have_text("Snow")

    alice.put("/v1/entries", {"entry_ids": [one["id"] for one in alice.entries()], "status": "unread"})
    with reading(browser, service, viewport={"width": 800, "height": 800}) as reader:
        reader.set_session(alice)
        # Of a row, where the list stands alone.
        page = reader.go("/unread")
        reader.press("j", "j", "l")
        dialog = page.locator("dialog.held")
        expect(dialog.get_by_label("Find or add a label")).to_be_focused()
        # At the foot only where the thumb is.
        box = dialog.bounding_box()
        assert box
        assert box["width"] < 420
        assert box["y"] + box["height"] < 700
        assert findings(page) == []
        page.keyboard.type("wor")
        page.keyboard.press("Enter")
        expect(page.locator(".row-label", has_text="Work")).to_be_visible()
        expect(page.locator(".row", has_text="Work").get_by_role("link")).to_be_focused()


class Finger:
    """A finger on the screen, which the browser's protocol moves."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)

    def send(self, kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y} for x, y in points]
        self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})


def centre(target: Locator) -> tuple[float, float]:
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_long_touch_on_a_row_gives_labels(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, items=["Rain", "Snow"])
    for name in ("Work", "Later"):
        alice.service.services.entries.labels.create(alice.id, name)
    with reading(browser, service, **SCREENS["phone"]) as reader:
        reader.set_session(alice)
        page = reader.go("/unread")
        reader.wait_for_part("touch")
        row = page.locator(".row", has_text="Snow")
        finger = Finger(page)
        finger.send("touchStart", centre(row.locator(".row-title")))
        expect(page.locator("dialog.held")).to_be_visible()
        finger.send("touchEnd")
        expect(page.locator("dialog.held")).to_contain_text("Snow")
        assert findings(page) == []
        assert sticking_out(page) == []
        # Two touches in all.
        page.locator("dialog.held").get_by_text("Work").tap()
        reader.wait_for_text("Labels saved.")
        expect(row.locator(".row-label")).to_have_text("Work")
        # The article was not opened, and a short touch opens it.
        assert page.url.endswith("/unread")

        finger.send("touchStart", centre(row.locator(".row-title")))
        page.locator("dialog.held").get_by_role("button", name="Mark above as read").press("Enter")
        finger.send("touchEnd")
        reader.wait_for_text("marked read")
        expect(page.locator(".row.unread .row-title")).to_have_text(["Snow"])
    assert alice.entries(status="unread")[0]["title"] == "Snow"


def test_labels_are_dragged_into_their_order_with_a_finger(
    browser: Browser, service: RunningService, alice: Person
) -> None:
    for name in ("Bread", "Later", "Work"):
        alice.service.services.entries.labels.create(alice.id, name)
    with reading(browser, service, **SCREENS["phone"]) as reader:
        reader.set_session(alice)
        page = reader.go("/labels")
        reader.wait_for_part("lines")
        lines = page.locator("#labels > li")
        x, y = centre(lines.nth(2).locator(".handle"))
        top = lines.nth(0).bounding_box()
        assert top
        finger = Finger(page)
        finger.send("touchStart", (x, y))
        finger.send("touchMove", (x, (y + top["y"]) / 2))
        finger.send("touchMove", (x, top["y"] + 3))
        with page.expect_response("**/move"):
            finger.send("touchEnd")
        expect(lines.nth(0).get_by_label("Name")).to_have_value("Work")
    assert names(alice) == ["Work", "Bread", "Later"]
