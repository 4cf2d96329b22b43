"""What a provider says about itself in its discovery document (OpenID Connect Discovery 1.0)."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from tidings.sign_in.openid.errors import ProviderUnavailable

WELL_KNOWN = "/.well-known/openid-configuration"
# Signatures with a key that only the provider has. Not HS256, whose key is the client secret; never none. EdDSA is the
# older name of Ed25519 (RFC 8037), which many providers announce; it also means Ed448, which is not accepted.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA")
MAX_URL = 2000


class ProviderMetadata(Struct, frozen=True, kw_only=True):
    """The discovery document, as far as it is used."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    end_session_endpoint: str = ""
    """Of RP-Initiated Logout; "" if the provider cannot sign users out."""
    id_token_signing_alg_values_supported: tuple[str, ...] = ("RS256",)
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False
    """Whether each response names the issuer (RFC 9207)."""

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms that its tokens may be signed with."""
        return tuple(name for name in ALGORITHMS if name in self.id_token_signing_alg_values_supported)

    @property
    def sends_secret_in_form(self) -> bool:
        """Whether the client secret has to be in the form, because the provider does not take it in a header."""
        return "client_secret_basic" not in self.token_endpoint_auth_methods_supported


def discovery_url(issuer: str) -> str:
    return issuer.rstrip("/") + WELL_KNOWN


def parse_metadata(body: bytes, issuer: str) -> ProviderMetadata:
    """Return the metadata of a provider. Raises ProviderUnavailable if they cannot be used.

    issuer: as the operator has written it, perhaps with another slash at its end.
    """
    try:
        found = msgspec.json.decode(body, type=ProviderMetadata)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProviderUnavailable(f"the discovery document cannot be read: {error}") from error
    if found.issuer.rstrip("/") != issuer.rstrip("/"):
        raise ProviderUnavailable(
            f"the discovery document is of the issuer {found.issuer[:200]!r}: if that is your provider, set"
            " TIDINGS_OAUTH2_OIDC_DISCOVERY_ENDPOINT to it"
        )
    may_be_plain = urlsplit(issuer).scheme == "http"
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint", "end_session_endpoint"):
        _check_endpoint(name, getattr(found, name), may_be_plain=may_be_plain)
    if not found.algorithms:
        raise ProviderUnavailable(f"the provider signs with none of {', '.join(ALGORITHMS)}")
    methods = found.token_endpoint_auth_methods_supported
    if not {"client_secret_basic", "client_secret_post"} & set(methods):
        raise ProviderUnavailable("the provider takes no client secret (client_secret_basic, client_secret_post)")
    return found


def _check_endpoint(name: str, url: str, *, may_be_plain: bool) -> None:
    """Raise ProviderUnavailable unless the endpoint is empty or a URL that can be used."""
    if not url and name in ("userinfo_endpoint", "end_session_endpoint"):
        return
    schemes = "http or https" if may_be_plain else "https"
    try:
        parts = urlsplit(url)
        is_url = (
            parts.scheme in schemes.split(" or ")
            and bool(parts.hostname)
            and not parts.fragment
            and "@" not in parts.netloc
        )
    except ValueError:
        is_url = False
    if not is_url or len(url) > MAX_URL or not url.isascii() or not url.isprintable() or set(url) & set(' "<>\\'):
        raise ProviderUnavailable(f"{name} of the discovery document cannot be used: expected a URL with {schemes}")
