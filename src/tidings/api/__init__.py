"""The REST API: a request becomes a call, a result an answer."""

from tidings.api import (
    api_keys,
    articles,
    categories,
    deliveries,
    discovery,
    enclosures,
    entries,
    entry_changes,
    feeds,
    icons,
    integrations,
    opml,
    reference,
    users,
    version,
)

ROUTES = [
    *users.routes.all,
    *api_keys.routes.all,
    *integrations.routes.all,
    *deliveries.routes.all,
    *categories.routes.all,
    *discovery.routes.all,
    *feeds.routes.all,
    *icons.routes.all,
    *entries.routes.all,
    *entry_changes.routes.all,
    *articles.routes.all,
    *enclosures.routes.all,
    *opml.routes.all,
    *version.routes.all,
    *reference.routes.all,
]

__all__ = ["ROUTES"]
