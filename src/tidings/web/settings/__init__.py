"""What somebody sets for themselves, and what administrators see to."""

from tidings.web.settings import account

ROUTES = [
    *account.routes.all,
]

__all__ = ["ROUTES"]
