"""The width of the columns of wide windows: dragged, moved with keys, remembered by the device."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from browser.page_checks import findings
from browser.readers import SCREENS, Reader, reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow


@pytest.fixture
def wide(browser: Browser, service: RunningService, alice: Person, site: Publisher) -> Iterator[Reader]:
    alice.has_feed(site, ["One", "Two", "Three"])
    with reading(browser, service, viewport={"width": 1440, "height": 900}) as created:
        created.set_session(alice)
        yield created


def open_list(reader: Reader) -> None:
    reader.go("/unread")
    reader.wait_for_part("columns")


def handle(reader: Reader, name: str) -> Locator:
    return reader.page.get_by_role("separator", name=f"Width of the {name}")


def width(reader: Reader, selector: str) -> float:
    box = reader.page.locator(selector).bounding_box()
    assert box
    return box["width"]


def drag(reader: Reader, name: str, by: int) -> None:
    """Drag a handle by some pixels to the right, and wait until its place is stored."""
    box = handle(reader, name).bounding_box()
    assert box
    x = box["x"] + box["width"] / 2
    reader.page.mouse.move(x, 400)
    reader.page.mouse.down()
    reader.page.mouse.move(x + by / 2, 410)
    reader.page.mouse.move(x + by, 400)
    with reader.page.expect_response("**/view"):
        reader.page.mouse.up()


def test_columns_are_dragged_and_keep_their_width(wide: Reader) -> None:
    open_list(wide)
    assert (width(wide, "#sidebar"), width(wide, "#column")) == (256, 384)

    drag(wide, "sidebar", 60)
    drag(wide, "list", 130)

    for path in ("/unread", wide.page.locator(".row-title a").first.get_attribute("href")):
        assert path
        wide.go(path)
        assert (width(wide, "#sidebar"), width(wide, "#column")) == (320, 512)
        assert width(wide, "#pane") == 1440 - 320 - 512
    open_list(wide)
    assert findings(wide.page, in_the_dark=False) == []
    # Pages without a list have the same sidebar.
    wide.go("/settings")
    assert width(wide, "#sidebar") == 320


def test_a_double_click_gives_a_column_its_usual_width(wide: Reader) -> None:
    open_list(wide)
    drag(wide, "list", -90)
    assert width(wide, "#column") == 288

    handle(wide, "list").dblclick()

    expect(handle(wide, "list")).to_have_attribute("aria-valuenow", "384")
    assert width(wide, "#column") == 384


def test_arrows_move_the_focused_handle_and_no_entry(wide: Reader) -> None:
    open_list(wide)
    focused = handle(wide, "list")
    focused.focus()
    expect(focused).to_have_attribute("aria-valuenow", "384")

    for key, expected in [("ArrowRight", "416"), ("ArrowRight", "448"), ("ArrowLeft", "416"), ("Home", "384")]:
        with wide.page.expect_response("**/view"):
            wide.press(key)
        expect(focused).to_have_attribute("aria-valuenow", expected)
        assert width(wide, "#column") == int(expected)
    for _ in range(5):
        wide.press("ArrowLeft")
    expect(focused).to_have_attribute("aria-valuenow", focused.get_attribute("aria-valuemin") or "")
    expect(wide.page.locator("#pane h1")).to_have_count(0)


def test_from_right_to_left_the_handle_follows_the_pointer(wide: Reader, alice: Person) -> None:
    alice.put(f"/v1/users/{alice.id}", {"language": "ar_SA"}, status=201)
    open_list(wide)
    focused = wide.page.locator(".divider[aria-controls=sidebar]")
    box = focused.bounding_box()
    assert box
    assert abs(box["x"] + box["width"] / 2 - (1440 - 256)) < 3

    wide.page.mouse.move(1440 - 256, 400)
    wide.page.mouse.down()
    wide.page.mouse.move(1440 - 320, 400)
    with wide.page.expect_response("**/view"):
        wide.page.mouse.up()
    assert width(wide, "#sidebar") == 320
    focused.focus()
    wide.press("ArrowLeft")
    expect(focused).to_have_attribute("aria-valuenow", "352")


def test_a_phone_has_no_handles(browser: Browser, service: RunningService, alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    with reading(browser, service, **SCREENS["phone"]) as phone:
        phone.set_session(alice)
        cookie = {"name": "tidings_view", "value": "sidebar_width=384&list_width=640", "url": service.url}
        phone.context.add_cookies([cookie])  # type: ignore[list-item]
        page = phone.go("/unread")
        assert width(phone, "#column") == 390
        # Even where a window that was wide has loaded them.
        phone.wait_for_part("columns")
        expect(page.locator(".divider").first).to_be_hidden()
