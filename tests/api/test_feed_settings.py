"""The settings of a feed are declared once; whatever spells them out agrees with the declaration."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest

import tidings.web
from tidings.api.endpoints.feeds import FeedFields, FeedOut, FeedUpdate
from tidings.domain.feeds.feed_settings import FEED_SETTINGS, FeedSetting, SettingType
from tidings.domain.feeds.feeds import Feed
from tidings.storage.schema import feeds
from tidings.web.pages import feed_edit

TYPES = {
    SettingType.TEXT: str,
    SettingType.RULE: str,
    SettingType.SWITCH: bool,
    SettingType.NUMBER: int,
    SettingType.DAYS: int,
}
# Where a feed lives and who it is; nothing of it is a setting.
NOT_SETTINGS = {"category_id", "category"}
every_setting = pytest.mark.parametrize("setting", FEED_SETTINGS, ids=lambda one: one.name)


@every_setting
def test_a_setting_has_its_type_in_the_record_the_table_and_the_api(setting: FeedSetting) -> None:
    expected = TYPES[setting.type]
    for shape in (Feed, FeedOut, FeedUpdate):
        assert expected in _types(get_type_hints(shape, include_extras=True)[setting.name]), shape
    assert feeds.c[setting.name].type.python_type is expected


@every_setting
def test_a_setting_has_a_field_in_the_form(setting: FeedSetting) -> None:
    if setting.type is SettingType.SWITCH:
        assert setting.name in {name for section in feed_edit.SWITCH_LABELS.values() for name, _label, _help in section}
        return
    template = (Path(tidings.web.__file__).parent / "templates/feed_edit.html").read_text()

    assert re.search(rf'fields\.(line|area)\("{setting.name}"', template)


def test_the_api_takes_no_setting_that_is_not_declared() -> None:
    declared = {one.name for one in FEED_SETTINGS}

    assert {*FeedUpdate.__struct_fields__} - NOT_SETTINGS == declared
    # A new feed takes these from its publisher.
    assert declared - {*FeedFields.__struct_fields__} == {"title", "site_url", "description"}


def _types(hint: Any) -> set[Any]:
    """The types in a union, without annotations."""
    if get_origin(hint) is Annotated:
        return _types(get_args(hint)[0])
    parts = get_args(hint)
    return set().union(*map(_types, parts)) if parts else {hint}
