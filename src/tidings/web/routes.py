"""The routes of the pages. Slices have their own, included here."""

from tidings.archives import pages as imports
from tidings.media import episode_pages as episode_parts
from tidings.media import pages as media
from tidings.media import queue_pages as queue
from tidings.web.pages import (
    appearance,
    categories,
    entry,
    entry_actions,
    entry_lists,
    feed_edit,
    feed_links,
    feeds,
    home,
    json_endpoints,
    labels,
    public_links,
    pwa,
    settings,
    sidebar,
    sign_in,
    subscribe,
    welcome,
)

ROUTES = [
    *sign_in.routes.all,
    *home.routes.all,
    *entry_lists.routes.all,
    *entry_actions.routes.all,
    *json_endpoints.routes.all,
    *pwa.routes.all,
    *feed_links.routes.all,
    *public_links.routes.all,
    *media.routes.all,
    *entry.routes.all,
    *episode_parts.routes.all,
    *queue.routes.all,
    *appearance.routes.all,
    *sidebar.routes.all,
    *settings.ROUTES,
    *subscribe.routes.all,
    *feeds.routes.all,
    *feed_edit.routes.all,
    *categories.routes.all,
    *imports.routes.all,
    *labels.ROUTES,
    *welcome.routes.all,
]

__all__ = ["ROUTES"]
