"""The Google Reader API, compatible with FreshRSS and Miniflux: for apps that do not know the native API.

Sources: the clients, and docs/clients.md for what was tried.
"""

from tidings.greader.endpoints import account, changes, contents, folders, login, subscriptions

ROUTES = [
    *login.routes.all,
    *account.routes.all,
    *subscriptions.routes.all,
    *folders.routes.all,
    *contents.routes.all,
    *changes.routes.all,
]

__all__ = ["ROUTES"]
