"""Endpoints that fetch articles: the full content of an entry, and a page to save."""

from __future__ import annotations

from msgspec import Struct
from starlette.responses import Response

from tidings.api.schema_annotations import Required
from tidings.base.errors import InvalidInput, NotFound
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import shown_minutes
from tidings.http.binding import Query
from tidings.http.endpoints import Routes
from tidings.http.responses import json
from tidings.net.errors import FetchError
from tidings.services import Services

routes = Routes("Entries")


class ArticleQuery(Query, frozen=True):
    """update_content: true stores the article as the content of the entry."""

    update_content: bool | None = None


class ArticleOut(Struct, frozen=True):
    """content: cleaned HTML. reading_time: minutes."""

    content: str
    reading_time: int


class PageToSave(Struct, frozen=True):
    """url: of a web page."""

    url: Required[str] = None


class PageSaved(Struct, frozen=True):
    """id: of the entry."""

    id: int


@routes.post(
    "/v1/saved-pages",
    scope=KeyScope.WRITE,
    raises=(InvalidInput, FetchError),
    responses={200: PageSaved, 201: PageSaved},
)
async def save_page(caller: User, services: Services, body: PageToSave) -> Response:
    """Save the article of a web page that is in no feed, as an unread and starred entry of the feed "Saved pages".

    Returns 200 if the page was saved before.
    """
    entry_id, is_new = await services.entries.saved_pages.save(caller, body.url or "")
    return json(PageSaved(entry_id), 201 if is_new else 200)


@routes.get("/v1/entries/{entry_id}/fetch-content", scope=KeyScope.WRITE, raises=(InvalidInput, NotFound, FetchError))
async def fetch_content(caller: User, services: Services, entry_id: int, query: ArticleQuery) -> ArticleOut:
    """Fetch the page of an entry and return the article on it, or the stored content if none is found."""
    fetched = await services.entries.articles.fetch(caller, entry_id, store=bool(query.update_content))
    return ArticleOut(content=fetched.content, reading_time=shown_minutes(fetched.reading_time, caller))
