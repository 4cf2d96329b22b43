"""What somebody sets for themselves, and what administrators see to."""

from tidings.web.settings import account, api_keys, deliveries, integrations, security

ROUTES = [
    *account.routes.all,
    *security.routes.all,
    *api_keys.routes.all,
    *integrations.routes.all,
    *deliveries.routes.all,
]

__all__ = ["ROUTES"]
