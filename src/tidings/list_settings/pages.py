"""The forms with which a list is given an order and a layout of its own, in the menu at its head."""

from __future__ import annotations

from tidings.base.errors import NotFound
from tidings.base.messages import verbatim
from tidings.http.endpoints import Routes
from tidings.list_settings.services import ListSettingServices
from tidings.web.context import Redirect, RequestContext
from tidings.web.list_page import DisplayForm

routes = Routes()


@routes.post("/unread/display")
def change_unread(context: RequestContext, services: ListSettingServices, form: DisplayForm) -> Redirect:
    return _change(context, services, form, "/unread", "unread")


@routes.post("/starred/display")
def change_starred(context: RequestContext, services: ListSettingServices, form: DisplayForm) -> Redirect:
    return _change(context, services, form, "/starred", "starred")


@routes.post("/history/display")
def change_history(context: RequestContext, services: ListSettingServices, form: DisplayForm) -> Redirect:
    return _change(context, services, form, "/history", "history")


@routes.post("/shared/display")
def change_shared(context: RequestContext, services: ListSettingServices, form: DisplayForm) -> Redirect:
    return _change(context, services, form, "/shared", "shared")


@routes.post("/feeds/{feed_id}/display")
def change_feed(context: RequestContext, services: ListSettingServices, form: DisplayForm, feed_id: int) -> Redirect:
    if context.sidebar.feed(feed_id) is None:
        raise NotFound(verbatim(f"There is no feed {feed_id}."))
    return _change(context, services, form, f"/feeds/{feed_id}", f"f{feed_id}")


@routes.post("/categories/{category_id}/display")
def change_category(
    context: RequestContext, services: ListSettingServices, form: DisplayForm, category_id: int
) -> Redirect:
    if context.sidebar.category(category_id) is None:
        raise NotFound(verbatim(f"There is no category {category_id}."))
    return _change(context, services, form, f"/categories/{category_id}", f"c{category_id}")


@routes.post("/labels/{label_id}/display")
def change_label(context: RequestContext, services: ListSettingServices, form: DisplayForm, label_id: int) -> Redirect:
    if all(label.id != label_id for label in context.sidebar.labels):
        raise NotFound(verbatim(f"There is no label {label_id}."))
    return _change(context, services, form, f"/labels/{label_id}", f"l{label_id}")


def _change(
    context: RequestContext, services: ListSettingServices, form: DisplayForm, path: str, name: str
) -> Redirect:
    services.list_settings.change(context.caller.id, name, form.values)
    return Redirect(form.first_page or path)
