"""The settings pages of an account, and the administrator's pages."""

from tidings.deliveries import integration_pages as integrations
from tidings.deliveries import pages as deliveries
from tidings.maintenance import pages as instance
from tidings.web.pages.settings import account, api_keys, api_passwords, apps, security, statistics, users

ROUTES = [
    *account.routes.all,
    *security.routes.all,
    *api_keys.routes.all,
    *apps.routes.all,
    *api_passwords.routes.all,
    *integrations.routes.all,
    *deliveries.routes.all,
    *users.routes.all,
    *instance.routes.all,
    *statistics.routes.all,
]

__all__ = ["ROUTES"]
