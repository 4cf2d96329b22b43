"""Every setting, declared once: its type, default, allowed values and help text."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from platformdirs import user_data_path

from tidings import HOMEPAGE, __version__
from tidings.domain.entries.retention import MAX_DAYS, NEVER
from tidings.domain.polling.check_times import Scheduler
from tidings.media.policy import MediaKind, MediaProxyMode
from tidings.settings import values
from tidings.settings.option import PREFIX, Option, option
from tidings.settings.values import (
    ByteCount,
    DatabaseEngine,
    ImapUrl,
    ListenAddress,
    LogFormat,
    LogLevel,
    Network,
    OAuth2Provider,
    WebSubMode,
)

MAX_DEFAULT_WEB_WORKERS = 4
MAX_DEFAULT_WORKERS = 2
SMALL_MACHINE_CORES = 2


def _cores() -> int:
    """Return the number of CPU cores this process may use, often fewer in a container than the machine has."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


def _default_web_workers() -> int:
    """Return the default of `web_workers`, of which all but the first run only while they are needed."""
    return min(_cores(), MAX_DEFAULT_WEB_WORKERS)


def _default_workers(database_url: str) -> int:
    """Return the default of `worker_processes`.

    One more on PostgreSQL, which uses a core while another worker waits for the server; not on a small machine, for
    the sake of memory. SQLite has one writer at a time, so that the additional worker would wait for the others.
    """
    cores = _cores()
    has_one_more = cores > SMALL_MACHINE_CORES and values.engine_of(database_url) is DatabaseEngine.POSTGRESQL
    return min(cores, MAX_DEFAULT_WORKERS) + has_one_more


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    data_dir: Path = option(
        values.data_folder,
        "Folder of the data that Tidings keeps on this machine, such as the SQLite database. It is created if it does"
        " not exist.",
        allowed="a path; ~ is your home folder",
        default="the user data folder of the system, on Linux ~/.local/share/tidings",
        derive=lambda _: str(user_data_path("tidings", appauthor=False)),
    )
    database_url: str = option(
        values.database_url,
        "The database. SQLite needs no server; PostgreSQL can be shared by several machines.",
        allowed="sqlite:///path/to/file or postgresql://user:password@host:port/database (or postgres://)",
        default="the SQLite file tidings.db in TIDINGS_DATA_DIR",
        derive=lambda known: f"sqlite:///{known['data_dir'] / 'tidings.db'}",
        mask=values.mask_password,
    )
    database_max_conns: int = option(
        values.integer(1, 1000),
        "Largest number of PostgreSQL connections per process. Each web worker and each worker is a process; keep the"
        " sum below max_connections of the server.",
        allowed="a whole number from 1 to 1000",
        default="10",
    )
    database_wait: timedelta = option(
        values.seconds(0, 3600),
        "Seconds that serve, web and worker wait at the start for a PostgreSQL server that does not respond yet.",
        allowed="a whole number from 0 to 3600",
        default="60",
    )
    listen_addr: ListenAddress = option(
        values.listen_address,
        "Address and port to listen on. Without a host, Tidings listens on every address of the machine.",
        allowed="host:port, [IPv6 address]:port or :port, with a port from 1 to 65535",
        default="127.0.0.1:8080",
    )
    listen_socket: Path | None = option(
        values.folder,
        "Unix socket to listen on instead of TIDINGS_LISTEN_ADDR, for a reverse proxy on the same machine. Its folder"
        " must exist, and users of the machine who may enter it may connect.",
        allowed="a path; ~ is your home folder",
    )
    tls_certificate: Path | None = option(
        values.folder,
        "File with the certificate (PEM, followed by its issuers' certificates) for serving https without a reverse"
        " proxy. SIGHUP has it read again after it is renewed.",
        allowed="a path; ~ is your home folder",
    )
    tls_key: Path | None = option(
        values.folder,
        "File with the private key of TIDINGS_TLS_CERTIFICATE (PEM, without a password).",
        allowed="a path; ~ is your home folder",
    )
    base_url: str = option(
        values.base_url,
        "The address under which users reach Tidings. Set it behind a reverse proxy; it may end in a path.",
        allowed="a URL like https://reader.example.org or https://example.org/reader",
        default="http:// (https:// with TIDINGS_TLS_CERTIFICATE) followed by TIDINGS_LISTEN_ADDR",
        derive=lambda known: (
            f"{'https' if known['tls_certificate'] else 'http'}://{known['listen_addr'].reachable_locally()}"
        ),
    )
    trusted_reverse_proxy_networks: tuple[Network, ...] = option(
        values.network_list,
        "Proxies whose X-Forwarded-For header gives the address of the client. The header is ignored from other"
        " addresses.",
        allowed="addresses and networks like 192.0.2.7 or 10.0.0.0/8, separated by commas, or none",
        default="127.0.0.0/8,::1",
    )
    web_workers: int = option(
        values.integer(1, 64),
        "Number of processes that serve HTTP requests. By default there is one, and others run while requests wait.",
        allowed="a whole number from 1 to 64",
        default="as many as are needed, up to the number of CPU cores, but not more than 4",
        derive=lambda _: str(_default_web_workers()),
    )
    admin_username: str = option(
        values.username,
        "Name of the administrator that the first start with an empty database creates.",
        allowed="letters, digits and _ - @ .",
        default="admin",
        has_file_variant=True,
    )
    admin_password: str | None = option(
        values.password,
        "Password of that administrator. Without it, a random password is created and shown once on the terminal.",
        allowed="6 to 1024 characters",
        mask=values.mask_all,
    )
    auth_proxy_header: str | None = option(
        values.header_name,
        "Header in which a reverse proxy names the user that it has signed in. It counts only from the addresses in"
        " TIDINGS_TRUSTED_REVERSE_PROXY_NETWORKS; from all others it is removed, which is logged. Whoever can connect"
        " from such an address can be any user: make sure that the proxy overwrites the header.",
        allowed="the name of a header, such as Remote-User",
    )
    auth_proxy_user_creation: bool = option(
        values.boolean,
        "Whether a user whom the proxy names, and who has no account yet, gets one.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )
    auth_proxy_logout_url: str | None = option(
        values.web_page,
        "Address at which the proxy signs a user out. Signing out of Tidings leads there; without it, the proxy would"
        " sign the user in again with the next page.",
        allowed="a URL like https://auth.example.org/logout",
    )
    oauth2_provider: OAuth2Provider | None = option(
        values.enum_value(OAuth2Provider),
        "Whether users may sign in with OpenID Connect: oidc at the provider of"
        " TIDINGS_OAUTH2_OIDC_DISCOVERY_ENDPOINT, google at Google.",
        allowed="oidc or google",
    )
    oauth2_client_id: str | None = option(
        values.header,
        "The id that the provider has given to Tidings.",
        allowed="ASCII text without line breaks",
        has_file_variant=True,
    )
    oauth2_client_secret: str | None = option(
        values.line,
        "The secret that belongs to TIDINGS_OAUTH2_CLIENT_ID.",
        allowed="text without line breaks",
        mask=values.mask_all,
    )
    oauth2_redirect_url: str | None = option(
        values.base_url,
        "Where the provider sends users back to. Register this address at the provider.",
        allowed="the default",
        default="TIDINGS_BASE_URL followed by /oauth2/oidc/callback, or by /oauth2/google/callback",
        derive=lambda known: (
            f"{known['base_url']}/oauth2/{known['oauth2_provider']}/callback" if known["oauth2_provider"] else ""
        ),
    )
    oauth2_oidc_discovery_endpoint: str | None = option(
        values.issuer,
        "Address of the provider, as its discovery document states the issuer. It may be in a private network.",
        allowed="a URL like https://auth.example.org, with or without /.well-known/openid-configuration",
        default="https://accounts.google.com with google, else none",
        derive=lambda known: "https://accounts.google.com" if known["oauth2_provider"] is OAuth2Provider.GOOGLE else "",
    )
    oauth2_oidc_provider_name: str = option(
        values.line,
        "Name of the provider on pages.",
        allowed="text without line breaks",
        default="Google with google, else OpenID Connect",
        derive=lambda known: "Google" if known["oauth2_provider"] is OAuth2Provider.GOOGLE else "OpenID Connect",
    )
    oauth2_user_creation: bool = option(
        values.boolean,
        "Whether someone whom the provider signs in, and who has no account yet, gets one.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )
    oauth2_scopes: str = option(
        values.scopes,
        "Scopes that are requested from the provider. Some send groups only with the scope groups.",
        allowed="scopes separated by spaces or commas, with openid among them",
        default="openid profile email",
    )
    oauth2_groups_claim: str = option(
        values.line,
        "Claim in which the provider sends the user's groups: a list, or a text with one group.",
        allowed="text without line breaks",
        default="groups",
    )
    oauth2_allowed_groups: tuple[str, ...] | None = option(
        values.names,
        "Groups whose members may sign in with the provider; without it, everybody whom the provider signs in may.",
        allowed="names separated by commas",
    )
    oauth2_admin_groups: tuple[str, ...] | None = option(
        values.names,
        "Groups whose members are administrators. With it, each sign-in with the provider makes the user an"
        " administrator or an ordinary user; the last administrator stays one. Without it, the provider does not"
        " decide about that.",
        allowed="names separated by commas",
    )
    disable_local_auth: bool = option(
        values.boolean,
        "Whether passwords of accounts are refused, on pages and by apps, and cannot be changed. API keys and API"
        " passwords keep working. Needs TIDINGS_OAUTH2_PROVIDER or TIDINGS_AUTH_PROXY_HEADER.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )
    require_admin_second_factor: bool = option(
        values.boolean,
        "Whether administrators who sign in with a password need a second factor. One who has none sets up an"
        " authenticator app at the next sign-in.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )
    agents: bool = option(
        values.boolean,
        "Whether agents may connect at /mcp, with the API keys of users. Otherwise the address does not exist.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="1",
    )
    api_key_rate_limit: int = option(
        values.integer(0, 1_000_000),
        "Requests per minute that an API key may make; 0 for any number. All web processes of a machine count"
        " together.",
        allowed="a whole number from 0 to 1000000",
        default="0",
    )
    max_feeds_per_user: int = option(
        values.integer(0, 2**31 - 1),
        "Largest number of feeds of an account without a limit of its own; 0 for any number.",
        allowed="a whole number from 0 to 2147483647",
        default="0",
    )
    max_entries_per_user: int = option(
        values.integer(0, 2**31 - 1),
        "Largest number of entries of an account without a limit of its own; 0 for any number. A full account gets no"
        " new entries until there is room.",
        allowed="a whole number from 0 to 2147483647",
        default="0",
    )
    max_megabytes_per_user: int = option(
        values.integer(0, 2**31 - 1),
        "Largest size of the articles of an account without a limit of its own, in megabytes; 0 for any size. It is"
        " measured once a day.",
        allowed="a whole number from 0 to 2147483647",
        default="0",
    )
    polling_frequency: timedelta = option(
        values.minutes(1, 43_200),
        "Minutes between two checks of a feed that publishes twice a day, or whose rate is not known yet. Feeds that"
        " publish more often are checked more often, others less.",
        allowed="a whole number from 1 to 43200",
        default="60",
    )
    polling_scheduler: Scheduler = option(
        values.enum_value(Scheduler),
        "How the interval between two checks is computed: adaptive uses the square root of the time between new"
        " entries, entry_frequency that time itself, round_robin the same interval for all feeds.",
        allowed="adaptive, entry_frequency or round_robin",
        default="adaptive",
    )
    scheduler_entry_frequency_min_interval: timedelta = option(
        values.minutes(1, 43_200),
        "Shortest interval in minutes, with adaptive and entry_frequency.",
        allowed="a whole number from 1 to 43200",
        default="5",
    )
    scheduler_entry_frequency_max_interval: timedelta = option(
        values.minutes(1, 43_200),
        "Longest interval in minutes, with adaptive and entry_frequency.",
        allowed="a whole number from 1 to 43200",
        default="1440",
    )
    scheduler_entry_frequency_factor: int = option(
        values.integer(1, 1000),
        "Factor by which checks become more frequent, with adaptive and entry_frequency.",
        allowed="a whole number from 1 to 1000",
        default="1",
    )
    scheduler_round_robin_min_interval: timedelta = option(
        values.minutes(1, 43_200),
        "Shortest interval in minutes after random variation, with round_robin. A shorter TIDINGS_POLLING_FREQUENCY"
        " takes precedence.",
        allowed="a whole number from 1 to 43200",
        default="60",
    )
    scheduler_round_robin_max_interval: timedelta = option(
        values.minutes(1, 43_200),
        "Longest interval in minutes, with round_robin.",
        allowed="a whole number from 1 to 43200",
        default="1440",
    )
    polling_parsing_error_limit: int = option(
        values.integer(0, 1000),
        "Number of errors in a row after which a feed is switched off, with a message, until its user switches it on"
        " again; 0 for never.",
        allowed="a whole number from 0 to 1000",
        default="0",
    )
    polling_limit_per_host: int = option(
        values.integer(1, 100),
        "Largest number of concurrent fetches from one host, by all workers together.",
        allowed="a whole number from 1 to 100",
        default="2",
    )
    polling_gap_per_host: timedelta = option(
        values.milliseconds(0, 60_000),
        "Milliseconds between the starts of two fetches from one host, by all workers together.",
        allowed="a whole number from 0 to 60000",
        default="250",
    )
    worker_processes: int = option(
        values.integer(1, 64),
        "Number of worker processes, which check feeds, deliver events and delete old entries.",
        allowed="a whole number from 1 to 64",
        default="the number of CPU cores, but not more than 2; on PostgreSQL 3 on more than two cores",
        derive=lambda known: str(_default_workers(known["database_url"])),
    )
    worker_pool_size: int = option(
        values.integer(1, 1000),
        "Number of concurrent fetches of one worker.",
        allowed="a whole number from 1 to 1000",
        default="16",
    )
    websub: WebSubMode = option(
        values.enum_value(WebSubMode),
        "Whether the hubs of publishers (WebSub) may push new entries, which then do not wait for the next check."
        " auto: if TIDINGS_BASE_URL is an address that the internet can reach.",
        allowed="auto, on or off",
        default="auto",
    )
    newsletters_address: str | None = option(
        values.mail_template,
        "The mail address at which newsletters arrive, with {secret} in place of the secret of each address. Your mail"
        " server has to deliver such mail to POST /mail/{secret} or by LMTP; see docs/newsletters.md.",
        allowed="a mail address with {secret} in front of the @, such as letters+{secret}@example.org",
    )
    newsletters_lmtp: Path | ListenAddress | None = option(
        values.local_place,
        "Where a mail server on this machine delivers newsletters by LMTP; see docs/newsletters.md. Whoever can connect"
        " there needs only the secret of an address, as with POST /mail/{secret}.",
        allowed="unix:/path/of/a/socket, or a loopback address and a port such as 127.0.0.1:2424",
    )
    newsletters_imap_url: ImapUrl | None = option(
        values.imap_url,
        "A folder on an IMAP server that is read for the newsletters of all users. The addresses in the headers of each"
        " message say whose it is; other messages are left alone. Needs TIDINGS_NEWSLETTERS_IMAP_PASSWORD and"
        " TIDINGS_NEWSLETTERS_ADDRESS. imap+starttls:// begins TLS with STARTTLS. Without TLS (imap://),"
        " only connections to this machine are made.",
        allowed="a URL like imaps://user@mail.example.org/Folder; write @ in the user as %40",
        mask=values.mask_password,
    )
    newsletters_imap_password: str | None = option(
        values.line,
        "Password of the user in TIDINGS_NEWSLETTERS_IMAP_URL.",
        allowed="text without line breaks",
        mask=values.mask_all,
    )
    newsletters_imap_mark_seen: bool = option(
        values.boolean,
        "Whether newsletters that were taken from TIDINGS_NEWSLETTERS_IMAP_URL are marked as seen there. Otherwise"
        " nothing is changed in the mailbox.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )
    newsletters_imap_interval: timedelta = option(
        values.minutes(1, 1440),
        "Minutes between two looks into a mailbox, those of users included.",
        allowed="a whole number from 1 to 1440",
        default="5",
    )
    fetcher_allow_private_networks: bool = option(
        values.boolean,
        "Whether feeds and pages may be fetched from this machine and its private networks. Leave it off if people you"
        " do not trust have accounts: it lets them read addresses that only your network can reach.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )
    fetcher_allow_private_feed_proxy: bool = option(
        values.boolean,
        "Whether the proxy that a user sets for a feed may be on this machine and its private networks. Leave it off if"
        " people you do not trust have accounts: it lets them connect to addresses that only your network can reach."
        " TIDINGS_HTTP_CLIENT_PROXY may be there in any case.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )
    integration_allow_private_networks: bool = option(
        values.boolean,
        "Whether webhooks and other integrations may connect to this machine and its private networks.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )
    integration_timeout: timedelta = option(
        values.seconds(1, 300),
        "Seconds after which an attempt to deliver to a webhook or another integration fails if its response is not"
        " complete.",
        allowed="a whole number from 1 to 300",
        default="10",
    )
    http_client_timeout: timedelta = option(
        values.seconds(1, 600),
        "Seconds after which the fetch of a feed or page fails if it is not complete.",
        allowed="a whole number from 1 to 600",
        default="20",
    )
    http_client_max_body_size: ByteCount = option(
        values.mebibytes(1, 1024),
        "Largest size of a feed or page in MiB, after decompression.",
        allowed="a whole number from 1 to 1024",
        default="15",
    )
    http_client_user_agent: str = option(
        values.header,
        "User-Agent header of requests to publishers.",
        allowed="ASCII text without line breaks",
        default="Mozilla/5.0 (compatible; Tidings/VERSION; +URL), with the version and the address of the project",
        # Many sites refuse whatever does not begin like a browser.
        derive=lambda _: f"Mozilla/5.0 (compatible; Tidings/{__version__}; +{HOMEPAGE})",
    )
    http_client_proxy: str | None = option(
        values.proxy_url,
        "Proxy for feeds with `fetch_via_proxy`, and for their articles and icons. It may be in a private network.",
        allowed="a URL like http://proxy.example.org:3128, https://user:password@proxy.example.org or socks5://127.0.0.1:9050",
        mask=values.mask_password,
    )
    rssbridge_url: str | None = option(
        values.bridge_url,
        "RSS-Bridge that makes feeds of pages without one. Discovery asks it when it has found nothing itself. It may"
        " be in a private network.",
        allowed="a URL like http://rss-bridge:80 or https://user:password@bridge.example.org/rss",
        mask=values.mask_password,
    )
    rsshub_url: str | None = option(
        values.bridge_url,
        "RSSHub from which feeds with addresses like rsshub://github/issue/DIYgod/RSSHub are fetched. It may be in a"
        " private network.",
        allowed="a URL like http://rsshub:1200 or https://user:password@rsshub.example.org",
        mask=values.mask_password,
    )
    flaresolverr_url: str | None = option(
        values.bridge_url,
        "FlareSolverr whose browser fetches feeds with `fetch_via_flaresolverr`, and their articles and icons. It may"
        " be in a private network.",
        allowed="a URL like http://flaresolverr:8191",
        mask=values.mask_password,
    )
    invidious_instance: str = option(
        values.host,
        "Invidious server whose players entries may show and which the rule add_youtube_video_using_invidious_player"
        " uses.",
        allowed="a host name, with a port if it is not the default port",
        default="yewtu.be",
    )
    youtube_embed_url_override: str = option(
        values.embed_url,
        "Address of a YouTube player without the id of the video at its end.",
        allowed="a URL that ends with a slash",
        default="https://www.youtube-nocookie.com/embed/",
    )
    fetch_youtube_watch_time: bool = option(
        values.boolean,
        "Whether the reading time of an entry with a video of YouTube is how long the video lasts. Without"
        " TIDINGS_YOUTUBE_API_KEY, the page of each new video is read for that.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )
    youtube_api_key: str | None = option(
        values.header,
        "Key of the YouTube Data API, which tells the durations of 50 videos at once.",
        allowed="ASCII text without line breaks",
        mask=values.mask_all,
    )
    reddit_client_id: str | None = option(
        values.header,
        "Id of a client that you have registered at Reddit. Feeds of Reddit are then read through its API, whose limits"
        " are higher than those of anonymous requests.",
        allowed="ASCII text without line breaks",
        has_file_variant=True,
    )
    reddit_client_secret: str | None = option(
        values.header,
        "The secret that belongs to TIDINGS_REDDIT_CLIENT_ID; none for the client of an installed app.",
        allowed="ASCII text without line breaks",
        mask=values.mask_all,
    )
    podcastindex_key: str | None = option(
        values.header,
        "Key of the API of Podcast Index, by which the feed of a podcast is found from its address there.",
        allowed="ASCII text without line breaks",
        has_file_variant=True,
    )
    podcastindex_secret: str | None = option(
        values.header,
        "The secret that belongs to TIDINGS_PODCASTINDEX_KEY.",
        allowed="ASCII text without line breaks",
        mask=values.mask_all,
    )
    media_proxy_mode: MediaProxyMode = option(
        values.enum_value(MediaProxyMode),
        "Which pictures of articles this service fetches for readers, so that publishers do not learn the readers'"
        " addresses: none; http-only for http pictures when TIDINGS_BASE_URL is https, which browsers refuse to load;"
        " all. Unless it is none, users may choose all for themselves.",
        allowed="none, http-only or all",
        default="http-only",
    )
    media_proxy_resource_types: frozenset[MediaKind] = option(
        values.enum_values(MediaKind),
        "What this service fetches for readers. Sounds and films pass through it while they play, and are not kept:"
        " mind the traffic.",
        allowed="image, audio and video, separated by commas",
        default="image",
    )
    media_proxy_cache_size: ByteCount = option(
        values.mebibytes(0, 1_048_576),
        "Largest size in MiB of the folder `media` in TIDINGS_DATA_DIR, which keeps these pictures; 0 keeps none.",
        allowed="a whole number from 0 to 1048576",
        default="256",
    )
    cleanup_frequency_hours: timedelta = option(
        values.hours(1, 8760),
        "Hours between two cleanups. One of the workers runs them, in small steps.",
        allowed="a whole number from 1 to 8760",
        default="24",
    )
    cleanup_archive_read_days: timedelta | None = option(
        values.days_or_never,
        "Days after which read entries are deleted, counted from their last change; -1 for never. Starred,"
        " shared, labelled and snoozed entries are kept, and a feed may have its own limit.",
        allowed=f"a whole number from 1 to {MAX_DAYS}, or {NEVER}",
        default="60",
    )
    cleanup_archive_unread_days: timedelta | None = option(
        values.days_or_never,
        "Days after which unread entries are deleted, counted from their last change; -1 for never. Starred,"
        " shared, labelled and snoozed entries are kept, and a feed may have its own limit.",
        allowed=f"a whole number from 1 to {MAX_DAYS}, or {NEVER}",
        default="180",
    )
    cleanup_archive_batch_size: int = option(
        values.integer(100, 1_000_000),
        "Largest number of entries that one cleanup deletes. If more are old enough, the next cleanup follows a minute"
        " later.",
        allowed="a whole number from 100 to 1000000",
        default="10000",
    )
    backup_folder: Path | None = option(
        values.folder,
        "Folder into which a worker writes backups of the whole database at regular times; without it, none are"
        " written. It is created if it does not exist.",
        allowed="a path; ~ is your home folder",
    )
    backup_frequency_hours: timedelta = option(
        values.hours(1, 8760),
        "Hours between two backups. The first one is written after the start.",
        allowed="a whole number from 1 to 8760",
        default="24",
    )
    backup_keep: int = option(
        values.integer(1, 10_000),
        "Number of backups that are kept in TIDINGS_BACKUP_FOLDER. After a new one is complete, the oldest are deleted;"
        " files with other names stay.",
        allowed="a whole number from 1 to 10000",
        default="14",
    )
    import_max_size: ByteCount = option(
        values.mebibytes(1, 1_048_576),
        "Largest file in MiB that a user may upload for an import. It is kept in TIDINGS_DATA_DIR until the import has"
        " ended.",
        allowed="a whole number from 1 to 1048576",
        default="1024",
    )
    metrics_collector: bool = option(
        values.boolean,
        "Whether /metrics serves metrics for Prometheus.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )
    metrics_allowed_networks: tuple[Network, ...] = option(
        values.network_list,
        "Addresses that may read /metrics.",
        allowed="addresses and networks like 192.0.2.7 or 10.0.0.0/8, separated by commas, or none",
        default="127.0.0.0/8,::1",
    )
    metrics_refresh_interval: timedelta = option(
        values.seconds(1, 3600),
        "Seconds for which /metrics caches values read from the database, such as feeds due and deliveries pending.",
        allowed="a whole number from 1 to 3600",
        default="60",
    )
    metrics_username: str | None = option(
        values.line,
        "User name that /metrics requires (HTTP Basic), together with TIDINGS_METRICS_PASSWORD.",
        allowed="text without line breaks",
        has_file_variant=True,
    )
    metrics_password: str | None = option(
        values.line,
        "Password that /metrics requires, together with TIDINGS_METRICS_USERNAME.",
        allowed="text without line breaks",
        mask=values.mask_all,
    )
    log_level: LogLevel = option(
        values.enum_value(LogLevel),
        "Lowest level of log lines that are written.",
        allowed="debug, info, warning or error",
        default="info",
    )
    log_format: LogFormat = option(
        values.enum_value(LogFormat),
        "Format of log lines: text for people, json (one object per line) for log collectors.",
        allowed="text or json",
        default="text",
    )
    access_log: bool = option(
        values.boolean,
        "Whether each request is logged, without its query and without secrets in its path.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )

    @property
    def database_engine(self) -> DatabaseEngine:
        return values.engine_of(self.database_url)

    @property
    def database_file(self) -> Path | None:
        """The file of the SQLite database; None on PostgreSQL."""
        on_sqlite = self.database_engine is DatabaseEngine.SQLITE
        return Path(self.database_url.removeprefix("sqlite:///")) if on_sqlite else None

    @property
    def base_path(self) -> str:
        """The path of `base_url`: "", or a path without a trailing slash."""
        return urlsplit(self.base_url).path


OPTIONS: tuple[Option, ...] = tuple(
    Option(name=PREFIX + declared.name.upper(), **declared.metadata) for declared in fields(Settings)
)
