"""Client apps: which API each one speaks, and what to enter where.

The page "Connect an app" shows them; docs/clients.md has a row for each and says what was tried.
"""

from __future__ import annotations

from enum import Enum
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from tidings.web.language import N_


class ClientApi(Enum):
    """An API that apps speak. The value is its name, which is not translated."""

    MINIFLUX = "Miniflux"
    GOOGLE_READER = "Google Reader API"
    FEVER = "Fever API"


# Below the base URL.
GOOGLE_READER_PATH: Final = "/api/greader.php"
FEVER_PATH: Final = "/fever/"
_PATHS: Final = {ClientApi.MINIFLUX: "", ClientApi.GOOGLE_READER: GOOGLE_READER_PATH, ClientApi.FEVER: FEVER_PATH}
_BROWSER, _TERMINAL, _E_READER = N_("browser"), N_("terminal"), N_("e-reader")
_PHONE: Final = ("iOS", "macOS")
_DESKTOP: Final = ("Windows", "macOS", "Linux")


class ClientApp(Struct, frozen=True, kw_only=True):
    """An app that reads entries through one of the APIs, and how to set it up."""

    slug: str
    """Stands in the address of the app's page."""
    name: str
    platforms: tuple[str, ...] = ()
    """Names, or messages where a platform has no name."""
    api: ClientApi
    account_type: str = ""
    """What the app calls this API in its list of services; empty for an app without such a list."""
    path: str | None = None
    """What follows the base URL; None for the API's own path."""
    config_file: str = ""
    """Name of the file that sets up an app without forms."""
    config: str = ""
    """The file's text, with the placeholders of `fill_config`."""
    needs_icon_object: bool = False
    """The app fails at a feed whose icon is null. Keys for it get an object with icon_id 0."""
    hint: str = ""
    """A message about this app alone."""

    def address(self, base_url: str) -> str:
        """Return what to enter as the address of the server."""
        return base_url.rstrip("/") + (_PATHS[self.api] if self.path is None else self.path)

    def fill_config(self, base_url: str, username: str, secret: str) -> str:
        """Return the text of the configuration file. secret: a password or a key."""
        parts = urlsplit(base_url)
        return self.config.format(
            address=self.address(base_url), scheme=parts.scheme, host=parts.netloc, username=username, secret=secret
        )


_MINIFLUX, _READER, _FEVER = ClientApi.MINIFLUX, ClientApi.GOOGLE_READER, ClientApi.FEVER
_NEWSBOAT: Final = """\
urls-source "miniflux"
miniflux-url "{address}"
miniflux-token "{secret}"
"""
_ELFEED: Final = """\
(setq elfeed-protocol-feeds
      '(("fever+{scheme}://{username}@{host}"
         :api-url "{address}"
         :password "{secret}")))
"""

APPS: Final = (
    ClientApp(slug="capy-reader", name="Capy Reader", platforms=("Android",), api=_MINIFLUX, account_type="Miniflux"),
    ClientApp(
        slug="elfeed-protocol",
        name="elfeed-protocol",
        platforms=("Emacs",),
        api=_FEVER,
        config_file="~/.emacs.d/init.el",
        config=_ELFEED,
    ),
    ClientApp(
        slug="feedflow", name="FeedFlow", platforms=("Android", "iOS", *_DESKTOP), api=_READER, account_type="FreshRSS"
    ),
    ClientApp(slug="feedme", name="FeedMe", platforms=("Android",), api=_READER, account_type="FreshRSS"),
    ClientApp(slug="fiery-feeds", name="Fiery Feeds", platforms=_PHONE, api=_FEVER, account_type="Fever"),
    ClientApp(slug="fluent-reader", name="Fluent Reader", platforms=_DESKTOP, api=_MINIFLUX, account_type="Miniflux"),
    ClientApp(slug="flux-news", name="Flux News", platforms=("Android", *_PHONE), api=_MINIFLUX),
    ClientApp(slug="focusreader", name="FocusReader", platforms=("Android",), api=_READER, account_type="FreshRSS"),
    ClientApp(slug="koreader", name="KOReader (miniflux.koplugin)", platforms=(_E_READER,), api=_MINIFLUX),
    ClientApp(
        slug="liferea",
        name="Liferea",
        platforms=("Linux",),
        api=_READER,
        account_type="Google Reader API",
        path="",
    ),
    ClientApp(slug="lire", name="lire", platforms=_PHONE, api=_READER, account_type="FreshRSS"),
    ClientApp(slug="miniflutt", name="miniflutt", platforms=("Android",), api=_MINIFLUX),
    ClientApp(slug="miniflux-companion", name="Miniflux Companion", platforms=(_BROWSER,), api=_MINIFLUX),
    ClientApp(slug="miniflux-tui-py", name="miniflux-tui-py", platforms=(_TERMINAL,), api=_MINIFLUX),
    ClientApp(slug="netnewswire", name="NetNewsWire", platforms=_PHONE, api=_READER, account_type="FreshRSS"),
    ClientApp(
        slug="news-plus", name="News+", platforms=("Android",), api=_READER, account_type="Google Reader", path=""
    ),
    ClientApp(
        slug="newsboat",
        name="newsboat",
        platforms=(_TERMINAL,),
        api=_MINIFLUX,
        config_file="~/.newsboat/config",
        config=_NEWSBOAT,
        hint=N_(
            "Older versions, such as that of Debian 12, do not know miniflux-token: give them miniflux-login with your "
            "username and miniflux-password with the password of your account."
        ),
    ),
    ClientApp(slug="newsflash", name="NewsFlash", platforms=("Linux",), api=_MINIFLUX, account_type="Miniflux"),
    ClientApp(slug="nextflux", name="nextflux", platforms=(_BROWSER,), api=_MINIFLUX),
    ClientApp(slug="reactflux", name="ReactFlux", platforms=(_BROWSER,), api=_MINIFLUX, needs_icon_object=True),
    ClientApp(slug="read-you", name="Read You", platforms=("Android",), api=_READER, account_type="FreshRSS"),
    ClientApp(slug="readkit", name="ReadKit", platforms=_PHONE, api=_READER, account_type="FreshRSS"),
    ClientApp(slug="readrops", name="Readrops", platforms=("Android",), api=_READER, account_type="FreshRSS"),
    ClientApp(slug="reeder", name="Reeder Classic", platforms=_PHONE, api=_READER, account_type="FreshRSS"),
    ClientApp(
        slug="rss-guard",
        name="RSS Guard",
        platforms=_DESKTOP,
        api=_READER,
        account_type="FreshRSS",
        path="",
        hint=N_("The app adds api/greader.php to the address by itself."),
    ),
    ClientApp(
        slug="twine",
        name="Twine",
        platforms=("Android", *_PHONE),
        api=_MINIFLUX,
        account_type="Miniflux",
        needs_icon_object=True,
    ),
    ClientApp(slug="unread", name="Unread", platforms=_PHONE, api=_READER, account_type="FreshRSS"),
    ClientApp(slug="vienna", name="Vienna", platforms=("macOS",), api=_READER, account_type="FreshRSS", path=""),
)
# For apps that are not in the list: one for each API.
OTHERS: Final = (
    ClientApp(slug="miniflux", name="Miniflux", api=_MINIFLUX, account_type="Miniflux"),
    ClientApp(slug="google-reader", name="Google Reader API", api=_READER, account_type="FreshRSS"),
    ClientApp(slug="fever", name="Fever API", api=_FEVER, account_type="Fever"),
)
BY_SLUG: Final = {app.slug: app for app in (*APPS, *OTHERS)}
