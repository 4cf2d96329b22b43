"""The settings pages of an account, and the administrator's pages."""

from tidings.web.pages.settings import (
    account,
    api_keys,
    api_passwords,
    apps,
    filters,
    security,
    shortcuts,
    statistics,
    users,
)

ROUTES = [
    *account.routes.all,
    *filters.routes.all,
    *security.routes.all,
    *shortcuts.routes.all,
    *api_keys.routes.all,
    *apps.routes.all,
    *api_passwords.routes.all,
    *users.routes.all,
    *statistics.routes.all,
]

__all__ = ["ROUTES"]
