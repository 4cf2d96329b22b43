"""Settings of signing in that need each other: half a configuration is refused at the start."""

from __future__ import annotations

from collections.abc import Callable

from tidings.base.errors import StartError
from tidings.settings.option import PREFIX
from tidings.settings.options import Settings
from tidings.settings.values import OAuth2Provider

# What is needed for TIDINGS_OAUTH2_PROVIDER.
_REQUIRED = ("oauth2_client_id", "oauth2_client_secret", "oauth2_oidc_discovery_endpoint")
_OF_PROVIDER = (
    *_REQUIRED,
    "oauth2_redirect_url",
    "oauth2_oidc_provider_name",
    "oauth2_user_creation",
    "oauth2_scopes",
    "oauth2_groups_claim",
    "oauth2_allowed_groups",
    "oauth2_admin_groups",
)
_OF_PROXY = ("auth_proxy_user_creation", "auth_proxy_logout_url")


def check_ways_to_sign_in(settings: Settings, *, is_set: Callable[[str], bool]) -> None:
    """Raise StartError if a setting lacks another one. is_set: whether a field was set, rather than its default."""
    _check_provider(settings, is_set)
    _check_proxy(settings, is_set)
    if settings.disable_local_auth and not (settings.oauth2_provider or settings.auth_proxy_header):
        raise StartError(
            "TIDINGS_DISABLE_LOCAL_AUTH would leave no way to sign in: set TIDINGS_OAUTH2_PROVIDER or"
            " TIDINGS_AUTH_PROXY_HEADER too"
        )


def _check_provider(settings: Settings, is_set: Callable[[str], bool]) -> None:
    if settings.oauth2_provider is None:
        if alone := [_name(field) for field in _OF_PROVIDER if is_set(field)]:
            raise StartError(f"{alone[0]} has no effect without TIDINGS_OAUTH2_PROVIDER: set that too, or neither")
        return
    if missing := [_name(field) for field in _REQUIRED if getattr(settings, field) is None]:
        raise StartError(f"TIDINGS_OAUTH2_PROVIDER needs {' and '.join(missing)}")
    if settings.oauth2_provider is OAuth2Provider.GOOGLE and is_set("oauth2_oidc_discovery_endpoint"):
        raise StartError("TIDINGS_OAUTH2_OIDC_DISCOVERY_ENDPOINT is for the provider oidc, not for google: remove it")
    expected = f"{settings.base_url}/oauth2/{settings.oauth2_provider}/callback"
    if settings.oauth2_redirect_url != expected:
        raise StartError(f"TIDINGS_OAUTH2_REDIRECT_URL has to be {expected}, below TIDINGS_BASE_URL; or leave it out")


def _check_proxy(settings: Settings, is_set: Callable[[str], bool]) -> None:
    if settings.auth_proxy_header is None:
        if alone := [_name(field) for field in _OF_PROXY if is_set(field)]:
            raise StartError(f"{alone[0]} has no effect without TIDINGS_AUTH_PROXY_HEADER: set that too, or neither")
    elif not settings.trusted_reverse_proxy_networks:
        raise StartError(
            "TIDINGS_AUTH_PROXY_HEADER needs the address of the proxy in TIDINGS_TRUSTED_REVERSE_PROXY_NETWORKS"
        )


def _name(field: str) -> str:
    return PREFIX + field.upper()
