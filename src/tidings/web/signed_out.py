"""What a browser gets whose own session has ended."""

from __future__ import annotations

from tidings.web import cookies
from tidings.web.context import Redirect, RequestContext
from tidings.web.language import _


def signed_out(context: RequestContext) -> Redirect:
    """Remove the cookies of the session, and the stored pages, which the Back button would show."""
    context.set_cookie(cookies.SESSION, "", lasts_s=0)
    context.set_cookie(cookies.SHARED, "", lasts_s=0)
    return Redirect("/sign-in", notice=_("You are signed out."), headers={"Clear-Site-Data": '"cache"'})
