"""Builds the surfaces, and the ASGI application that a web worker runs."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.types import ASGIApp

from tidings import asgi
from tidings.agents.app import Agents
from tidings.agents.confirmations import Confirmations
from tidings.agents.methods import Methods
from tidings.agents.routes import AGENT_ROUTES
from tidings.api.app import Api
from tidings.fever.app import Fever
from tidings.fever.routes import FEVER_ROUTES
from tidings.greader.app import GoogleReader
from tidings.greader.routes import READER_ROUTES
from tidings.http.front_door import FrontDoor
from tidings.http.password_gate import PasswordGate
from tidings.http.uploads import UploadFolder
from tidings.maintenance.metrics_endpoint import Metrics
from tidings.newsletters.mail_endpoint import MailEndpoint
from tidings.newsletters.services import NewsletterServices
from tidings.rules.services import RuleServices
from tidings.runtime import allocator
from tidings.services.accounts.key_quotas import KeyQuotas
from tidings.services.accounts.server_secret import ServerSecret
from tidings.settings import Settings
from tidings.sign_in.openid.back_channel import BackChannelLogout
from tidings.web.app import Pages
from tidings.web.assets import Assets, StaticFiles
from tidings.web.pages.api_reference import Reference
from tidings.websub.endpoints import CallbackLimits, Callbacks
from tidings.wiring.application import Application
from tidings.wiring.arguments import import_folder, metrics_access, site_config
from tidings.wiring.routes import API_DOCUMENT, API_ROUTES, PAGE_ROUTES, SETTINGS_MENU
from tidings.wiring.services import AllServices, start_metrics
from tidings.wiring.slices import TEMPLATES

# For a message to arrive and to be stored: mail servers wait minutes.
MAIL_TIMEOUT_S = 120.0


def build_pages(services: AllServices, settings: Settings, assets: Assets, gate: PasswordGate) -> Pages:
    """Return the web pages."""
    trusted = settings.trusted_reverse_proxy_networks
    max_concurrency = services.database.best_concurrency
    return Pages(
        services,
        services.by_type(),
        PAGE_ROUTES,
        site_config(settings),
        assets,
        templates=TEMPLATES,
        settings_menu=[item for item in SETTINGS_MENU if item.needs(services.by_type())],
        media_proxy=services.media.proxy,
        proxy_sign_in=services.sign_in.proxy,
        gate=gate,
        max_concurrency=max_concurrency,
        trusted=trusted,
    )


def build_agents(services: AllServices, settings: Settings, quotas: KeyQuotas | None) -> Agents:
    """Return the surface for agents. quotas: shared with the API."""
    confirmations = Confirmations(ServerSecret(services.database))
    return Agents(
        services,
        Methods(services, services.of(RuleServices), confirmations),
        AGENT_ROUTES,
        max_concurrency=services.database.best_concurrency,
        trusted=settings.trusted_reverse_proxy_networks,
        base_url=settings.base_url,
        quotas=quotas,
    )


def build_quotas(settings: Settings) -> KeyQuotas | None:
    """Return the quotas of API keys, None without a limit. The processes that are forked afterwards share them."""
    return KeyQuotas(settings.api_key_rate_limit) if settings.api_key_rate_limit else None


def asgi_app(settings: Settings, quotas: KeyQuotas | None = None) -> ASGIApp:
    """Return the application that a web worker runs. ASGI's lifespan closes it when the server stops.

    quotas: of API keys, for all web workers.
    """
    start_metrics(settings)
    served = Application(settings)
    served.expect_schema()
    allocator.release_regularly(served.database.close_unused)
    services = served.services
    max_concurrency = served.database.best_concurrency
    gate = PasswordGate()
    api = Api(
        services,
        services.by_type(),
        API_ROUTES,
        API_DOCUMENT,
        gate=gate,
        max_concurrency=max_concurrency,
        trusted=settings.trusted_reverse_proxy_networks,
        base_url=settings.base_url,
        quotas=quotas,
    )
    reader = GoogleReader(
        services,
        READER_ROUTES,
        gate=gate,
        max_concurrency=max_concurrency,
        trusted=settings.trusted_reverse_proxy_networks,
        base_url=settings.base_url,
    )
    fever = Fever(
        services, FEVER_ROUTES, max_concurrency=max_concurrency, trusted=settings.trusted_reverse_proxy_networks
    )
    agents = build_agents(services, settings, quotas) if settings.agents else None
    base_path = urlsplit(settings.base_url).path.rstrip("/")
    limits = CallbackLimits(settings.http_client_max_body_size, settings.http_client_timeout.total_seconds())
    assets = Assets()
    pages = build_pages(services, settings, assets, gate)
    uploads = UploadFolder(import_folder(settings), settings.import_max_size)
    api.uploads = pages.uploads = uploads
    application = asgi.application(
        services.maintenance,
        api,
        reader,
        pages,
        fever=fever,
        gate=gate,
        static=StaticFiles(assets, pages),
        websub=Callbacks(services.websub.pushes, limits),
        mail=MailEndpoint(services.of(NewsletterServices).newsletters, time_s=MAIL_TIMEOUT_S),
        back_channel=BackChannelLogout(
            services.sign_in.openid, services, trusted=settings.trusted_reverse_proxy_networks
        ),
        agents=agents,
        metrics=Metrics(services.maintenance.status, metrics_access(settings)),
        reference=Reference(lambda: API_DOCUMENT.at(base_path or "/")),
        base_path=base_path,
        close=services.close,
    )
    return FrontDoor(
        application,
        trusted=settings.trusted_reverse_proxy_networks,
        user_header=settings.auth_proxy_header or "",
        access_log=settings.access_log,
        on_unix_socket=settings.listen_socket is not None,
    )
