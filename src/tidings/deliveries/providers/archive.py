"""The Wayback Machine of archive.org stores copies of web pages.

API: https://docs.google.com/document/d/1Nsv52MvSjbLb2PCpHlat0gkzw0EvtSgpKHu4mk0MnrA (Save Page Now 2)
"""

from __future__ import annotations

from typing import Annotated

from tidings.base.messages import msg
from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import DeliveryRefused, RequestSequence, ServiceSettings, flag, line, secret
from tidings.deliveries.requests import entry_with_url, error_text, expect_success, post_form

NAME = "archive"
TITLE = "archive.org"
EVENTS = frozenset({SAVE_ENTRY})


class Settings(ServiceSettings, frozen=True, kw_only=True):
    access_key: Annotated[str, line("S3 access key", "From https://archive.org/account/s3.php.", required=True)] = ""
    secret_key: Annotated[str, secret("S3 secret key", "Shown next to the access key.")] = ""
    outlinks: Annotated[bool, flag("Also keep the pages that it links to")] = False


def deliver(settings: Settings, event: Event) -> RequestSequence:
    fields = {"url": entry_with_url(event).url, "skip_first_archive": "1"}
    if settings.outlinks:
        fields["capture_outlinks"] = "1"
    keys = {"Authorization": f"LOW {settings.access_key}:{settings.secret_key}"}
    response = yield post_form("https://web.archive.org/save", fields, keys)
    expect_success(response, TITLE)
    if error_text(response, "status") == "error":
        raise DeliveryRefused(
            msg(
                "{title} did not save it, and says: {complaint}.",
                title=TITLE,
                complaint=error_text(response, "message", "status_ext"),
            )
        )
