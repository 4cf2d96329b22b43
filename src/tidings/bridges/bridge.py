"""One service that fetches for Tidings: its address, which may be private, and its failures as errors that name it.

The operator's setting says where it is, or a user's own. Only what begins with the operator's address is trusted, and
only for the first request: a redirect is guarded as always, and so is the bridge of a user. The user and the password
of the address are added when a request is sent, so that nothing that is stored or shown with feeds has them.
"""

from __future__ import annotations

import structlog
from msgspec import Struct
from msgspec.structs import replace

from tidings.base.messages import Message, msg
from tidings.domain.feeds.own_bridges import address_prefix
from tidings.net.errors import AddressRefused, FetchError, FetchTimeout, HttpError, NetworkError, TlsError
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse
from tidings.net.guard import parse_target

log = structlog.get_logger()


class BridgeDown(NetworkError):
    """A bridge does not answer, which says nothing about the site behind it."""

    code = "bridge-down"

    def __init__(self, bridge: Bridge, problem: Message, *, url: str) -> None:
        template = msg("{bridge}, which this server uses for this, does not answer: the site was not asked. {problem}")
        if bridge.is_own:
            template = msg("{bridge}, which you have set up, does not answer: the site was not asked. {problem}")
        super().__init__(template.with_values(bridge=bridge.name, problem=problem), url=url)


class BridgeBusy(NetworkError):
    """A bridge that does one thing at a time is busy with other sites."""

    code = "bridge-busy"

    def __init__(self, bridge: str, *, url: str) -> None:
        super().__init__(msg("{bridge} is busy with other sites. Try again later.", bridge=bridge), url=url)


class Bridge(Struct, frozen=True):
    """A service at an address that the operator has set, or a user."""

    name: str
    """As its makers write it."""
    address: str
    """The setting: without a final slash, possibly with a user and a password."""
    user_id: int = 0
    """The user whose own it is; 0: the operator's."""

    def __repr__(self) -> str:
        """Leaves out the password."""
        return f"Bridge({self.name})"

    @property
    def is_own(self) -> bool:
        """Whether a user has set it up: then it is guarded as any other host."""
        return self.user_id != 0

    @property
    def prefix(self) -> str:
        """What the URLs of the bridge begin with; it ends with a slash and has no password."""
        return address_prefix(self.address)

    def has(self, url: str) -> bool:
        """Return whether a URL is the bridge's, as it was written or as it was asked for."""
        return url.startswith((self.prefix, str(parse_target(self.prefix))))

    async def get(self, request: FetchRequest, fetcher: Fetcher, rest: str) -> FetchResponse:
        """Return what the bridge has at its own address followed by `rest`, for a request that names it otherwise.

        Only what makes the request conditional and its limits are passed on: the cookie, the password and the proxy of
        a feed are meant for publishers. The URL of the response is the request's, unless the bridge redirects.
        Raises BridgeDown, an HttpError that names the bridge, and FetchError.
        """
        own = self.prefix + rest
        sent = FetchRequest(
            url=f"{self.address}/{rest}",
            etag=request.etag,
            last_modified=request.last_modified,
            ignore_cache=request.ignore_cache,
            accept=request.accept,
            max_body_size=request.max_body_size,
            timeout_s=request.timeout_s,
        )
        try:
            response = await fetcher.get(sent, trusts_host=not self.is_own)
        except FetchError as error:
            raise self.named(error, own) from error
        is_here = self.has(response.url)
        # Whoever has set up a bridge moves it; a redirect of it does not.
        return replace(response, url=request.url if is_here else response.url, permanent_url=None)

    async def get_directly(self, request: FetchRequest, fetcher: Fetcher, hint: Message) -> FetchResponse:
        """Return what is at an address of the bridge, as of any other host, which a private bridge is not.

        hint: what to do instead, for the error of a private one.
        """
        try:
            return await fetcher.get(request)
        except AddressRefused as error:
            if not self.has(error.url):
                raise
            raise AddressRefused(
                msg("{bridge} is in a private network. {hint}", bridge=self.name, hint=hint), url=error.url
            ) from error

    def named(self, error: FetchError, url: str) -> FetchError:
        """Return the error of a request to the bridge with its name; an error of another host as it is.

        url: what was asked for, for errors that have to do with the bridge alone.
        """
        if not self.has(error.url):
            return error
        if isinstance(error, AddressRefused):
            return self._refused(error)
        if isinstance(error, NetworkError | FetchTimeout | TlsError):
            if not self.is_own:
                log.warning("bridge does not answer", bridge=self.name, reason=error.message)
            return BridgeDown(self, error.text, url=url)
        if isinstance(error, HttpError):
            return HttpError(
                msg(
                    "{bridge} answers with status {status} instead of a feed: it cannot read the site, or does not "
                    "know this address.",
                    bridge=self.name,
                    status=error.status,
                ),
                url=error.url,
                status=error.status,
                retry_after_s=error.retry_after_s,
                fresh_s=error.fresh_s,
            )
        return error

    def _refused(self, error: AddressRefused) -> AddressRefused:
        """Return the error of a bridge that may not be asked itself, which can only be a user's own."""
        if not self.is_own:
            return error
        problem = msg(
            "{bridge}, which you have set up, cannot be used. {problem}", bridge=self.name, problem=error.text
        )
        return AddressRefused(problem, url=error.url)
