"""Chapters and transcripts of episodes: pages, and parts of the article that scripts take from them."""

from __future__ import annotations

import asyncio
from typing import Any

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.media.episode_parts import EpisodePart
from tidings.media.services import MediaServices
from tidings.net.errors import FetchError
from tidings.web.articles.content import article_html
from tidings.web.context import PageResponse, RequestContext
from tidings.web.language import _
from tidings.web.message_translation import translated

routes = Routes()


@routes.get("/enclosures/{enclosure_id}/chapters")
async def show_chapters(caller: User, media: MediaServices, enclosure_id: int) -> PageResponse:
    """Show the chapters that a file of an episode has, or why there are none."""
    part = await asyncio.to_thread(media.episode_parts.find, caller.id, enclosure_id)
    try:
        return _page(part, _("Chapters"), chapters=await media.episode_parts.chapters(part))
    except (FetchError, InvalidInput) as error:
        return _page(part, _("Chapters"), error=error)


@routes.get("/enclosures/{enclosure_id}/transcript")
async def show_transcript(
    context: RequestContext, caller: User, media: MediaServices, enclosure_id: int
) -> PageResponse:
    """Show the transcript of an episode, or why there is none."""
    part = await asyncio.to_thread(media.episode_parts.find, caller.id, enclosure_id)
    try:
        transcript = await media.episode_parts.transcript(part)
    except (FetchError, InvalidInput) as error:
        return _page(part, _("Transcript"), error=error)
    content = await asyncio.to_thread(article_html, context, transcript.html) if transcript.html else ""
    text = " ".join(line.text for line in transcript.lines)
    return _page(part, _("Transcript"), lines=transcript.lines, text=text, content=content)


def _page(part: EpisodePart, title: str, error: FetchError | InvalidInput | None = None, **shown: Any) -> PageResponse:
    values: dict[str, Any] = {
        "chapters": (),
        "lines": (),
        "text": "",
        "content": "",
        "explanation": translated(error.text) if error else "",
    }
    values |= {"title": title, "part": part, "entry": part.entry} | shown
    # Not 502: reverse proxies replace the bodies of such responses.
    return PageResponse("media/episode_part.html", values, 404 if error else 200, headers={"Cache-Control": "no-store"})
