"""Every provider by its name: each module in the folder `providers` is one."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Final

from tidings.deliveries import providers
from tidings.deliveries.events import EVENTS
from tidings.deliveries.provider import Provider, provider_from_module
from tidings.deliveries.providers import webhook
from tidings.deliveries.webhooks import is_webhook


def _found() -> dict[str, Provider]:
    modules = (
        import_module(f"{providers.__name__}.{module.name}") for module in pkgutil.iter_modules(providers.__path__)
    )
    return {
        provider.name: provider
        for provider in sorted(map(provider_from_module, modules), key=lambda provider: provider.name)
    }


REGISTRY: Final = _found()
# Names of the providers that receive an event, by the event's name. `has_integrations` in the API counts only
# providers of save_entry.
PROVIDERS_BY_EVENT: Final = {
    event: frozenset(name for name, provider in REGISTRY.items() if event in provider.events) for event in EVENTS
}
WEBHOOK: Final = webhook.NAME


def provider_of(integration: str) -> Provider | None:
    """Return the provider of an integration, as deliveries call it; None if this version has none of that name."""
    return REGISTRY.get(WEBHOOK if is_webhook(integration) else integration)
