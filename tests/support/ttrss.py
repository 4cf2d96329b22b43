"""A server that speaks the JSON API of Tiny Tiny RSS."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from support.publisher import Answer, ReceivedRequest, Reply, Wire

PAGE = 200
SESSION = "s3ssion"


class Ttrss(Reply):
    """The API of Tiny Tiny RSS. articles: by number of their feed. before_page: called with the number of a request."""

    def __init__(self, **content: Any) -> None:
        self.categories: list[dict[str, Any]] = content.get("categories", [])
        self.feeds: list[dict[str, Any]] = content.get("feeds", [])
        self.labels: list[dict[str, Any]] = content.get("labels", [])
        self.articles: dict[int, list[dict[str, Any]]] = content.get("articles", {})
        self.api_level = content.get("api_level", 23)
        self.error = ""
        self.failing_operation = ""
        self.operations: list[str] = []
        self.before_page: Callable[[int], None] = lambda _skip: None

    async def send(self, wire: Wire, seen: ReceivedRequest) -> bool:
        request = seen.json()
        self.operations.append(request["op"])
        try:
            status, content = 0, self._answer(request)
        except PermissionError as error:
            status, content = 1, {"error": str(error)}
        return await Answer(json.dumps({"seq": 0, "status": status, "content": content})).send(wire, seen)

    def _answer(self, request: dict[str, Any]) -> Any:
        operation = request["op"]
        if operation == self.failing_operation:
            raise PermissionError(self.error)
        if operation == "login":
            if (request["user"], request["password"]) != ("ann", "pässword"):
                raise PermissionError("LOGIN_ERROR")
            return {"session_id": SESSION, "api_level": self.api_level, "config": {"num_feeds": len(self.feeds)}}
        if request["sid"] != SESSION:
            raise PermissionError("NOT_LOGGED_IN")
        match operation:
            case "getCategories":
                return [*self.categories, {"id": -1, "title": "Special"}, {"id": 0, "title": "Uncategorized"}]
            case "getFeedTree":
                return {"categories": {"identifier": "id", "label": "name", "items": self._below(None)}}
            case "getFeeds":
                assert request["cat_id"] == -3
                return self.feeds
            case "getLabels":
                return self.labels
            case "getHeadlines":
                return self._headlines(request)
        return {"status": "OK"}

    def _below(self, parent: int | None) -> list[dict[str, Any]]:
        """Return what is below a category, None for the top, as the tree has it: feeds after categories."""
        special = [{"id": "CAT:-1", "items": [{"id": "FEED:-4", "bare_id": -4, "auxcounter": 0}], "bare_id": -1}]
        inside = [
            {
                "id": f"CAT:{one['id']}",
                "bare_id": one["id"],
                "type": "category",
                "name": one["title"],
                "items": self._below(int(one["id"])),
            }
            for one in self.categories
            if one.get("parent") == parent
        ]
        feeds = [{"id": f"FEED:{one['id']}", "bare_id": one["id"]} for one in self.feeds if one["cat_id"] == parent]
        return [*([] if parent else special), *inside, *feeds]

    def _headlines(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        assert request["order_by"] == "title"
        assert request["show_content"]
        assert request["include_attachments"]
        if request["limit"] == PAGE:
            self.before_page(request["skip"])
        articles = sorted(self.articles.get(request["feed_id"], []), key=lambda article: str(article["title"]))
        return articles[request["skip"] :][: min(PAGE, request["limit"])]
