"""Unsubscribes from newsletters by a single request (RFC 8058).

The sender names the address, so that it is as untrusted as the letter: the request passes the address guard.
"""

from __future__ import annotations

import asyncio
from typing import Final

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.net.connections import Connections
from tidings.net.errors import FetchTimeout, HttpError
from tidings.net.fetch import FetchSettings, drain
from tidings.net.guard import AddressGuard, Target, parse_target
from tidings.newsletters.model import NewsletterSender
from tidings.newsletters.newsletters import Newsletters

TIMEOUT_S: Final = 15.0
# RFC 8058, section 3.1.
_BODY: Final = b"List-Unsubscribe=One-Click"


class Unsubscriber:
    """A client for one event loop."""

    def __init__(self, newsletters: Newsletters, settings: FetchSettings, *, timeout_s: float = TIMEOUT_S) -> None:
        self._newsletters = newsletters
        self._user_agent = settings.user_agent
        self._timeout_s = timeout_s
        self._connections = Connections(
            AddressGuard(allow_private_networks=settings.allow_private_networks),
            connect_timeout_s=min(settings.connect_timeout_s, timeout_s),
            remember_names_s=settings.remember_names_s,
            keep_alive=False,
        )

    async def close(self) -> None:
        await self._connections.close()

    async def unsubscribe(self, user_id: int, sender_id: int) -> NewsletterSender:
        """Ask a sender to send no more letters, and return the sender when it has accepted that.

        Raises NotFound; InvalidInput if the sender offers no such way, with the way that it offers; and FetchError if
        it cannot be reached or refuses.
        """
        sender = await asyncio.to_thread(self._newsletters.get_sender, user_id, sender_id)
        if not sender.is_one_click:
            raise _no_way(sender)
        target = parse_target(sender.unsubscribe_url)
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._post(target)
        except TimeoutError as error:
            raise FetchTimeout(
                msg("{host} did not respond within {seconds} seconds.", host=target.host, seconds=self._timeout_s),
                url=str(target),
            ) from error
        return await asyncio.to_thread(self._newsletters.record_unsubscription, user_id, sender_id)

    async def _post(self, target: Target) -> None:
        """Send the request, without cookies or credentials. A redirect counts as a refusal: it would be a GET."""
        headers = {"Content-Type": "application/x-www-form-urlencoded", "User-Agent": self._user_agent}
        async with self._connections.exchange("POST", target, headers=headers, body=_BODY) as response:
            if not 200 <= response.status < 300:
                raise HttpError(
                    msg(
                        "{host} refuses to unsubscribe you (status {status}): open its page to unsubscribe.",
                        host=target.host,
                        status=response.status,
                    ),
                    url=str(target),
                    status=response.status,
                )
            await drain(response)


def _no_way(sender: NewsletterSender) -> InvalidInput:
    if sender.unsubscribe_url:
        return InvalidInput(
            msg("This newsletter cannot be left by one request: open {url} to unsubscribe.", url=sender.unsubscribe_url)
        )
    if sender.unsubscribe_mail:
        return InvalidInput(
            msg("This newsletter is left by mail: write to {address}.", address=sender.unsubscribe_mail)
        )
    return InvalidInput(msg("The letters of this sender do not say how to unsubscribe: block the sender instead."))
