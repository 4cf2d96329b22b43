"""How signing in is joined to the rest: services, listeners, endpoints and pages."""

from __future__ import annotations

from collections.abc import Sequence

from tidings.base.messages import msg
from tidings.net.post import Sender
from tidings.services.accounts.users import Users
from tidings.services.accounts.ways import AccountWays
from tidings.services.listeners import CleanupTask, SignInWay
from tidings.settings import Settings
from tidings.sign_in import account_links_store, account_log
from tidings.sign_in.account_log import AccountLog
from tidings.sign_in.codes.second_factors import SecondFactors
from tidings.sign_in.limits import AccountLimiter
from tidings.sign_in.limits_model import Limits
from tidings.sign_in.links import AccountLinks
from tidings.sign_in.openid.accounts import OpenIdAccounts
from tidings.sign_in.openid.provider import OpenIdConfig, OpenIdProvider
from tidings.sign_in.openid.sign_in import OpenIdSignIn
from tidings.sign_in.passkeys import passkey_store
from tidings.sign_in.passkeys.passkeys import Passkeys
from tidings.sign_in.passkeys.relying_party import relying_party
from tidings.sign_in.proxy import ProxyConfig, ProxySignIn
from tidings.sign_in.services import SignInServices
from tidings.sign_in.worker import SizeMeter
from tidings.storage.accounts import pending_sign_ins
from tidings.web.settings_menu import MenuItem
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> SignInServices:
    """Return the ways of signing in, and tell the core of them."""
    listeners = parts.listeners
    listeners.cleanup_tasks.append(CleanupTask("pending sign-ins", pending_sign_ins.remove_expired))
    listeners.passwords_disabled = parts.settings.disable_local_auth
    factors = build_second_factors(parts)
    return SignInServices(
        log=build_log(parts),
        links=build_links(parts),
        limits=build_limits(parts),
        openid=build_openid(parts),
        proxy=build_proxy(parts),
        factors=factors,
        passkeys=build_passkeys(parts, factors),
    )


def build_log(parts: Parts) -> AccountLog:
    """Return the log of accounts, which hears of everything that happens to them."""
    parts.listeners.account_events.append(account_log.record)
    parts.listeners.cleanup_tasks.append(CleanupTask("account log entries", account_log.remove_expired))
    return AccountLog(parts.database)


def build_links(parts: Parts) -> AccountLinks:
    """Return invitations, and links that sign in once."""
    parts.listeners.cleanup_tasks.append(CleanupTask("account links", account_links_store.remove_expired))
    return AccountLinks(parts.database, parts.clock, parts.listeners)


def build_limits(parts: Parts) -> AccountLimiter:
    """Return the limits of accounts, which are asked before something is added."""
    settings = parts.settings
    default = Limits(settings.max_feeds_per_user, settings.max_entries_per_user, settings.max_megabytes_per_user)
    limits = AccountLimiter(parts.database, parts.clock, parts.listeners, default)
    parts.listeners.feed_limits.append(limits.check_feeds)
    parts.listeners.account_rooms.append(limits.rooms)
    parts.listeners.account_measures.append(limits.measure)
    parts.listeners.imported_sizes.append(limits.add_size)
    parts.listeners.entries_arriving.append(limits.add_sizes)
    return limits


def build_openid(parts: Parts) -> OpenIdSignIn | None:
    """Return signing in with OpenID Connect; None unless it is configured."""
    config = openid_config(parts.settings)
    if config is None:
        return None
    # The operator names the provider, so that it may be in a private network.
    sender = Sender(user_agent=parts.settings.http_client_user_agent, allow_private_networks=True)
    users = Users(parts.database, parts.clock, parts.listeners)
    accounts = OpenIdAccounts(config, parts.database, parts.clock, parts.listeners, users=users)
    openid = OpenIdSignIn(config, OpenIdProvider(config, sender, parts.clock), accounts, parts.database, parts.clock)
    parts.listeners.account_events.append(accounts.remember_session)
    parts.listeners.account_ways.append(accounts.ways_of)
    parts.listeners.sign_out_urls.append(openid.sign_out_url)
    parts.listeners.sign_in_ways.append(
        SignInWay(
            name="openid",
            label=msg("Sign in with {provider}", provider=config.name),
            path=openid.start_path,
            is_above=parts.settings.disable_local_auth,
        )
    )
    return openid


