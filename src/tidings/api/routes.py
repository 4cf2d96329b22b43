"""The API routes of the core, in the order in which the reference shows them; `wiring.routes` adds those of slices."""

from tidings.api import openapi
from tidings.api.endpoints import (
    api_keys,
    api_passwords,
    categories,
    discovery,
    enclosures,
    entries,
    entry_changes,
    feed_health,
    feed_rules,
    feeds,
    fetch_content,
    icons,
    labels,
    list_links,
    opml,
    queries,
    read_marks,
    share_links,
    statistics,
    users,
    version,
)

CORE_API_ROUTES = [
    *users.routes.all,
    *api_keys.routes.all,
    *api_passwords.routes.all,
    *categories.routes.all,
    *discovery.routes.all,
    *feeds.routes.all,
    *feed_health.routes.all,
    *feed_rules.routes.all,
    *icons.routes.all,
    *labels.routes.all,
    *entries.routes.all,
    *entry_changes.routes.all,
    *read_marks.routes.all,
    *fetch_content.routes.all,
    *share_links.routes.all,
    *list_links.routes.all,
    *statistics.routes.all,
    *queries.routes.all,
    *enclosures.routes.all,
    *opml.routes.all,
    *version.routes.all,
    *openapi.routes.all,
]

__all__ = ["CORE_API_ROUTES"]
