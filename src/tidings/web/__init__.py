"""The pages people read in. How one is made stands in docs/web.md."""

from tidings.web import adding, articles, home, lists, marks, settings, sign_in, view

ROUTES = [
    *sign_in.routes.all,
    *home.routes.all,
    *lists.routes.all,
    *marks.routes.all,
    *articles.routes.all,
    *view.routes.all,
    *settings.ROUTES,
    *adding.routes.all,
]

__all__ = ["ROUTES"]
