"""The Wayback Machine of archive.org keeps what a page looked like on a day.

API: https://docs.google.com/document/d/1Nsv52MvSjbLb2PCpHlat0gkzw0EvtSgpKHu4mk0MnrA (Save Page Now 2)
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import complaint, link, post_form, taken
from tidings.domain.integrations.fields import ServiceSettings, flag, line, secret
from tidings.domain.integrations.leaf import Refused, Steps

NAME = "archive"
TITLE = "archive.org"
SAVES = True
NOTIFIES = False


class Settings(ServiceSettings, frozen=True, kw_only=True):
    access_key: Annotated[str, line("S3 access key", "From https://archive.org/account/s3.php.", needed=True)] = ""
    secret_key: Annotated[str, secret("S3 secret key", "Stands beside the access key.")] = ""
    outlinks: Annotated[bool, flag("Keep the pages that it links to as well")] = False


def deliver(settings: Settings, event: Event) -> Steps:
    fields = {"url": link(event).url, "skip_first_archive": "1"}
    if settings.outlinks:
        fields["capture_outlinks"] = "1"
    keys = {"Authorization": f"LOW {settings.access_key}:{settings.secret_key}"}
    answer = yield post_form("https://web.archive.org/save", fields, keys)
    taken(answer, TITLE)
    if complaint(answer, "status") == "error":
        raise Refused(f"{TITLE} has not kept it, and says: {complaint(answer, 'message', 'status_ext')}.")
