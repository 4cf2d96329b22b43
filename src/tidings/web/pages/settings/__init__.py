"""The settings pages of an account, and the administrator's pages."""

from tidings.deliveries import delivery_pages, integration_pages
from tidings.maintenance import instance_pages
from tidings.web.pages.settings import account, api_keys, api_passwords, apps, security, statistics, users

ROUTES = [
    *account.routes.all,
    *security.routes.all,
    *api_keys.routes.all,
    *apps.routes.all,
    *api_passwords.routes.all,
    *integration_pages.routes.all,
    *delivery_pages.routes.all,
    *users.routes.all,
    *instance_pages.routes.all,
    *statistics.routes.all,
]

__all__ = ["ROUTES"]
