"""The routes of the Google Reader API."""

from tidings.greader.endpoints import account, changes, contents, folders, subscriptions

READER_ROUTES = [
    *account.routes.all,
    *account.routes.all,
    *subscriptions.routes.all,
    *folders.routes.all,
    *contents.routes.all,
    *changes.routes.all,
]

__all__ = ["READER_ROUTES"]
