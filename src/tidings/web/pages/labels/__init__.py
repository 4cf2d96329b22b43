"""Pages about labels."""

from tidings.web.pages.labels import entry_form, manage

ROUTES = [*manage.routes.all, *entry_form.routes.all]

__all__ = ["ROUTES"]
