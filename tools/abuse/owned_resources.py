"""A user who owns a resource of each kind. A marker in all titles shows when a response to another user leaks one."""

from __future__ import annotations

import json
import re
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from abuse.people import Person, person
from abuse.publisher import Publisher
from abuse.service import Service

# The responses to GET of these paths must not change when another user attempts something.
_OWNED = (
    "/v1/me", "/v1/export", "/v1/feeds", "/v1/categories", "/v1/entries", "/v1/api-keys", "/v1/integrations",
    "/v1/webhooks/deliveries",
)  # fmt: skip
# Fields that change without a request of the owner.
_RESTLESS = re.compile(
    r'"(checked_at|next_check_at|last_used_at|last_login_at|etag_header|last_modified_header|changed_at|icon)": ?'
    r'("[^"]*"|null|[{][^}]*[}])|dateCreated>[^<]*'
)


@dataclass
class OwnedResources:
    """owner: the user. mark: part of every title. ids: ids of the resources, by the parameter names of paths."""

    owner: Person
    mark: str
    ids: dict[str, int] = field(default_factory=dict)

    def snapshot(self) -> dict[str, str]:
        """Return the responses that the owner gets, by path, without fields that change by themselves."""
        return {path: _RESTLESS.sub("", self.owner.api("GET", path).text) for path in _OWNED}


def news(mark: str, number: int, publisher: Publisher) -> str:
    """Return a feed with one entry, which has an enclosure."""
    return (
        f'<rss version="2.0"><channel><title>{mark} feed</title><link>{publisher.url("/site")}</link><item>'
        f"<title>{mark} entry {number}</title><link>{publisher.url(f'/article/{number}')}</link><guid>{number}</guid>"
        f"<description>{mark} content</description>"
        f'<enclosure url="{publisher.url("/a.mp3")}" type="audio/mpeg" length="1"/>'
        "</item></channel></rss>"
    )


def create_resources(service: Service, publisher: Publisher, *, with_delivery: bool = True) -> OwnedResources:
    """Create a user with a feed, an entry, an enclosure, a category, an API key and a delivery."""
    mark = f"mark{secrets.token_hex(6)}"
    owner = person(service, mark)
    path = f"/{mark}.xml"
    publisher.serve(path, news(mark, 1, publisher), "application/rss+xml")
    publisher.serve("/hook", b"", "text/plain")
    category = owner.made("POST", "/v1/categories", {"title": f"{mark} category"})["id"]
    key = owner.made("POST", "/v1/api-keys", {"description": f"{mark} key"})["id"]
    owner.made("PUT", "/v1/integrations", {"webhook": {"enabled": True, "url": publisher.url("/hook")}})
    wish = {"feed_url": publisher.url(path), "category_id": category}
    feed = owner.made("POST", "/v1/feeds", wish)["feed_id"]
    entry = owner.made("GET", "/v1/entries")["entries"][0]
    ids = {"category_id": category, "api_key_id": key, "feed_id": feed, "entry_id": entry["id"], "user_id": owner.id}
    ids["enclosure_id"] = entry["enclosures"][0]["id"]
    found = OwnedResources(owner, mark, ids)
    if with_delivery:
        publisher.serve(path, news(mark, 2, publisher), "application/rss+xml")
        owner.api("PUT", f"/v1/feeds/{feed}/refresh")
        ids["delivery_id"] = _delivery(owner)
    return found


def _delivery(owner: Person) -> int:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        listed = owner.made("GET", "/v1/webhooks/deliveries")
        for deliveries in (value for value in listed.values() if isinstance(value, list)):
            # A delivery that has succeeded does not change any more.
            if deliveries and "delivered" in json.dumps(deliveries[0]):
                number: int = deliveries[0]["id"]
                return number
        time.sleep(0.2)
    raise RuntimeError("no delivery was made")


def example(operation: dict[str, Any]) -> bytes | None:
    """Return the example body of the OpenAPI document, or None if the operation has no body."""
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        return json.dumps(content["application/json"].get("example", {})).encode()
    return b'<opml version="2.0"><body/></opml>' if content else None
