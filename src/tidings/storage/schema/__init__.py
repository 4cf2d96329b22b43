"""The tables of the core, the same on both engines; slices have theirs in their module `tables`, in the same metadata.

Column comments say who sets a value and what special values mean.
"""

from tidings.engine.columns import metadata
from tidings.engine.search_tables import (
    search_documents,
    search_languages,
    search_pending,
    search_terms,
    search_vectors,
)
from tidings.storage.schema.archive import (
    duplicates,
    enclosures,
    entries,
    entry_contents,
    entry_labels,
    entry_tags,
    feed_counters,
    labels,
    page_addresses,
    shared_contents,
    snoozed_entries,
    tombstones,
)
from tidings.storage.schema.people import (
    api_keys,
    api_passwords,
    changes,
    list_links,
    list_versions,
    pending_sign_ins,
    server_secrets,
    sessions,
    sign_in_failures,
    users,
)
from tidings.storage.schema.subscriptions import (
    categories,
    feed_categories,
    feeds,
    host_attempts,
    hosts,
    icons,
    sources,
    user_bridges,
)

__all__ = [
    "api_keys",
    "api_passwords",
    "categories",
    "changes",
    "duplicates",
    "enclosures",
    "entries",
    "entry_contents",
    "entry_labels",
    "entry_tags",
    "feed_categories",
    "feed_counters",
    "feeds",
    "host_attempts",
    "hosts",
    "icons",
    "labels",
    "list_links",
    "list_versions",
    "metadata",
    "page_addresses",
    "pending_sign_ins",
    "search_documents",
    "search_languages",
    "search_pending",
    "search_terms",
    "search_vectors",
    "server_secrets",
    "sessions",
    "shared_contents",
    "sign_in_failures",
    "snoozed_entries",
    "sources",
    "tombstones",
    "user_bridges",
    "users",
]
