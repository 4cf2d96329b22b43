"""/metrics: numbers for Prometheus, for those who may see them. Beside /v1, and with access of its own."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import MutableMapping, Sequence
from typing import Any

from msgspec import Struct

from tidings import metrics
from tidings.api import replies
from tidings.api.credentials import credentials_of
from tidings.domain.errors import StoreUnavailable, Unauthorized
from tidings.http.replies import Reply, Send, respond
from tidings.http.requests import Network, Receive, Request, is_within
from tidings.services.status import Status, gauges

_NOT_HERE = replies.failure(404, "There is nothing at this address.")
_NOT_YOU = replies.failure(403, "Your network may not read this: see TIDINGS_METRICS_ALLOWED_NETWORKS.")
_WHO_ARE_YOU = replies.failure(401, "This asks for the user name and password of the metrics.", replies.CHALLENGE)
_LOOK_ONLY = replies.failure(405, "This address takes GET and HEAD only.", (("Allow", "GET, HEAD"),))


class Access(Struct, frozen=True):
    """Who may read. networks: of visitors. trusted: proxies who may say who a visitor is.

    username, password: asked for as soon as one of them is set.
    """

    networks: Sequence[Network] = ()
    trusted: Sequence[Network] = ()
    username: str = ""
    password: str = ""

    def refusal(self, request: Request) -> Reply | None:
        """None for whoever may read."""
        if not is_within(request.address(self.trusted), self.networks):
            return _NOT_YOU
        if (self.username or self.password) and not self._knows_password(request):
            return _WHO_ARE_YOU
        return None

    def _knows_password(self, request: Request) -> bool:
        try:
            given = credentials_of(request, self.trusted)
        except Unauthorized:
            return False
        # Both are compared whatever the first comes to: the time it takes tells nothing.
        same_name = hmac.compare_digest((given.username or "").encode(), self.username.encode())
        same_password = hmac.compare_digest((given.password or "").encode(), self.password.encode())
        return same_name and same_password


class Metrics:
    """access: None when nobody may read, as if there were nothing here."""

    def __init__(self, status: Status, access: Access | None) -> None:
        self._status = status
        self._access = access

    async def __call__(self, scope: MutableMapping[str, Any], _receive: Receive, send: Send) -> None:
        request = Request(scope, "/metrics")
        await respond(send, await self._answer(request), head=request.method == "HEAD")

    async def _answer(self, request: Request) -> Reply:
        if self._access is None or not metrics.is_on():
            return _NOT_HERE
        if refusal := self._access.refusal(request):
            return refusal
        if request.method not in ("GET", "HEAD"):
            return _LOOK_ONLY
        return await asyncio.to_thread(self._exposition)

    def _exposition(self) -> Reply:
        try:
            now = gauges(self._status.recent()) | {"tidings_up": ("1 while the database answers.", 1.0)}
        except StoreUnavailable:
            # What was counted is worth most when something is wrong.
            now = {"tidings_up": ("1 while the database answers.", 0.0)}
        body, media_type = metrics.exposition(now)
        return Reply(200, body, media_type)
