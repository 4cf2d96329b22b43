"""Other services that a user has connected: which there are, what is set for them, and how they are asked.

Each service is a leaf, a module in `leaves/`: how one is written stands in `domain.integrations.leaf`.
"""

from tidings.domain.integrations.leaf import Answer, Leaf, Outgoing, Refused, Steps, accepted
from tidings.domain.integrations.leaves.webhook import NAME as WEBHOOK
from tidings.domain.integrations.leaves.webhook import Settings as WebhookSettings
from tidings.domain.integrations.registry import NOTIFIED, REGISTRY, SAVE_TARGETS

__all__ = [
    "NOTIFIED",
    "REGISTRY",
    "SAVE_TARGETS",
    "WEBHOOK",
    "Answer",
    "Leaf",
    "Outgoing",
    "Refused",
    "Steps",
    "WebhookSettings",
    "accepted",
]
