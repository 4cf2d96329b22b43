"""The pages of the reader. docs/web.md explains how a page is added."""

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
    imports,
    json_endpoints,
    labels,
    media,
    public_links,
    pwa,
    settings,
    sidebar,
    sign_in,
    subscribe,
    welcome,
)
from tidings.web.pages.episodes import episode_parts, queue

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
