"""The routes of the core's pages; `wiring.routes` adds those of slices."""

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
    page_feed,
    public_links,
    pwa,
    query_help,
    settings,
    sidebar,
    sign_in,
    subscribe,
    welcome,
)

CORE_PAGE_ROUTES = [
    *sign_in.routes.all,
    *home.routes.all,
    *entry_lists.routes.all,
    *query_help.routes.all,
    *entry_actions.routes.all,
    *json_endpoints.routes.all,
    *pwa.routes.all,
    *feed_links.routes.all,
    *public_links.routes.all,
    *entry.routes.all,
    *appearance.routes.all,
    *sidebar.routes.all,
    *settings.ROUTES,
    *subscribe.routes.all,
    *page_feed.routes.all,
    *feeds.routes.all,
    *feed_edit.routes.all,
    *categories.routes.all,
    *labels.routes.all,
    *welcome.routes.all,
]

__all__ = ["CORE_PAGE_ROUTES"]
