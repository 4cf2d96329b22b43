"""The settings of a feed are declared once; what does not derive from the declarations agrees with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tidings.web
from support.people import Person, rss
from support.publisher import Publisher
from tidings.api.endpoints.feeds import FeedFields, FeedUpdate
from tidings.domain.feeds.feed_changes import WAYS
from tidings.domain.feeds.feed_settings import DESCRIPTION, FEED_SETTINGS, SWITCHES, TEXTS
from tidings.domain.feeds.opml_settings import WRITTEN
from tidings.web.pages import feed_edit

# Built from rows of conditions; `tests/web/pages/test_feed_edit.py` changes them in the form.
FILTERS = {name for name, _ in feed_edit.FILTER_SETTINGS.values()}
# The category of a feed is not a setting.
NOT_SETTINGS = {"category_id", "category_ids", "category"}
API_DOCS = Path(tidings.web.__file__).parents[3] / "docs/api.md"


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_has_a_label_in_the_form(name: str) -> None:
    assert name in {name for section in feed_edit.SWITCH_LABELS.values() for name, _label, _help in section}


@pytest.mark.parametrize("name", sorted({*TEXTS, *(one.name for one in FEED_SETTINGS)} - {*SWITCHES, *FILTERS}))
def test_a_text_or_number_has_a_field_in_the_form(name: str) -> None:
    template = (Path(tidings.web.__file__).parent / "templates/feed_edit.html").read_text()

    assert re.search(rf'fields\.(line|area)\("{name}"', template)


def test_the_api_takes_no_setting_that_is_not_declared() -> None:
    declared = {one.name for one in FEED_SETTINGS}

    assert {*FeedUpdate.__struct_fields__} - NOT_SETTINGS == declared | {*DESCRIPTION}
    # A new feed takes the rest from its publisher.
    assert {*FeedFields.__struct_fields__} - NOT_SETTINGS == declared | {"feed_url"}


@pytest.mark.parametrize("other_way", WAYS)
def test_a_switch_is_stored_and_written_to_opml(alice: Person, site: Publisher, other_way: str) -> None:
    """Every switch that is declared works in the API, with no line of code for itself."""
    on = {name: name != other_way for name in SWITCHES}
    feed = alice.has_feed(site)

    changed = alice.put(f"/v1/feeds/{feed['id']}", on, status=201)

    assert {name: changed[name] for name in SWITCHES} == on
    opml = alice.call("GET", "/v1/export").body.decode()
    assert [name for name in SWITCHES if f'{WRITTEN[name]}="true"' not in opml] == [other_way]


def test_a_feed_is_fetched_in_one_way(alice: Person, site: Publisher) -> None:
    both = dict.fromkeys(WAYS, True)
    url = site.serve("/other.xml", rss(["a"], "http://x.test"))
    feed = alice.has_feed(site)

    for answer in (
        alice.call("POST", "/v1/feeds", {"feed_url": url, **both}),
        alice.call("PUT", f"/v1/feeds/{feed['id']}", both),
        alice.call("POST", "/v1/discover", {"url": url, **both}),
    ):
        assert answer.status == 400
        assert "not both" in answer.json()["error_message"]
    assert site.requests_for("/other.xml") == []


def test_every_attribute_of_our_own_namespace_is_documented() -> None:
    text = API_DOCS.read_text()

    assert [one.name for one in FEED_SETTINGS if one.setting.is_own and f"`{one.setting.opml}`" not in text] == []
