"""The tables, the same on both engines. Column comments say who sets a value and what special values mean."""

from tidings.engine.columns import metadata
from tidings.engine.replica import user_writes
from tidings.engine.search_tables import search_documents, search_languages, search_pending, search_vectors
from tidings.storage.schema.archive import (
    enclosures,
    entries,
    entry_contents,
    entry_labels,
    entry_tags,
    feed_counters,
    labels,
    tombstones,
)
from tidings.storage.schema.chores import account_imports, chores
from tidings.storage.schema.events import deliveries, delivery_bodies, receivers
from tidings.storage.schema.people import (
    api_keys,
    api_passwords,
    integrations,
    list_links,
    server_secrets,
    sessions,
    sign_in_failures,
    users,
)
from tidings.storage.schema.subscriptions import categories, feeds, host_attempts, hosts, icons, sources
from tidings.storage.schema.websub import websub_pushes, websub_subscriptions, websub_topics

__all__ = [
    "account_imports",
    "api_keys",
    "api_passwords",
    "categories",
    "chores",
    "deliveries",
    "delivery_bodies",
    "enclosures",
    "entries",
    "entry_contents",
    "entry_labels",
    "entry_tags",
    "feed_counters",
    "feeds",
    "host_attempts",
    "hosts",
    "icons",
    "integrations",
    "labels",
    "list_links",
    "metadata",
    "receivers",
    "search_documents",
    "search_languages",
    "search_pending",
    "search_vectors",
    "server_secrets",
    "sessions",
    "sign_in_failures",
    "sources",
    "tombstones",
    "user_writes",
    "users",
    "websub_pushes",
    "websub_subscriptions",
    "websub_topics",
]
