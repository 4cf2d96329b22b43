"""The page that leads to another site after a form.

A redirect would not do: browsers apply the policy for forms to where a form redirects to.
"""

from __future__ import annotations

from tidings.web.context import PageResponse
from tidings.web.language import _


def leaving(title: str, url: str, *, explanation: str = "", headers: dict[str, str] | None = None) -> PageResponse:
    """Return a page that leads to a URL of another site immediately, and has a link to it.

    url: from the operator's settings, or from the provider that they name; "" for a page that leads nowhere.
    """
    values = {"title": title, "leads_to": url, "explanation": explanation or _("If nothing happens, use the link.")}
    # WHATWG HTML, section 4.2.5.3: the header is the same as the pragma directive.
    refresh = {"Refresh": f"0; url={url}"} if url else {}
    return PageResponse("leaving.html", values, headers={**refresh, **(headers or {})}, has_secret=True)
