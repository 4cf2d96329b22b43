"""The endpoint that fetches the full content of an entry."""

from __future__ import annotations

from msgspec import Struct

from tidings.domain.accounts.users import User
from tidings.domain.entries.reading_time import shown_minutes
from tidings.domain.errors import FetchError, InvalidInput, NotFound
from tidings.http.endpoints import Routes
from tidings.http.queries import Query
from tidings.services import Services

routes = Routes("Entries")


class ArticleQuery(Query, frozen=True):
    """update_content: true stores the article as the content of the entry."""

    update_content: bool | None = None


class ArticleOut(Struct, frozen=True):
    """content: cleaned HTML. reading_time: minutes."""

    content: str
    reading_time: int


@routes.get("/v1/entries/{entry_id}/fetch-content", raises=(InvalidInput, NotFound, FetchError))
async def fetch_content(caller: User, services: Services, entry_id: int, query: ArticleQuery) -> ArticleOut:
    """Fetch the page of an entry and return the article on it, or the stored content if none is found."""
    fetched = await services.articles.fetch(caller, entry_id, store=bool(query.update_content))
    return ArticleOut(content=fetched.content, reading_time=shown_minutes(fetched.reading_time, caller))