def openid_config(settings: Settings) -> OpenIdConfig | None:
    """Return the settings of OpenID Connect; None unless it is configured."""
    if settings.oauth2_provider is None:
        return None
    return OpenIdConfig(
        provider=settings.oauth2_provider,
        name=settings.oauth2_oidc_provider_name,
        issuer=settings.oauth2_oidc_discovery_endpoint or "",
        client_id=settings.oauth2_client_id or "",
        client_secret=settings.oauth2_client_secret or "",
        redirect_url=settings.oauth2_redirect_url or "",
        base_url=settings.base_url,
        scopes=settings.oauth2_scopes,
        groups_claim=settings.oauth2_groups_claim,
        allowed_groups=_group_set(settings.oauth2_allowed_groups),
        admin_groups=_group_set(settings.oauth2_admin_groups),
        creates_users=settings.oauth2_user_creation,
    )


def build_proxy(parts: Parts) -> ProxySignIn | None:
    """Return signing in by a reverse proxy; None unless it is configured."""
    settings = parts.settings
    if settings.auth_proxy_header is None:
        return None
    config = ProxyConfig(
        header=settings.auth_proxy_header,
        trusted=settings.trusted_reverse_proxy_networks,
        creates_users=settings.auth_proxy_user_creation,
        logout_url=settings.auth_proxy_logout_url or "",
    )
    proxy = ProxySignIn(config, parts.database, users=Users(parts.database, parts.clock, parts.listeners))
    parts.listeners.sign_out_urls.append(proxy.sign_out_url)
    return proxy


def build_second_factors(parts: Parts) -> SecondFactors:
    """Return what follows a password at a sign-in."""
    factors = SecondFactors(
        parts.database,
        parts.clock,
        parts.listeners,
        issuer=f"Tidings ({relying_party(parts.settings.base_url).id})",
        admins_need_one=parts.settings.require_admin_second_factor,
    )
    parts.listeners.second_steps.append(factors.next_step)
    parts.listeners.second_factor_removals.append(factors.reset)
    return factors


def build_passkeys(parts: Parts, factors: SecondFactors) -> Passkeys:
    """Return passkeys. The sign-in page offers them where browsers do."""
    rp = relying_party(parts.settings.base_url)
    ways = AccountWays(parts.database, parts.listeners)
    passkeys = Passkeys(parts.database, parts.clock, parts.listeners, ways=ways, factors=factors, rp=rp)
    parts.listeners.account_ways.append(passkeys.account_ways)
    if rp.problem is None:
        template = "sign_in/passkey_button.html"
        label = msg("Sign in with a passkey")
        way = SignInWay(name="passkey", label=label, path="/sign-in/passkey", template=template)
        parts.listeners.sign_in_ways.append(way)
    parts.listeners.cleanup_tasks.append(CleanupTask("used passkey challenges", passkey_store.remove_expired))
    return passkeys


def _group_set(groups: Sequence[str] | None) -> frozenset[str] | None:
    return None if groups is None else frozenset(groups)


def loops(services: SignInServices, _worker: str) -> tuple[SizeMeter]:
    return (SizeMeter(services.limits),)


SLICE = Slice(
    build=build,
    endpoints=("log_endpoints", "limits_endpoints", "invitation_endpoints"),
    pages=(
        "log_pages",
        "link_pages",
        "limits_pages",
        "openid.pages",
        "passkeys.pages",
        "passkeys.sign_in_pages",
        "codes.pages",
        "codes.step_pages",
    ),
    settings_menu=(
        MenuItem("/settings/log", msg("Account log"), after="/settings/security"),
        MenuItem("/settings/sign-in", msg("Passkeys and second factor"), after="/settings/security"),
        MenuItem(
            "/settings/identities",
            msg("Linked sign-ins"),
            after="/settings/security",
            needs=lambda services: services[SignInServices].openid is not None,
        ),
    ),
    loops=loops,
)
