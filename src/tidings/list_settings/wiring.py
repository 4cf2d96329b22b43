"""How list settings are joined to the rest: endpoints, the forms of lists, and archives."""

from __future__ import annotations

from tidings.list_settings.archiving import ListSettingArchiver
from tidings.list_settings.list_settings import ListSettings
from tidings.list_settings.services import ListSettingServices
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> ListSettingServices:
    parts.joins.list_settings = ListSettingArchiver()
    return ListSettingServices(ListSettings(parts.database))


SLICE = Slice(build=build, endpoints=("endpoints",), pages=("pages",))
