"""The routes of the pages. Slices have their own, included here."""

from tidings.archives import archive_pages
from tidings.media import episode_pages, proxy_pages, queue_pages
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

PAGE_ROUTES = [
    *sign_in.routes.all,
    *home.routes.all,
    *entry_lists.routes.all,
    *entry_actions.routes.all,
    *json_endpoints.routes.all,
    *pwa.routes.all,
    *feed_links.routes.all,
    *public_links.routes.all,
    *proxy_pages.routes.all,
    *entry.routes.all,
    *episode_pages.routes.all,
    *queue_pages.routes.all,
    *appearance.routes.all,
    *sidebar.routes.all,
    *settings.ROUTES,
    *subscribe.routes.all,
    *feeds.routes.all,
    *feed_edit.routes.all,
    *categories.routes.all,
    *archive_pages.routes.all,
    *labels.routes.all,
    *welcome.routes.all,
]

__all__ = ["PAGE_ROUTES"]
