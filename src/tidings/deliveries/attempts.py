"""Sends one event to one service: a single attempt, and its outcome."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any
from urllib.parse import unquote

import structlog
from msgspec import MsgspecError, Struct, structs

from tidings.base.errors import InvalidInput, LocalShortage, TidingsError
from tidings.base.messages import Message, msg
from tidings.base.shortages import is_shortage
from tidings.base.times import Instant
from tidings.deliveries.events import MAX_ERROR_LENGTH, MAX_EXCERPT_LENGTH, Event, FailureKind
from tidings.deliveries.provider import DeliveryRefused, Provider
from tidings.deliveries.retries import failure_kind
from tidings.net import responses
from tidings.net.errors import FetchError, TlsError
from tidings.net.guard import parse_target
from tidings.net.post import Sender, ServiceRequest, ServiceResponse
from tidings.services.clock import Clock

log = structlog.get_logger()

# For providers that do not make HTTP requests: called in a thread; raises DeliveryRefused.
ThreadSender = Callable[[Any, Event], None]

# Threads for such calls; with the default threads, calls that hang would delay access to the database.
MAX_CONCURRENT_CALLS = 4

# Redirects of one request that are followed.
MAX_REDIRECTS = 5
_REPEATING = frozenset({307, 308})

# A shorter secret occurs in texts by chance.
_MIN_SECRET_CHARS = 4
_HIDDEN = "***"
_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]+")
_SECRET_HEADERS = re.compile("auth|token|key|secret|cookie|session", re.IGNORECASE)


class DeliveryOutcome(Struct, frozen=True):
    """The outcome of an attempt."""

    status: int = 0
    """Status of the last response, 0 when there was none."""
    error: Message | None = None
    """For the user; None when the event was delivered."""
    response: str = ""
    """The beginning of the last response."""
    retry_after_s: int | None = None
    """How many seconds the service asked to wait, if it did."""
    failure: FailureKind | None = None
    """What failed; None when the event was delivered."""
    disables_integration: bool = False
    """The service asks for no more requests."""

    @property
    def error_text(self) -> str:
        """The error in English."""
        return self.error.english()[:MAX_ERROR_LENGTH] if self.error else ""

    @property
    def is_delivered(self) -> bool:
        return self.error is None


class Transcript:
    """The requests and the last response of an attempt. Makes the excerpt of the response, with secrets hidden."""

    def __init__(self, provider: Provider, settings: Any, receiver: str) -> None:
        self.response = ServiceResponse(0, {})
        secret = (getattr(settings, field.name) for field in provider.fields if field.is_secret or field.is_generated)
        self._secrets = {line.strip() for value in secret for line in str(value).splitlines()}
        self._secrets |= {*_credentials_in(receiver)}

    def add_request(self, outgoing: ServiceRequest) -> None:
        values = (value for name, value in outgoing.headers.items() if _SECRET_HEADERS.search(name))
        # For `Bearer 1234`, both the whole value and `1234`.
        self._secrets |= {part for value in values for part in (value, value.partition(" ")[2])}
        self._secrets |= {*_credentials_in(outgoing.url)}

    def redact(self, text: str) -> str:
        # The longest first, since one may be part of another.
        for secret in sorted(
            (value for value in self._secrets if len(value) >= _MIN_SECRET_CHARS), key=len, reverse=True
        ):
            text = text.replace(secret, _HIDDEN)
        return text

    def outcome(
        self, error: Message | None, failure: FailureKind | None, *, disables_integration: bool, now: Instant
    ) -> DeliveryOutcome:
        retry_after = self.response.headers.get("retry-after", "")
        excerpt = _INVISIBLE.sub(" ", self.redact(self.response.body.decode("utf-8", "replace")))
        return DeliveryOutcome(
            status=self.response.status,
            error=error and error.with_texts(lambda text: _INVISIBLE.sub(" ", self.redact(text))),
            response=excerpt[:MAX_EXCERPT_LENGTH],
            retry_after_s=responses.retry_after_s(retry_after, now) if retry_after else None,
            failure=failure,
            disables_integration=disables_integration,
        )


class EventSender:
    """Makes one attempt to send an event to its receiver.

    thread_senders: by provider name. timeout_s: for all requests of one attempt together.
    """

    def __init__(
        self,
        sender: Sender,
        clock: Clock,
        *,
        thread_senders: Mapping[str, ThreadSender] | None = None,
        timeout_s: float = 10,
    ) -> None:
        self._sender = sender
        self._clock = clock
        self._thread_senders = thread_senders or {}
        self._timeout_s = timeout_s
        self._calls = asyncio.Semaphore(MAX_CONCURRENT_CALLS)
        self._threads = ThreadPoolExecutor(MAX_CONCURRENT_CALLS, thread_name_prefix="caller")

    async def close(self) -> None:
        await self._sender.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._threads = ThreadPoolExecutor(MAX_CONCURRENT_CALLS, thread_name_prefix="caller")

    async def send(self, provider: Provider, settings: str, event: Event) -> DeliveryOutcome:
        """Attempt a delivery and return its outcome. Failures do not raise, except LocalShortage.

        settings: JSON, as stored.
        """
        try:
            parsed = provider.read_settings(settings)
        except MsgspecError:
            return DeliveryOutcome(
                error=msg("The settings of {title} cannot be read: set it up again.", title=provider.title),
                failure=FailureKind.RECEIVER,
            )
        transcript, error, failure = Transcript(provider, parsed, event.receiver), None, None
        disables_integration = False
        try:
            # The timeout starts when a slot is free.
            async with self._slot(provider), asyncio.timeout(self._timeout_s):
                await self._deliver(provider, parsed, event, transcript)
        except TimeoutError:
            error, failure = _timeout_message(provider, self._timeout_s), FailureKind.TIMEOUT
        except DeliveryRefused as refusal:
            error, disables_integration = refusal.text, refusal.disables_integration
            failure = refusal.kind or failure_kind(transcript.response.status)
        except LocalShortage:
            raise
        except FetchError as unreachable:
            # There is no complete response: the connection or its setup failed.
            error, failure = _message(unreachable), FailureKind.RECEIVER
        except TidingsError as problem:
            error, failure = problem.text, FailureKind.EVENT
        except Exception as crash:
            if is_shortage(crash):
                raise LocalShortage from crash
            log.exception("delivery crashed", integration=provider.name, delivery=event.delivery_id)
            error, failure = _crash_message(crash), FailureKind.EVENT
        return transcript.outcome(error, failure, disables_integration=disables_integration, now=self._clock())

    def _slot(self, provider: Provider) -> AbstractAsyncContextManager[None]:
        return self._calls if provider.deliver is None else nullcontext()

    async def _deliver(self, provider: Provider, settings: Any, event: Event, transcript: Transcript) -> None:
        if provider.deliver is None:
            # A call that hangs keeps its thread; the attempt ends at the timeout.
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._threads, self._thread_senders[provider.name], settings, event)
            return
        steps = provider.deliver(settings, event)
        try:
            outgoing = next(steps)
            while True:
                await self._send(outgoing, transcript)
                outgoing = steps.send(transcript.response)
        except StopIteration:
            return

    async def _send(self, outgoing: ServiceRequest, transcript: Transcript) -> None:
        """Send a request, and again where 307 and 308 lead on the same host. The last response is in `transcript`."""
        for _ in range(MAX_REDIRECTS + 1):
            transcript.add_request(outgoing)
            transcript.response = ServiceResponse(0, {})
            transcript.response = await self._sender.send(outgoing)
            url = _redirected_url(transcript.response)
            if not url:
                return
            outgoing = structs.replace(outgoing, url=url)


def _redirected_url(response: ServiceResponse) -> str:
    """Return the URL at which the request has to be repeated; "" if it must not be.

    Source: RFC 9110, section 15.4: only 307 and 308 keep the method and the body. Body and headers go to the same
    host alone, since they have secrets.
    """
    if response.status not in _REPEATING:
        return ""
    try:
        target = parse_target(response.url)
        new = target.follow(response.headers.get("location", ""))
    except InvalidInput:
        return ""
    return str(new) if target.trusts(new) else ""


def _timeout_message(provider: Provider, timeout_s: float) -> Message:
    return msg("{title} did not finish its answer within {seconds} seconds.", title=provider.title, seconds=timeout_s)


def _crash_message(failure: Exception) -> Message:
    return msg("Tidings failed on this delivery ({name}); please report it.", name=type(failure).__name__)


def _message(error: FetchError) -> Message:
    # The text of a TlsError names a setting of feeds, to accept bad certificates, which integrations do not have.
    return error.failure if isinstance(error, TlsError) else error.text


def _credentials_in(url: str) -> Iterable[str]:
    """Yield the credentials of a URL in each form in which a response could repeat them."""
    userinfo = url.partition("://")[2].partition("/")[0].rpartition("@")[0]
    if userinfo:
        for part in (userinfo, userinfo.partition(":")[2]):
            yield from (part, unquote(part))
        yield base64.b64encode(unquote(userinfo).encode()).decode()
