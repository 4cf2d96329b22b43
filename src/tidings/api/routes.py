"""The routes of the API, in the order in which its reference shows them. Slices have their own, included here."""

from tidings.api import openapi
from tidings.api.endpoints import (
    api_keys,
    api_passwords,
    categories,
    discovery,
    enclosures,
    entries,
    entry_changes,
    feeds,
    fetch_content,
    icons,
    opml,
    users,
    version,
)
from tidings.archives import archive_endpoints
from tidings.deliveries import delivery_endpoints, integration_endpoints

API_ROUTES = [
    *users.routes.all,
    *api_keys.routes.all,
    *api_passwords.routes.all,
    *integration_endpoints.routes.all,
    *delivery_endpoints.routes.all,
    *categories.routes.all,
    *discovery.routes.all,
    *feeds.routes.all,
    *icons.routes.all,
    *entries.routes.all,
    *entry_changes.routes.all,
    *fetch_content.routes.all,
    *enclosures.routes.all,
    *opml.routes.all,
    *archive_endpoints.routes.all,
    *version.routes.all,
    *openapi.routes.all,
]

__all__ = ["API_ROUTES"]
