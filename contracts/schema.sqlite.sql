CREATE TABLE account_imports (
    user_id INTEGER NOT NULL,
    token TEXT NOT NULL,
    source TEXT NOT NULL,
    origin TEXT DEFAULT '' NOT NULL,
    state TEXT NOT NULL,
    steps_done INTEGER DEFAULT 0 NOT NULL,
    steps_total INTEGER DEFAULT 0 NOT NULL,
    started_at BIGINT NOT NULL,
    renewed_at BIGINT NOT NULL,
    finished_at BIGINT,
    report TEXT DEFAULT '' NOT NULL,
    error TEXT DEFAULT '' NOT NULL,
    error_form TEXT DEFAULT '' NOT NULL,
    CONSTRAINT fk_account_imports_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT pk_account_imports PRIMARY KEY (user_id)
);

CREATE TABLE account_limits (
    user_id INTEGER NOT NULL,
    max_feeds INTEGER,
    max_entries INTEGER,
    max_megabytes INTEGER,
    size_bytes BIGINT,
    measured_at BIGINT,
    CONSTRAINT fk_account_limits_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT pk_account_limits PRIMARY KEY (user_id)
)
 WITHOUT ROWID;

CREATE TABLE account_links (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    token_hash BLOB NOT NULL,
    for_user_id INTEGER,
    note TEXT DEFAULT '' NOT NULL,
    invited_by TEXT DEFAULT '' NOT NULL,
    is_admin BOOLEAN DEFAULT 0 NOT NULL,
    limits TEXT DEFAULT '{}' NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT fk_account_links_for_user_id_users FOREIGN KEY(for_user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_account_links_token_hash UNIQUE (token_hash)
);

CREATE INDEX ix_account_links_expires ON account_links (expires_at);

CREATE INDEX ix_account_links_for_user_id ON account_links (for_user_id);

CREATE TABLE account_log (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER,
    kind TEXT NOT NULL,
    username TEXT DEFAULT '' NOT NULL,
    method TEXT DEFAULT '' NOT NULL,
    second_method TEXT DEFAULT '' NOT NULL,
    address TEXT DEFAULT '' NOT NULL,
    user_agent TEXT DEFAULT '' NOT NULL,
    actor TEXT DEFAULT '' NOT NULL,
    detail TEXT DEFAULT '' NOT NULL,
    times INTEGER DEFAULT 1 NOT NULL,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    merge_key BLOB,
    CONSTRAINT fk_account_log_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_account_log_merge_key UNIQUE (merge_key)
);

CREATE INDEX ix_account_log_last_at ON account_log (last_at, id);

CREATE INDEX ix_account_log_user ON account_log (user_id, last_at, id);

CREATE TABLE "api_keys" (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    description TEXT NOT NULL,
    description_key TEXT NOT NULL,
    token TEXT,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    needs_icon_object BOOLEAN DEFAULT 0 NOT NULL,
    token_hash BLOB NOT NULL,
    scope TEXT DEFAULT 'admin' NOT NULL,
    expires_at BIGINT,
    last_address TEXT DEFAULT ('') NOT NULL,
    CONSTRAINT fk_api_keys_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_api_keys_token_hash UNIQUE (token_hash),
    CONSTRAINT uq_api_keys_user_id_description_key UNIQUE (user_id, description_key)
);

CREATE TABLE api_passwords (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    password_digest BLOB NOT NULL,
    fever_key_digest BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    marked_read_at BIGINT,
    CONSTRAINT fk_api_passwords_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_api_passwords_fever_key_digest UNIQUE (fever_key_digest),
    CONSTRAINT uq_api_passwords_user_id_name_key UNIQUE (user_id, name_key)
);

CREATE TABLE bridge_turns (
    name TEXT NOT NULL,
    taken_until BIGINT,
    taken_by TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_bridge_turns PRIMARY KEY (name)
)
 WITHOUT ROWID;

CREATE TABLE categories (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    title TEXT NOT NULL,
    title_key TEXT NOT NULL,
    hide_globally BOOLEAN DEFAULT false NOT NULL, parent_id INTEGER, name TEXT DEFAULT '' NOT NULL, keep_duplicates BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT fk_categories_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_categories_user_id_title_key UNIQUE (user_id, title_key)
);

CREATE INDEX ix_categories_keep_duplicates ON categories (user_id, id) WHERE keep_duplicates = true;

CREATE INDEX ix_categories_user_parent ON categories (user_id, parent_id);

CREATE INDEX ix_categories_user_title ON categories (user_id, title, id);

CREATE TABLE changes (
    user_id INTEGER NOT NULL,
    number BIGINT NOT NULL,
    version BIGINT DEFAULT 0 NOT NULL,
    made_at BIGINT NOT NULL,
    objects BLOB NOT NULL,
    CONSTRAINT fk_changes_user_id_list_versions FOREIGN KEY(user_id) REFERENCES list_versions (user_id) ON DELETE CASCADE,
    CONSTRAINT pk_changes PRIMARY KEY (user_id, number)
)
 WITHOUT ROWID;

CREATE TABLE chores (
    name TEXT NOT NULL,
    next_at BIGINT NOT NULL,
    claimed_until BIGINT,
    claimed_by TEXT DEFAULT '' NOT NULL,
    finished_at BIGINT,
    CONSTRAINT pk_chores PRIMARY KEY (name)
)
 WITHOUT ROWID;

CREATE TABLE deliveries (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    delivery_id TEXT NOT NULL,
    integration TEXT NOT NULL,
    event_type TEXT NOT NULL,
    receiver TEXT NOT NULL,
    feed_id INTEGER,
    state TEXT DEFAULT 'pending' NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    created_at BIGINT NOT NULL,
    finished_at BIGINT,
    last_status INTEGER DEFAULT 0 NOT NULL,
    last_error TEXT DEFAULT '' NOT NULL,
    last_response TEXT DEFAULT '' NOT NULL,
    receiver_id INTEGER,
    size INTEGER DEFAULT 0 NOT NULL,
    redelivered_at BIGINT,
    last_error_form TEXT DEFAULT '' NOT NULL, failed_tries INTEGER DEFAULT 0 NOT NULL, retry_at BIGINT,
    CONSTRAINT fk_deliveries_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_deliveries_delivery_id UNIQUE (delivery_id)
);

CREATE INDEX ix_deliveries_arriving ON deliveries (id) WHERE receiver_id IS NULL AND state = 'pending';

CREATE INDEX ix_deliveries_finished ON deliveries (finished_at) WHERE finished_at IS NOT NULL;

CREATE INDEX ix_deliveries_retrying ON deliveries (receiver_id, retry_at) WHERE retry_at IS NOT NULL AND state = 'pending';

CREATE INDEX ix_deliveries_saved ON deliveries (user_id, id) WHERE event_type = 'save_entry';

CREATE INDEX ix_deliveries_user ON deliveries (user_id, id);

CREATE INDEX ix_deliveries_user_integration ON deliveries (user_id, integration, id);

CREATE INDEX ix_deliveries_user_state ON deliveries (user_id, state, id);

CREATE INDEX ix_deliveries_waiting ON deliveries (receiver_id, id, retry_at) WHERE state = 'pending';

CREATE TABLE delivery_bodies (
    delivery_id INTEGER NOT NULL,
    body BLOB NOT NULL,
    CONSTRAINT fk_delivery_bodies_delivery_id_deliveries FOREIGN KEY(delivery_id) REFERENCES deliveries (id) ON DELETE CASCADE,
    CONSTRAINT pk_delivery_bodies PRIMARY KEY (delivery_id)
);

CREATE TABLE duplicate_keys (
    entry_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    address BIGINT,
    identity BIGINT,
    title BIGINT,
    published_at BIGINT NOT NULL,
    CONSTRAINT fk_duplicate_keys_entry_id_entries FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
    CONSTRAINT pk_duplicate_keys PRIMARY KEY (entry_id)
);

CREATE INDEX ix_duplicate_keys_address ON duplicate_keys (user_id, address, entry_id);

CREATE INDEX ix_duplicate_keys_identity ON duplicate_keys (user_id, identity, entry_id);

CREATE INDEX ix_duplicate_keys_title ON duplicate_keys (user_id, title, published_at, entry_id);

CREATE TABLE duplicate_scans (
    user_id INTEGER NOT NULL,
    mode TEXT NOT NULL,
    kept_feeds TEXT DEFAULT '[]' NOT NULL,
    is_released BOOLEAN DEFAULT 0 NOT NULL,
    position INTEGER NOT NULL,
    CONSTRAINT fk_duplicate_scans_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT pk_duplicate_scans PRIMARY KEY (user_id)
);

CREATE TABLE duplicates (
    entry_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    original_id INTEGER NOT NULL,
    status SMALLINT NOT NULL,
    original_status SMALLINT NOT NULL,
    found_at BIGINT NOT NULL,
    compared BOOLEAN DEFAULT true NOT NULL, by_page BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT fk_duplicates_entry_id_entries FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
    CONSTRAINT pk_duplicates PRIMARY KEY (entry_id)
);

CREATE INDEX ix_duplicates_compared ON duplicates (user_id, compared) WHERE compared = false;

CREATE INDEX ix_duplicates_user_original ON duplicates (user_id, original_id, entry_id);

CREATE TABLE enclosures (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    entry_id INTEGER NOT NULL,
    url TEXT NOT NULL,
    mime_type TEXT DEFAULT '' NOT NULL,
    size BIGINT DEFAULT 0 NOT NULL,
    media_progression BIGINT DEFAULT 0 NOT NULL,
    queue_position INTEGER,
    CONSTRAINT fk_enclosures_entry_id_entries FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX ix_enclosures_entry ON enclosures (entry_id, id);

CREATE INDEX ix_enclosures_queue ON enclosures (user_id, queue_position) WHERE queue_position IS NOT NULL;

CREATE INDEX ix_enclosures_user_kind ON enclosures (user_id, substr(mime_type, 1, 6), entry_id);

CREATE TABLE entries (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    feed_id INTEGER NOT NULL,
    category_id INTEGER NOT NULL,
    status SMALLINT NOT NULL,
    starred BOOLEAN DEFAULT false NOT NULL,
    published_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    hash BLOB NOT NULL,
    fingerprint BLOB,
    edited INTEGER DEFAULT 0 NOT NULL,
    reading_time INTEGER DEFAULT 0 NOT NULL,
    title TEXT NOT NULL,
    url TEXT DEFAULT '' NOT NULL,
    author TEXT DEFAULT '' NOT NULL,
    comments_url TEXT DEFAULT '' NOT NULL,
    language TEXT DEFAULT '' NOT NULL,
    share_code TEXT DEFAULT '' NOT NULL,
    tags TEXT DEFAULT '[]' NOT NULL, hidden BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT fk_entries_feed_id_feeds FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
    CONSTRAINT uq_entries_feed_id_hash UNIQUE (feed_id, hash)
);

CREATE INDEX ix_entries_category_published ON entries (user_id, category_id, published_at, id);

CREATE INDEX ix_entries_category_unread ON entries (user_id, category_id, status, published_at, id) WHERE status = 0;

CREATE INDEX ix_entries_feed_published ON entries (feed_id, published_at, id, status);

CREATE UNIQUE INDEX ix_entries_share_code ON entries (share_code) WHERE share_code <> '';

CREATE INDEX ix_entries_user_author ON entries (user_id, substr(author, 1, 100), id);

CREATE INDEX ix_entries_user_changed ON entries (user_id, changed_at, id, status);

CREATE INDEX ix_entries_user_created ON entries (user_id, created_at, id);

CREATE INDEX ix_entries_user_hidden ON entries (user_id, hidden, status, feed_id, starred, id) WHERE hidden = true;

CREATE INDEX ix_entries_user_id ON entries (user_id, id, status);

CREATE INDEX ix_entries_user_language ON entries (user_id, substr(language, 1, 100), id, status);

CREATE INDEX ix_entries_user_published ON entries (user_id, published_at, id, status);

CREATE INDEX ix_entries_user_reading_time ON entries (user_id, reading_time, id, status);

CREATE INDEX ix_entries_user_starred ON entries (user_id, starred, published_at, id) WHERE starred = true;

CREATE INDEX ix_entries_user_status ON entries (user_id, status, id);

CREATE INDEX ix_entries_user_title ON entries (user_id, substr(title, 1, 100), id);

CREATE INDEX ix_entries_user_unread ON entries (user_id, status, published_at, id, hidden) WHERE status = 0;

CREATE TABLE entry_contents (
    entry_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    content BLOB NOT NULL,
    other_content BLOB,
    chapters TEXT DEFAULT '' NOT NULL, shared_id INTEGER CONSTRAINT fk_entry_contents_shared_id_shared_contents REFERENCES shared_contents (id),
    CONSTRAINT fk_entry_contents_entry_id_entries FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
    CONSTRAINT pk_entry_contents PRIMARY KEY (entry_id)
);

CREATE INDEX ix_entry_contents_shared ON entry_contents (shared_id) WHERE shared_id IS NOT NULL;

CREATE TABLE entry_labels (
    label_id INTEGER NOT NULL,
    entry_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    published_at BIGINT NOT NULL,
    CONSTRAINT fk_entry_labels_entry_id_entries FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
    CONSTRAINT fk_entry_labels_label_id_labels FOREIGN KEY(label_id) REFERENCES labels (id) ON DELETE CASCADE,
    CONSTRAINT pk_entry_labels PRIMARY KEY (label_id, entry_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_entry_labels_entry_id ON entry_labels (entry_id);

CREATE INDEX ix_entry_labels_published ON entry_labels (label_id, published_at, entry_id, user_id);

CREATE TABLE entry_tags (
    user_id INTEGER NOT NULL,
    tag TEXT NOT NULL,
    entry_id INTEGER NOT NULL,
    CONSTRAINT fk_entry_tags_entry_id_entries FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
    CONSTRAINT pk_entry_tags PRIMARY KEY (user_id, tag, entry_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_entry_tags_entry_id ON entry_tags (entry_id);

CREATE TABLE entry_versions (
    entry_id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    title TEXT NOT NULL,
    content BLOB NOT NULL,
    replaced_at BIGINT NOT NULL,
    CONSTRAINT fk_entry_versions_entry_id_entries FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
    CONSTRAINT pk_entry_versions PRIMARY KEY (entry_id, version)
);

CREATE VIRTUAL TABLE entry_words USING fts5(body, title, content='', tokenize = "ascii tokenchars '/'");

CREATE TABLE 'entry_words_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE 'entry_words_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'entry_words_docsize'(id INTEGER PRIMARY KEY, sz BLOB);

CREATE TABLE 'entry_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE feed_categories (
    feed_id INTEGER NOT NULL,
    category_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    CONSTRAINT fk_feed_categories_category_id_categories FOREIGN KEY(category_id) REFERENCES categories (id) ON DELETE CASCADE,
    CONSTRAINT fk_feed_categories_feed_id_feeds FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
    CONSTRAINT pk_feed_categories PRIMARY KEY (feed_id, category_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_feed_categories_category ON feed_categories (category_id, feed_id);

CREATE INDEX ix_feed_categories_user ON feed_categories (user_id, feed_id, category_id);

CREATE TABLE feed_counters (
    feed_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    unread INTEGER DEFAULT 0 NOT NULL,
    read INTEGER DEFAULT 0 NOT NULL,
    starred_unread INTEGER DEFAULT 0 NOT NULL,
    starred_read INTEGER DEFAULT 0 NOT NULL,
    version BIGINT DEFAULT 0 NOT NULL,
    CONSTRAINT fk_feed_counters_feed_id_feeds FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
    CONSTRAINT pk_feed_counters PRIMARY KEY (feed_id)
);

CREATE INDEX ix_feed_counters_user_id ON feed_counters (user_id);

CREATE TABLE feeds (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    category_id INTEGER NOT NULL,
    icon_id INTEGER,
    feed_url TEXT NOT NULL,
    site_url TEXT DEFAULT '' NOT NULL,
    title TEXT NOT NULL,
    title_key TEXT NOT NULL,
    description TEXT DEFAULT '' NOT NULL,
    language TEXT DEFAULT '' NOT NULL,
    edited INTEGER DEFAULT 0 NOT NULL,
    created_at BIGINT NOT NULL,
    checked_at BIGINT NOT NULL,
    next_check_at BIGINT NOT NULL,
    etag_header TEXT DEFAULT '' NOT NULL,
    last_modified_header TEXT DEFAULT '' NOT NULL,
    body_digest BLOB,
    parsing_error_message TEXT DEFAULT '' NOT NULL,
    parsing_error_count INTEGER DEFAULT 0 NOT NULL,
    disabled BOOLEAN DEFAULT false NOT NULL,
    user_agent TEXT DEFAULT '' NOT NULL,
    cookie TEXT DEFAULT '' NOT NULL,
    username TEXT DEFAULT '' NOT NULL,
    password TEXT DEFAULT '' NOT NULL,
    proxy_url TEXT DEFAULT '' NOT NULL,
    fetch_via_proxy BOOLEAN DEFAULT false NOT NULL,
    ignore_http_cache BOOLEAN DEFAULT false NOT NULL,
    allow_self_signed_certificates BOOLEAN DEFAULT false NOT NULL,
    disable_http2 BOOLEAN DEFAULT false NOT NULL,
    crawler BOOLEAN DEFAULT false NOT NULL,
    ignore_entry_updates BOOLEAN DEFAULT false NOT NULL,
    hide_globally BOOLEAN DEFAULT false NOT NULL,
    no_media_player BOOLEAN DEFAULT false NOT NULL,
    scraper_rules TEXT DEFAULT '' NOT NULL,
    rewrite_rules TEXT DEFAULT '' NOT NULL,
    urlrewrite_rules TEXT DEFAULT '' NOT NULL,
    blocklist_rules TEXT DEFAULT '' NOT NULL,
    keeplist_rules TEXT DEFAULT '' NOT NULL,
    block_filter_entry_rules TEXT DEFAULT '' NOT NULL,
    keep_filter_entry_rules TEXT DEFAULT '' NOT NULL,
    apprise_service_urls TEXT DEFAULT '' NOT NULL,
    webhook_url TEXT DEFAULT '' NOT NULL,
    ntfy_enabled BOOLEAN DEFAULT false NOT NULL,
    ntfy_priority INTEGER DEFAULT 3 NOT NULL,
    ntfy_topic TEXT DEFAULT '' NOT NULL,
    pushover_enabled BOOLEAN DEFAULT false NOT NULL,
    pushover_priority INTEGER DEFAULT 0 NOT NULL,
    icon_url TEXT DEFAULT '' NOT NULL,
    icon_checked_at BIGINT,
    moved_to TEXT DEFAULT '' NOT NULL,
    moved_times INTEGER DEFAULT 0 NOT NULL,
    match_entries_by_url BOOLEAN DEFAULT false NOT NULL,
    once_matched_by_url BOOLEAN DEFAULT false NOT NULL,
    failed_checks INTEGER DEFAULT 0 NOT NULL,
    check_interval_minutes INTEGER DEFAULT 0 NOT NULL,
    news_gap_s INTEGER DEFAULT 0 NOT NULL,
    publisher_hints TEXT DEFAULT '' NOT NULL,
    news_at BIGINT,
    source_id INTEGER,
    parsed_at BIGINT,
    keep_read_days INTEGER,
    keep_unread_days INTEGER,
    took_ms INTEGER DEFAULT 0 NOT NULL,
    parsing_error_form TEXT DEFAULT '' NOT NULL,
    limits_reached TEXT DEFAULT '' NOT NULL,
    disabled_reason TEXT DEFAULT '' NOT NULL, keep_duplicates BOOLEAN DEFAULT 0 NOT NULL, is_failing BOOLEAN DEFAULT 0 NOT NULL, discard_versions BOOLEAN DEFAULT 0 NOT NULL, page_items INTEGER DEFAULT 0 NOT NULL, kind TEXT DEFAULT '' NOT NULL, selectors TEXT DEFAULT '' NOT NULL, fetch_via_flaresolverr BOOLEAN DEFAULT 0 NOT NULL, own_bridge BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT fk_feeds_category_id_categories FOREIGN KEY(category_id) REFERENCES categories (id) ON DELETE CASCADE,
    CONSTRAINT fk_feeds_icon_id_icons FOREIGN KEY(icon_id) REFERENCES icons (id) ON DELETE SET NULL,
    CONSTRAINT fk_feeds_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id),
    CONSTRAINT fk_feeds_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_feeds_user_id_feed_url UNIQUE (user_id, feed_url)
);

CREATE INDEX ix_feeds_category ON feeds (category_id);

CREATE INDEX ix_feeds_icon ON feeds (icon_id);

CREATE INDEX ix_feeds_keep_duplicates ON feeds (user_id, id) WHERE keep_duplicates = true;

CREATE INDEX ix_feeds_source ON feeds (source_id, disabled, next_check_at);

CREATE TABLE host_attempts (
    user_id INTEGER NOT NULL,
    host TEXT NOT NULL,
    last_at BIGINT NOT NULL,
    CONSTRAINT fk_host_attempts_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT pk_host_attempts PRIMARY KEY (user_id, host)
)
 WITHOUT ROWID;

CREATE TABLE hosts (
    host TEXT NOT NULL,
    closed_until BIGINT NOT NULL,
    is_asked BOOLEAN DEFAULT 0 NOT NULL,
    asked_until BIGINT,
    CONSTRAINT pk_hosts PRIMARY KEY (host)
)
 WITHOUT ROWID;

CREATE TABLE icons (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    digest TEXT NOT NULL,
    external_id TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    content BLOB NOT NULL,
    CONSTRAINT uq_icons_digest UNIQUE (digest),
    CONSTRAINT uq_icons_external_id UNIQUE (external_id)
);

CREATE TABLE identities (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    name TEXT DEFAULT '' NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    CONSTRAINT fk_identities_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_identities_issuer_subject UNIQUE (issuer, subject)
);

CREATE INDEX ix_identities_user ON identities (user_id);

CREATE TABLE integrations (
    user_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    enabled BOOLEAN DEFAULT false NOT NULL,
    settings TEXT DEFAULT '{}' NOT NULL,
    changed_at BIGINT NOT NULL,
    last_error TEXT DEFAULT '' NOT NULL,
    last_error_form TEXT DEFAULT '' NOT NULL,
    CONSTRAINT fk_integrations_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT pk_integrations PRIMARY KEY (user_id, name)
);

CREATE TABLE labels (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL, color TEXT DEFAULT '' NOT NULL, position INTEGER,
    CONSTRAINT fk_labels_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_labels_user_id_name_key UNIQUE (user_id, name_key)
);

CREATE TABLE list_links (
    user_id INTEGER NOT NULL,
    token TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT fk_list_links_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT pk_list_links PRIMARY KEY (user_id),
    CONSTRAINT uq_list_links_token UNIQUE (token)
);

CREATE TABLE list_settings (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    list TEXT NOT NULL,
    feed_id INTEGER,
    category_id INTEGER,
    label_id INTEGER,
    direction TEXT DEFAULT '' NOT NULL,
    density TEXT DEFAULT '' NOT NULL,
    CONSTRAINT fk_list_settings_category_id_categories FOREIGN KEY(category_id) REFERENCES categories (id) ON DELETE CASCADE,
    CONSTRAINT fk_list_settings_feed_id_feeds FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
    CONSTRAINT fk_list_settings_label_id_labels FOREIGN KEY(label_id) REFERENCES labels (id) ON DELETE CASCADE,
    CONSTRAINT fk_list_settings_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_list_settings_user_id_list UNIQUE (user_id, list)
);

CREATE INDEX ix_list_settings_category ON list_settings (category_id) WHERE category_id IS NOT NULL;

CREATE INDEX ix_list_settings_feed ON list_settings (feed_id) WHERE feed_id IS NOT NULL;

CREATE INDEX ix_list_settings_label ON list_settings (label_id) WHERE label_id IS NOT NULL;

CREATE TABLE list_versions (
    user_id INTEGER NOT NULL,
    version BIGINT DEFAULT 0 NOT NULL, number BIGINT DEFAULT 0 NOT NULL,
    CONSTRAINT fk_list_versions_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT pk_list_versions PRIMARY KEY (user_id)
);

CREATE TABLE newsletter_addresses (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    secret TEXT NOT NULL,
    is_one_feed BOOLEAN DEFAULT 0 NOT NULL,
    category_id INTEGER,
    created_at BIGINT NOT NULL,
    last_letter_at BIGINT,
    letters INTEGER DEFAULT 0 NOT NULL,
    hour INTEGER DEFAULT 0 NOT NULL,
    hour_letters INTEGER DEFAULT 0 NOT NULL,
    CONSTRAINT fk_newsletter_addresses_category_id_categories FOREIGN KEY(category_id) REFERENCES categories (id) ON DELETE SET NULL,
    CONSTRAINT fk_newsletter_addresses_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_newsletter_addresses_secret UNIQUE (secret)
);

CREATE INDEX ix_newsletter_addresses_category ON newsletter_addresses (category_id) WHERE category_id IS NOT NULL;

CREATE INDEX ix_newsletter_addresses_user ON newsletter_addresses (user_id, id);

CREATE TABLE newsletter_letters (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    digest BLOB NOT NULL,
    received_at BIGINT NOT NULL,
    CONSTRAINT fk_newsletter_letters_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_newsletter_letters_user_id_digest UNIQUE (user_id, digest)
);

CREATE INDEX ix_newsletter_letters_received ON newsletter_letters (received_at);

CREATE TABLE newsletter_mailboxes (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER,
    is_shared BOOLEAN DEFAULT 0 NOT NULL,
    host TEXT NOT NULL,
    port INTEGER DEFAULT 993 NOT NULL,
    has_tls BOOLEAN DEFAULT 1 NOT NULL,
    username TEXT NOT NULL,
    password TEXT DEFAULT '' NOT NULL,
    folder TEXT NOT NULL,
    marks_seen BOOLEAN DEFAULT 0 NOT NULL,
    uid_validity BIGINT DEFAULT 0 NOT NULL,
    last_uid BIGINT DEFAULT 0 NOT NULL,
    horizon_uid BIGINT DEFAULT 0 NOT NULL,
    letters_since BIGINT NOT NULL,
    "deferred" TEXT DEFAULT '' NOT NULL,
    polled_at BIGINT,
    next_poll_at BIGINT NOT NULL,
    failures INTEGER DEFAULT 0 NOT NULL,
    error TEXT DEFAULT '' NOT NULL,
    error_form TEXT DEFAULT '' NOT NULL,
    letters INTEGER DEFAULT 0 NOT NULL,
    claimed_until BIGINT,
    claimed_by TEXT DEFAULT '' NOT NULL, has_starttls BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT fk_newsletter_mailboxes_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_newsletter_mailboxes_user_id UNIQUE (user_id)
);

CREATE INDEX ix_newsletter_mailboxes_due ON newsletter_mailboxes (next_poll_at, id);

CREATE UNIQUE INDEX uq_newsletter_mailboxes_shared ON newsletter_mailboxes (is_shared) WHERE is_shared;

CREATE TABLE newsletter_senders (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    sender_key TEXT NOT NULL,
    name TEXT NOT NULL,
    address TEXT DEFAULT '' NOT NULL,
    feed_id INTEGER,
    is_blocked BOOLEAN DEFAULT 0 NOT NULL,
    letters INTEGER DEFAULT 0 NOT NULL,
    discarded INTEGER DEFAULT 0 NOT NULL,
    last_letter_at BIGINT,
    unsubscribe_url TEXT DEFAULT '' NOT NULL,
    unsubscribe_mail TEXT DEFAULT '' NOT NULL,
    is_one_click BOOLEAN DEFAULT 0 NOT NULL,
    unsubscribed_at BIGINT,
    authentication TEXT DEFAULT '' NOT NULL,
    is_spam BOOLEAN DEFAULT 0 NOT NULL,
    confirmation_url TEXT DEFAULT '' NOT NULL,
    confirmation_subject TEXT DEFAULT '' NOT NULL,
    CONSTRAINT fk_newsletter_senders_feed_id_feeds FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE SET NULL,
    CONSTRAINT fk_newsletter_senders_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_newsletter_senders_user_id_sender_key UNIQUE (user_id, sender_key)
);

CREATE INDEX ix_newsletter_senders_feed ON newsletter_senders (feed_id) WHERE feed_id IS NOT NULL;

CREATE TABLE opml_feeds (
    subscription_id INTEGER NOT NULL,
    url TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    feed_id INTEGER,
    missing_since BIGINT,
    CONSTRAINT fk_opml_feeds_feed_id_feeds FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE SET NULL,
    CONSTRAINT fk_opml_feeds_subscription_id_opml_subscriptions FOREIGN KEY(subscription_id) REFERENCES opml_subscriptions (id) ON DELETE CASCADE,
    CONSTRAINT pk_opml_feeds PRIMARY KEY (subscription_id, url)
)
 WITHOUT ROWID;

CREATE INDEX ix_opml_feeds_feed ON opml_feeds (feed_id) WHERE feed_id IS NOT NULL;

CREATE TABLE opml_subscriptions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    url TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    etag TEXT DEFAULT '' NOT NULL,
    last_modified TEXT DEFAULT '' NOT NULL,
    created_at BIGINT NOT NULL,
    checked_at BIGINT NOT NULL,
    next_check_at BIGINT NOT NULL,
    failures INTEGER DEFAULT 0 NOT NULL,
    error TEXT DEFAULT '' NOT NULL,
    error_form TEXT DEFAULT '' NOT NULL,
    claimed_until BIGINT,
    claimed_by TEXT DEFAULT '' NOT NULL,
    CONSTRAINT fk_opml_subscriptions_category_id_categories FOREIGN KEY(category_id) REFERENCES categories (id) ON DELETE CASCADE,
    CONSTRAINT fk_opml_subscriptions_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_opml_subscriptions_user_id_url UNIQUE (user_id, url)
);

CREATE INDEX ix_opml_subscriptions_category ON opml_subscriptions (category_id);

CREATE INDEX ix_opml_subscriptions_due ON opml_subscriptions (next_check_at, id);

CREATE TABLE page_addresses (
    entry_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    url TEXT NOT NULL,
    address BIGINT NOT NULL,
    CONSTRAINT fk_page_addresses_entry_id_entries FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
    CONSTRAINT pk_page_addresses PRIMARY KEY (entry_id)
);

CREATE INDEX ix_page_addresses_address ON page_addresses (user_id, address, entry_id);

CREATE TABLE passkeys (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    credential_id BLOB NOT NULL,
    public_key BLOB NOT NULL,
    sign_count BIGINT DEFAULT 0 NOT NULL,
    transports TEXT DEFAULT '' NOT NULL,
    host TEXT NOT NULL,
    works_alone BOOLEAN DEFAULT 0 NOT NULL,
    is_syncable BOOLEAN DEFAULT 0 NOT NULL,
    is_synced BOOLEAN DEFAULT 0 NOT NULL,
    aaguid TEXT DEFAULT '' NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    CONSTRAINT fk_passkeys_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_passkeys_credential_id UNIQUE (credential_id)
);

CREATE INDEX ix_passkeys_user_id ON passkeys (user_id);

CREATE TABLE pending_sign_ins (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    token_hash BLOB NOT NULL,
    method TEXT DEFAULT '' NOT NULL,
    next TEXT DEFAULT '' NOT NULL,
    is_shared BOOLEAN DEFAULT 0 NOT NULL,
    note TEXT DEFAULT '' NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT fk_pending_sign_ins_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_pending_sign_ins_token_hash UNIQUE (token_hash)
);

CREATE INDEX ix_pending_sign_ins_expires ON pending_sign_ins (expires_at);

CREATE INDEX ix_pending_sign_ins_user ON pending_sign_ins (user_id);

CREATE TABLE provider_sessions (
    session_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    provider_session_id TEXT DEFAULT '' NOT NULL,
    id_token TEXT DEFAULT '' NOT NULL,
    CONSTRAINT fk_provider_sessions_session_id_sessions FOREIGN KEY(session_id) REFERENCES sessions (id) ON DELETE CASCADE,
    CONSTRAINT fk_provider_sessions_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT pk_provider_sessions PRIMARY KEY (session_id)
);

CREATE INDEX ix_provider_sessions_provider_session ON provider_sessions (issuer, provider_session_id);

CREATE INDEX ix_provider_sessions_subject ON provider_sessions (issuer, subject);

CREATE INDEX ix_provider_sessions_user ON provider_sessions (user_id);

CREATE TABLE read_after (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    category_id INTEGER,
    feed_id INTEGER,
    days INTEGER DEFAULT 0 NOT NULL,
    CONSTRAINT fk_read_after_category_id_categories FOREIGN KEY(category_id) REFERENCES categories (id) ON DELETE CASCADE,
    CONSTRAINT fk_read_after_feed_id_feeds FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE,
    CONSTRAINT fk_read_after_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX ix_read_after_category ON read_after (category_id) WHERE category_id IS NOT NULL;

CREATE INDEX ix_read_after_feed ON read_after (feed_id) WHERE feed_id IS NOT NULL;

CREATE INDEX ix_read_after_user ON read_after (user_id, id);

CREATE TABLE receivers (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    integration TEXT NOT NULL,
    address_digest BLOB NOT NULL,
    pending INTEGER DEFAULT 0 NOT NULL,
    pending_bytes BIGINT DEFAULT 0 NOT NULL,
    next_attempt_at BIGINT,
    failures INTEGER DEFAULT 0 NOT NULL,
    failing_since BIGINT,
    given_up INTEGER DEFAULT 0 NOT NULL,
    claimed_until BIGINT,
    claimed_by TEXT DEFAULT '' NOT NULL, attempted_id INTEGER,
    CONSTRAINT fk_receivers_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_receivers_user_id_integration_address_digest UNIQUE (user_id, integration, address_digest)
);

CREATE INDEX ix_receivers_claimed ON receivers (claimed_by) WHERE claimed_by <> '';

CREATE INDEX ix_receivers_due ON receivers (next_attempt_at, id) WHERE next_attempt_at IS NOT NULL AND failures = 0;

CREATE INDEX ix_receivers_failing ON receivers (next_attempt_at, id) WHERE next_attempt_at IS NOT NULL AND failures > 0;

CREATE TABLE recovery_codes (
    user_id INTEGER NOT NULL,
    digest BLOB NOT NULL,
    CONSTRAINT fk_recovery_codes_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT pk_recovery_codes PRIMARY KEY (user_id, digest)
);

CREATE TABLE rule_changed_entries (
    entry_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    changed_at BIGINT NOT NULL,
    CONSTRAINT fk_rule_changed_entries_entry_id_entries FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
    CONSTRAINT pk_rule_changed_entries PRIMARY KEY (entry_id)
);

CREATE TABLE rule_run_entries (
    run_id INTEGER NOT NULL,
    entry_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    status SMALLINT NOT NULL,
    starred BOOLEAN NOT NULL,
    changed_at BIGINT NOT NULL,
    label_ids TEXT DEFAULT '[]' NOT NULL, hidden BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT fk_rule_run_entries_entry_id_entries FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
    CONSTRAINT fk_rule_run_entries_run_id_rule_runs FOREIGN KEY(run_id) REFERENCES rule_runs (id) ON DELETE CASCADE,
    CONSTRAINT pk_rule_run_entries PRIMARY KEY (run_id, entry_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_rule_run_entries_entry_id ON rule_run_entries (entry_id);

CREATE TABLE rule_runs (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    rule_id INTEGER NOT NULL,
    "query" TEXT NOT NULL,
    category_id INTEGER,
    feed_id INTEGER,
    actions TEXT NOT NULL,
    timezone TEXT NOT NULL,
    state TEXT NOT NULL,
    before_entry_id INTEGER,
    total INTEGER DEFAULT 0 NOT NULL,
    changed INTEGER DEFAULT 0 NOT NULL,
    started_at BIGINT NOT NULL,
    finished_at BIGINT,
    claimed_until BIGINT,
    claimed_by TEXT DEFAULT '' NOT NULL,
    CONSTRAINT fk_rule_runs_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX ix_rule_runs_open ON rule_runs (id) WHERE state IN ('running', 'undoing');

CREATE INDEX ix_rule_runs_user ON rule_runs (user_id, id);

CREATE TABLE rules (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    position INTEGER DEFAULT 0 NOT NULL,
    name TEXT DEFAULT '' NOT NULL,
    enabled BOOLEAN DEFAULT true NOT NULL,
    scope TEXT DEFAULT 'all' NOT NULL,
    category_id INTEGER,
    feed_id INTEGER,
    "query" TEXT DEFAULT '' NOT NULL,
    actions TEXT DEFAULT '[]' NOT NULL,
    stop BOOLEAN DEFAULT 0 NOT NULL,
    for_changed BOOLEAN DEFAULT 0 NOT NULL,
    matched_total BIGINT DEFAULT 0 NOT NULL,
    matched_today INTEGER DEFAULT 0 NOT NULL,
    matched_day INTEGER DEFAULT 0 NOT NULL,
    matched_at BIGINT,
    CONSTRAINT fk_rules_category_id_categories FOREIGN KEY(category_id) REFERENCES categories (id) ON DELETE SET NULL,
    CONSTRAINT fk_rules_feed_id_feeds FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE SET NULL,
    CONSTRAINT fk_rules_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX ix_rules_category ON rules (category_id) WHERE category_id IS NOT NULL;

CREATE INDEX ix_rules_feed ON rules (feed_id) WHERE feed_id IS NOT NULL;

CREATE INDEX ix_rules_user ON rules (user_id, position, id);

CREATE TABLE search_documents (
    id INTEGER NOT NULL,
    entry_id INTEGER,
    user_id INTEGER NOT NULL,
    words BLOB NOT NULL,
    language TEXT DEFAULT '' NOT NULL, word_count INTEGER DEFAULT 0 NOT NULL, terms_id INTEGER CONSTRAINT fk_search_documents_terms_id_search_terms REFERENCES search_terms (id),
    CONSTRAINT fk_search_documents_entry_id_entries FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE SET NULL,
    CONSTRAINT pk_search_documents PRIMARY KEY (id),
    CONSTRAINT uq_search_documents_entry_id UNIQUE (entry_id)
);

CREATE INDEX ix_search_documents_terms ON search_documents (terms_id) WHERE terms_id IS NOT NULL;

CREATE INDEX ix_search_documents_word_count ON search_documents (user_id, word_count, entry_id);

CREATE TABLE search_languages (
    user_id INTEGER NOT NULL,
    language TEXT NOT NULL,
    CONSTRAINT fk_search_languages_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT pk_search_languages PRIMARY KEY (user_id, language)
)
 WITHOUT ROWID;

CREATE TABLE search_pending (
    entry_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    CONSTRAINT pk_search_pending PRIMARY KEY (entry_id)
);

CREATE INDEX ix_search_pending_user ON search_pending (user_id, entry_id);

CREATE TABLE search_terms (
    id INTEGER NOT NULL,
    digest BLOB NOT NULL,
    words BLOB NOT NULL,
    CONSTRAINT pk_search_terms PRIMARY KEY (id),
    CONSTRAINT uq_search_terms_digest UNIQUE (digest)
);

CREATE TABLE second_factors (
    user_id INTEGER NOT NULL,
    secret TEXT DEFAULT '' NOT NULL,
    last_step BIGINT DEFAULT 0 NOT NULL,
    asks_for_passkey BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT fk_second_factors_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT pk_second_factors PRIMARY KEY (user_id)
);

CREATE TABLE server_secrets (
    name TEXT NOT NULL,
    secret BLOB NOT NULL,
    CONSTRAINT pk_server_secrets PRIMARY KEY (name)
)
 WITHOUT ROWID;

CREATE TABLE sessions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    token_hash BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    user_agent TEXT DEFAULT '' NOT NULL,
    address TEXT DEFAULT '' NOT NULL, method TEXT DEFAULT '' NOT NULL, authenticated_at BIGINT DEFAULT 0 NOT NULL,
    CONSTRAINT fk_sessions_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_sessions_token_hash UNIQUE (token_hash)
);

CREATE INDEX ix_sessions_expires ON sessions (expires_at);

CREATE INDEX ix_sessions_user ON sessions (user_id, last_seen_at);

CREATE TABLE shared_contents (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    source_id INTEGER NOT NULL,
    digest BLOB NOT NULL,
    content BLOB NOT NULL,
    CONSTRAINT uq_shared_contents_source_id_digest UNIQUE (source_id, digest)
);

CREATE TABLE sign_in_failures (
    lane BLOB NOT NULL,
    failures INTEGER DEFAULT 0 NOT NULL,
    last_at BIGINT NOT NULL,
    next_turn_at BIGINT NOT NULL,
    CONSTRAINT pk_sign_in_failures PRIMARY KEY (lane)
);

CREATE INDEX ix_sign_in_failures_last_at ON sign_in_failures (last_at);

CREATE TABLE snoozed_entries (
    entry_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    until BIGINT NOT NULL,
    CONSTRAINT fk_snoozed_entries_entry_id_entries FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
    CONSTRAINT pk_snoozed_entries PRIMARY KEY (entry_id)
);

CREATE INDEX ix_snoozed_entries_until ON snoozed_entries (until, user_id);

CREATE INDEX ix_snoozed_entries_user ON snoozed_entries (user_id, until, entry_id);

CREATE TABLE sources (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    fetch_key BLOB NOT NULL,
    host TEXT NOT NULL,
    next_check_at BIGINT,
    claimed_until BIGINT,
    claimed_by TEXT DEFAULT '' NOT NULL, unshared_after INTEGER, is_shared BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT uq_sources_fetch_key UNIQUE (fetch_key)
);

CREATE INDEX ix_sources_claimed ON sources (host, claimed_until) WHERE claimed_by <> '';

CREATE INDEX ix_sources_claimed_by ON sources (claimed_by) WHERE claimed_by <> '';

CREATE INDEX ix_sources_due ON sources (next_check_at, id) WHERE next_check_at IS NOT NULL;

CREATE INDEX ix_sources_host ON sources (host, next_check_at);

CREATE INDEX ix_sources_unshared ON sources (id) WHERE unshared_after IS NOT NULL;

CREATE TABLE spent_challenges (
    nonce BLOB NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT pk_spent_challenges PRIMARY KEY (nonce)
);

CREATE INDEX ix_spent_challenges_expires_at ON spent_challenges (expires_at);

CREATE TABLE "tombstones" (
        feed_id INTEGER NOT NULL, hash BLOB NOT NULL, seen_at BIGINT NOT NULL, user_id INTEGER NOT NULL,
        CONSTRAINT pk_tombstones PRIMARY KEY (feed_id, hash),
        CONSTRAINT fk_tombstones_feed_id_feeds FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE
    ) WITHOUT ROWID;

CREATE TABLE user_bridges (
    user_id INTEGER NOT NULL,
    rssbridge_url TEXT DEFAULT '' NOT NULL,
    rsshub_url TEXT DEFAULT '' NOT NULL,
    flaresolverr_url TEXT DEFAULT '' NOT NULL,
    taken_until BIGINT,
    taken_by TEXT DEFAULT '' NOT NULL,
    CONSTRAINT fk_user_bridges_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT pk_user_bridges PRIMARY KEY (user_id)
);

CREATE TABLE users (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    username TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    is_admin BOOLEAN DEFAULT false NOT NULL,
    created_at BIGINT NOT NULL,
    last_login_at BIGINT,
    theme TEXT DEFAULT 'light_serif' NOT NULL,
    language TEXT DEFAULT 'en_US' NOT NULL,
    timezone TEXT DEFAULT 'UTC' NOT NULL,
    entry_sorting_direction TEXT DEFAULT 'asc' NOT NULL,
    entry_sorting_order TEXT DEFAULT 'published_at' NOT NULL,
    categories_sorting_order TEXT DEFAULT 'unread_count' NOT NULL,
    entries_per_page INTEGER DEFAULT 100 NOT NULL,
    default_home_page TEXT DEFAULT 'unread' NOT NULL,
    display_mode TEXT DEFAULT 'standalone' NOT NULL,
    gesture_nav TEXT DEFAULT 'tap' NOT NULL,
    keyboard_shortcuts BOOLEAN DEFAULT true NOT NULL,
    show_reading_time BOOLEAN DEFAULT true NOT NULL,
    entry_swipe BOOLEAN DEFAULT true NOT NULL,
    default_reading_speed INTEGER DEFAULT 265 NOT NULL,
    cjk_reading_speed INTEGER DEFAULT 500 NOT NULL,
    media_playback_rate FLOAT DEFAULT 1 NOT NULL,
    mark_read_on_view BOOLEAN DEFAULT true NOT NULL,
    mark_read_on_media_player_completion BOOLEAN DEFAULT false NOT NULL,
    always_open_external_links BOOLEAN DEFAULT false NOT NULL,
    open_external_links_in_new_tab BOOLEAN DEFAULT true NOT NULL,
    stylesheet TEXT DEFAULT '' NOT NULL,
    custom_js TEXT DEFAULT '' NOT NULL,
    external_font_hosts TEXT DEFAULT '' NOT NULL,
    google_id TEXT DEFAULT '' NOT NULL,
    openid_connect_id TEXT DEFAULT '' NOT NULL,
    block_filter_entry_rules TEXT DEFAULT '' NOT NULL,
    keep_filter_entry_rules TEXT DEFAULT '' NOT NULL,
    allow_account_password_in_apps BOOLEAN DEFAULT true NOT NULL,
    reading_times_after INTEGER,
    has_chosen_theme BOOLEAN DEFAULT 0 NOT NULL,
    has_chosen_direction BOOLEAN DEFAULT 0 NOT NULL,
    proxies_pictures BOOLEAN DEFAULT 0 NOT NULL,
    saves_starred BOOLEAN DEFAULT 0 NOT NULL, category_titles TEXT DEFAULT 'path' NOT NULL, duplicates TEXT DEFAULT 'off' NOT NULL, duplicates_in_apps TEXT DEFAULT 'hide' NOT NULL, hides_unread_counts BOOLEAN DEFAULT 0 NOT NULL, shortcuts TEXT DEFAULT '' NOT NULL,
    CONSTRAINT uq_users_username UNIQUE (username)
);

CREATE UNIQUE INDEX uq_users_google_id ON users (google_id) WHERE google_id <> '';

CREATE UNIQUE INDEX uq_users_openid_connect_id ON users (openid_connect_id) WHERE openid_connect_id <> '';

CREATE TABLE views (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    "query" TEXT DEFAULT '' NOT NULL,
    entry_order TEXT DEFAULT 'published_at' NOT NULL,
    direction TEXT DEFAULT 'desc' NOT NULL,
    density TEXT DEFAULT '' NOT NULL,
    icon TEXT DEFAULT 'filter' NOT NULL,
    position INTEGER DEFAULT 0 NOT NULL,
    in_apps BOOLEAN DEFAULT 0 NOT NULL,
    is_home BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT fk_views_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_views_user_id_name_key UNIQUE (user_id, name_key)
);

CREATE TABLE webhooks (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL,
    name TEXT DEFAULT '' NOT NULL,
    is_main BOOLEAN DEFAULT 0 NOT NULL,
    enabled BOOLEAN DEFAULT 0 NOT NULL,
    settings TEXT DEFAULT '{}' NOT NULL,
    events TEXT DEFAULT '[]' NOT NULL,
    feed_ids TEXT DEFAULT '[]' NOT NULL,
    category_ids TEXT DEFAULT '[]' NOT NULL,
    "query" TEXT DEFAULT '' NOT NULL,
    changed_at BIGINT NOT NULL,
    last_error TEXT DEFAULT '' NOT NULL,
    last_error_form TEXT DEFAULT '' NOT NULL,
    CONSTRAINT fk_webhooks_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX ix_webhooks_main ON webhooks (user_id) WHERE is_main;

CREATE INDEX ix_webhooks_user ON webhooks (user_id, id);

CREATE TABLE websub_pushes (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    subscription_id INTEGER NOT NULL,
    digest BLOB NOT NULL,
    charset TEXT DEFAULT '' NOT NULL,
    body BLOB NOT NULL,
    received_at BIGINT NOT NULL,
    claimed_until BIGINT,
    attempts INTEGER DEFAULT 0 NOT NULL,
    CONSTRAINT fk_websub_pushes_subscription_id_websub_subscriptions FOREIGN KEY(subscription_id) REFERENCES websub_subscriptions (id) ON DELETE CASCADE,
    CONSTRAINT uq_websub_pushes_subscription_id_digest UNIQUE (subscription_id, digest)
);

CREATE TABLE websub_subscriptions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    hub TEXT NOT NULL,
    topic TEXT NOT NULL,
    token TEXT NOT NULL,
    secret TEXT NOT NULL,
    state TEXT DEFAULT 'requested' NOT NULL,
    asked_at BIGINT,
    lease_until BIGINT,
    last_push_at BIGINT,
    next_attempt_at BIGINT NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    last_error TEXT DEFAULT '' NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT uq_websub_subscriptions_hub_topic UNIQUE (hub, topic),
    CONSTRAINT uq_websub_subscriptions_token UNIQUE (token)
);

CREATE INDEX ix_websub_subscriptions_due ON websub_subscriptions (next_attempt_at, id);

CREATE TABLE websub_topics (
    source_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    CONSTRAINT fk_websub_topics_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE,
    CONSTRAINT fk_websub_topics_subscription_id_websub_subscriptions FOREIGN KEY(subscription_id) REFERENCES websub_subscriptions (id) ON DELETE CASCADE,
    CONSTRAINT pk_websub_topics PRIMARY KEY (source_id, subscription_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_websub_topics_subscription ON websub_topics (subscription_id);

