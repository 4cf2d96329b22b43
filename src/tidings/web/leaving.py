"""The page that leads to another site after a form, and signing out, which may end there.

A redirect would not do: browsers apply the policy for forms to where a form redirects to.
"""

from __future__ import annotations

import asyncio

from tidings.web.context import PageResponse, Redirect, RequestContext, signed_out
from tidings.web.language import _


def leaving(title: str, url: str, *, explanation: str = "", headers: dict[str, str] | None = None) -> PageResponse:
    """Return a page that leads to a URL of another site immediately, and has a link to it.

    url: from the operator's settings, or from the provider that they name; "" for a page that leads nowhere.
    """
    values = {"title": title, "leads_to": url, "explanation": explanation or _("If nothing happens, use the link.")}
    # WHATWG HTML, section 4.2.5.3: the header is the same as the pragma directive.
    refresh = {"Refresh": f"0; url={url}"} if url else {}
    return PageResponse("leaving.html", values, headers={**refresh, **(headers or {})}, has_secret=True)


async def sign_out(context: RequestContext, *, everywhere: bool = False) -> Redirect | PageResponse:
    """Sign the user out in this browser, and lead to the provider or the proxy that has signed them in, if one has.

    everywhere: in all other browsers, too.
    """
    accounts, signed_in = context.services.accounts, context.signed_in
    assert signed_in is not None
    url = await accounts.ways.sign_out_url(signed_in.session)
    if everywhere:
        await asyncio.to_thread(accounts.sessions.end_others, context.caller, None, context.origin)
    else:
        await asyncio.to_thread(accounts.sessions.sign_out, signed_in, context.origin)
    redirect = signed_out(context)
    if url is None:
        return redirect
    explanation = (
        _("The service that signed you in comes next, to sign you out there, too. If nothing happens, use the link.")
        if url
        else _("A service in front of Tidings signs you in: sign out there as well.")
    )
    return leaving(_("Signed out"), url, explanation=explanation, headers=redirect.headers)
