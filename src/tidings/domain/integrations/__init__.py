"""Integrations with other services: the providers, their settings, and their requests.

Each service is a provider, a module in `providers/`; `domain.integrations.provider` describes how to write one.
"""

from tidings.domain.integrations.provider import (
    DeliveryRefused,
    Provider,
    ProviderRequest,
    ProviderResponse,
    RequestSequence,
    raise_for_status,
)
from tidings.domain.integrations.providers.webhook import NAME as WEBHOOK
from tidings.domain.integrations.providers.webhook import Settings as WebhookSettings
from tidings.domain.integrations.registry import PROVIDERS_BY_EVENT, REGISTRY

__all__ = [
    "PROVIDERS_BY_EVENT",
    "REGISTRY",
    "WEBHOOK",
    "DeliveryRefused",
    "Provider",
    "ProviderRequest",
    "ProviderResponse",
    "RequestSequence",
    "WebhookSettings",
    "raise_for_status",
]
