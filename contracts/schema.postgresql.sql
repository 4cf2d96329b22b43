TABLE account_imports
    user_id integer NOT NULL
    token text COLLATE "C" NOT NULL -- Of the process that runs it; a later one has another.
    source text COLLATE "C" NOT NULL -- tidings, miniflux, freshrss …
    origin text COLLATE "C" NOT NULL DEFAULT ''::text -- Name of the file, or address of the server.
    state text COLLATE "C" NOT NULL -- waiting, asking, running, done, failed, interrupted or expired.
    steps_done integer NOT NULL DEFAULT 0
    steps_total integer NOT NULL DEFAULT 0 -- 0 while unknown.
    started_at bigint NOT NULL
    renewed_at bigint NOT NULL -- Unless it is renewed within a minute, its process has ended.
    finished_at bigint
    report text COLLATE "C" NOT NULL DEFAULT ''::text -- JSON: what was done; while it asks, what it would change. Empty before.
    error text COLLATE "C" NOT NULL DEFAULT ''::text -- Why it failed.
    error_form text COLLATE "C" NOT NULL DEFAULT ''::text -- JSON: template and values of error; empty: English alone.
    fk_account_imports_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_account_imports PRIMARY KEY (user_id)
    CREATE UNIQUE INDEX pk_account_imports ON public.account_imports USING btree (user_id)

TABLE account_limits
    user_id integer NOT NULL
    max_feeds integer -- NULL: as the settings say; 0: without limit.
    max_entries integer -- NULL: as the settings say; 0: without limit.
    max_megabytes integer -- NULL: as the settings say; 0: without limit.
    size_bytes bigint -- What the articles take, as measured, and what arrived since.
    measured_at bigint -- NULL: never, since there was no limit.
    fk_account_limits_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_account_limits PRIMARY KEY (user_id)
    CREATE UNIQUE INDEX pk_account_limits ON public.account_limits USING btree (user_id)

TABLE account_links
    id integer NOT NULL DEFAULT nextval('account_links_id_seq'::regclass)
    token_hash bytea NOT NULL -- SHA-256 of the end of the link.
    for_user_id integer -- Who signs in with it; NULL for an invitation, with which someone creates an account.
    note text COLLATE "C" NOT NULL DEFAULT ''::text -- For whom it is, as the administrator calls them.
    invited_by text COLLATE "C" NOT NULL DEFAULT ''::text -- Name of the administrator; empty for the command line.
    is_admin boolean NOT NULL DEFAULT false -- The account that is created is an administrator's.
    limits text COLLATE "C" NOT NULL DEFAULT '{}'::text -- Of the account that is created, as JSON: see sign_in.limits_model.
    created_at bigint NOT NULL
    expires_at bigint NOT NULL
    fk_account_links_for_user_id_users FOREIGN KEY (for_user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_account_links PRIMARY KEY (id)
    uq_account_links_token_hash UNIQUE (token_hash)
    CREATE INDEX ix_account_links_expires ON public.account_links USING btree (expires_at)
    CREATE INDEX ix_account_links_for_user_id ON public.account_links USING btree (for_user_id)
    CREATE UNIQUE INDEX pk_account_links ON public.account_links USING btree (id)
    CREATE UNIQUE INDEX uq_account_links_token_hash ON public.account_links USING btree (token_hash)

TABLE account_log
    id bigint NOT NULL DEFAULT nextval('account_log_id_seq'::regclass)
    user_id integer -- Whose account it is; NULL for a refused name that nobody has, and for a user who was removed.
    kind text COLLATE "C" NOT NULL -- What happened: domain.accounts.events.EventKind.
    username text COLLATE "C" NOT NULL DEFAULT ''::text -- Of the user; empty for names that nobody has: a password may have been typed there.
    method text COLLATE "C" NOT NULL DEFAULT ''::text -- How the user proved to be who they are, or who did it; empty if unknown.
    second_method text COLLATE "C" NOT NULL DEFAULT ''::text -- The second step of a sign-in.
    address text COLLATE "C" NOT NULL DEFAULT ''::text -- From where; an asterisk for several addresses that share a row.
    user_agent text COLLATE "C" NOT NULL DEFAULT ''::text
    actor text COLLATE "C" NOT NULL DEFAULT ''::text -- Name of the administrator who did it; empty for the user.
    detail text COLLATE "C" NOT NULL DEFAULT ''::text -- The name of a key, the reason of a refusal; no secrets.
    times integer NOT NULL DEFAULT 1 -- How often it happened on this day.
    first_at bigint NOT NULL
    last_at bigint NOT NULL
    merge_key bytea -- Digest of what the same events of a day have in common; NULL for events with rows of their own.
    fk_account_log_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_account_log PRIMARY KEY (id)
    uq_account_log_merge_key UNIQUE (merge_key)
    CREATE INDEX ix_account_log_last_at ON public.account_log USING btree (last_at, id)
    CREATE INDEX ix_account_log_user ON public.account_log USING btree (user_id, last_at, id)
    CREATE UNIQUE INDEX pk_account_log ON public.account_log USING btree (id)
    CREATE UNIQUE INDEX uq_account_log_merge_key ON public.account_log USING btree (merge_key)

TABLE api_keys
    id integer NOT NULL DEFAULT nextval('api_keys_id_seq'::regclass)
    user_id integer NOT NULL
    description text COLLATE "C" NOT NULL
    description_key text COLLATE "C" NOT NULL -- Case-folded: one description once per user.
    token text COLLATE "C" -- 64 hex digits, of keys that the API made and lists by contract; NULL: not kept.
    created_at bigint NOT NULL
    last_used_at bigint -- Written at most once a minute.
    needs_icon_object boolean NOT NULL DEFAULT false -- The app that it was made for fails at a feed whose icon is null.
    token_hash bytea NOT NULL -- SHA-256 of the token.
    scope text COLLATE "C" NOT NULL DEFAULT 'admin'::text -- What requests with it may do: domain.accounts.rights.KeyScope.
    expires_at bigint -- From when on it is refused; NULL for never.
    last_address text COLLATE "C" NOT NULL DEFAULT ''::text -- From where it was last used, written with last_used_at.
    fk_api_keys_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_api_keys PRIMARY KEY (id)
    uq_api_keys_token_hash UNIQUE (token_hash)
    uq_api_keys_user_id_description_key UNIQUE (user_id, description_key)
    CREATE UNIQUE INDEX pk_api_keys ON public.api_keys USING btree (id)
    CREATE UNIQUE INDEX uq_api_keys_token_hash ON public.api_keys USING btree (token_hash)
    CREATE UNIQUE INDEX uq_api_keys_user_id_description_key ON public.api_keys USING btree (user_id, description_key)

TABLE api_passwords
    id integer NOT NULL DEFAULT nextval('api_passwords_id_seq'::regclass)
    user_id integer NOT NULL
    name text COLLATE "C" NOT NULL -- Of the app, as the user calls it.
    name_key text COLLATE "C" NOT NULL -- Case-folded: one name once per user.
    password_digest bytea NOT NULL -- HMAC-SHA-256 of the password under the server secret.
    fever_key_digest bytea NOT NULL -- HMAC-SHA-256 under the server secret of what a Fever client sends: MD5 of name and password.
    created_at bigint NOT NULL
    last_used_at bigint -- Written at most once a minute.
    marked_read_at bigint -- When the app last marked entries read with the Fever API; NULL once that is undone.
    fk_api_passwords_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_api_passwords PRIMARY KEY (id)
    uq_api_passwords_fever_key_digest UNIQUE (fever_key_digest)
    uq_api_passwords_user_id_name_key UNIQUE (user_id, name_key)
    CREATE UNIQUE INDEX pk_api_passwords ON public.api_passwords USING btree (id)
    CREATE UNIQUE INDEX uq_api_passwords_fever_key_digest ON public.api_passwords USING btree (fever_key_digest)
    CREATE UNIQUE INDEX uq_api_passwords_user_id_name_key ON public.api_passwords USING btree (user_id, name_key)

TABLE bridge_turns
    name text COLLATE "C" NOT NULL -- Of the service.
    taken_until bigint -- It works until then; whoever dies loses the turn.
    taken_by text COLLATE "C" NOT NULL DEFAULT ''::text
    pk_bridge_turns PRIMARY KEY (name)
    CREATE UNIQUE INDEX pk_bridge_turns ON public.bridge_turns USING btree (name)

TABLE categories
    id integer NOT NULL DEFAULT nextval('categories_id_seq'::regclass)
    user_id integer NOT NULL
    title text COLLATE "C" NOT NULL -- As apps show it: its path or its name.
    title_key text COLLATE "C" NOT NULL -- Case-folded: names are compared without case everywhere.
    hide_globally boolean NOT NULL DEFAULT false
    parent_id integer -- The category that it is under; null: none.
    name text COLLATE "C" NOT NULL DEFAULT ''::text -- The last part of its path.
    keep_duplicates boolean NOT NULL DEFAULT false -- As of each feed in it and below it.
    fk_categories_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_categories PRIMARY KEY (id)
    uq_categories_user_id_title_key UNIQUE (user_id, title_key)
    CREATE INDEX ix_categories_keep_duplicates ON public.categories USING btree (user_id, id) WHERE (keep_duplicates = true)
    CREATE INDEX ix_categories_user_parent ON public.categories USING btree (user_id, parent_id)
    CREATE INDEX ix_categories_user_title ON public.categories USING btree (user_id, title, id)
    CREATE UNIQUE INDEX pk_categories ON public.categories USING btree (id)
    CREATE UNIQUE INDEX uq_categories_user_id_title_key ON public.categories USING btree (user_id, title_key)

TABLE changes
    user_id integer NOT NULL
    number bigint NOT NULL -- In the order of commits, from 0 on.
    version bigint NOT NULL DEFAULT 0 -- Random: after a restored backup the same number has another one.
    made_at bigint NOT NULL
    objects bytea NOT NULL -- JSON: ids of what was changed or deleted, by kind.
    fk_changes_user_id_list_versions FOREIGN KEY (user_id) REFERENCES list_versions(user_id) ON DELETE CASCADE
    pk_changes PRIMARY KEY (user_id, number)
    CREATE UNIQUE INDEX pk_changes ON public.changes USING btree (user_id, number)

TABLE chores
    name text COLLATE "C" NOT NULL
    next_at bigint NOT NULL -- When it is to be done again.
    claimed_until bigint -- A worker is at it until then; who dies loses it.
    claimed_by text COLLATE "C" NOT NULL DEFAULT ''::text
    finished_at bigint -- When it was last done; null: never yet.
    pk_chores PRIMARY KEY (name)
    CREATE UNIQUE INDEX pk_chores ON public.chores USING btree (name)

TABLE deliveries
    id bigint NOT NULL DEFAULT nextval('deliveries_id_seq'::regclass)
    user_id integer NOT NULL
    delivery_id text COLLATE "C" NOT NULL -- Unique; sent along so that a receiver can drop a repeat.
    integration text COLLATE "C" NOT NULL -- As in integrations.name; of webhooks, webhook for the main one, else webhook:id.
    event_type text COLLATE "C" NOT NULL -- new_entries, save_entry …
    receiver text COLLATE "C" NOT NULL -- Deliveries to one receiver go out in order.
    feed_id integer -- Kept when the feed goes; null: of no single feed.
    state text COLLATE "C" NOT NULL DEFAULT 'pending'::text -- pending, delivered or failed.
    attempts integer NOT NULL DEFAULT 0
    created_at bigint NOT NULL
    finished_at bigint
    last_status integer NOT NULL DEFAULT 0 -- HTTP status of the last answer, 0 when there was none.
    last_error text COLLATE "C" NOT NULL DEFAULT ''::text
    last_response text COLLATE "C" NOT NULL DEFAULT ''::text -- The beginning of the last answer.
    receiver_id integer -- In whose queue it is; null until a worker has put it there.
    size integer NOT NULL DEFAULT 0 -- Bytes of the body.
    redelivered_at bigint -- When its owner last asked for it again.
    last_error_form text COLLATE "C" NOT NULL DEFAULT ''::text -- JSON: template and values of last_error; empty: English alone.
    failed_tries integer NOT NULL DEFAULT 0 -- Attempts that failed because of this event, since its owner last asked for it.
    retry_at bigint -- When it is tried again, after later ones; null: in order.
    fk_deliveries_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_deliveries PRIMARY KEY (id)
    uq_deliveries_delivery_id UNIQUE (delivery_id)
    CREATE INDEX ix_deliveries_arriving ON public.deliveries USING btree (id) WHERE ((receiver_id IS NULL) AND (state = 'pending'::text))
    CREATE INDEX ix_deliveries_finished ON public.deliveries USING btree (finished_at) WHERE (finished_at IS NOT NULL)
    CREATE INDEX ix_deliveries_retrying ON public.deliveries USING btree (receiver_id, retry_at) WHERE ((retry_at IS NOT NULL) AND (state = 'pending'::text))
    CREATE INDEX ix_deliveries_saved ON public.deliveries USING btree (user_id, id) WHERE (event_type = 'save_entry'::text)
    CREATE INDEX ix_deliveries_user ON public.deliveries USING btree (user_id, id)
    CREATE INDEX ix_deliveries_user_integration ON public.deliveries USING btree (user_id, integration, id)
    CREATE INDEX ix_deliveries_user_state ON public.deliveries USING btree (user_id, state, id)
    CREATE INDEX ix_deliveries_waiting ON public.deliveries USING btree (receiver_id, id, retry_at) WHERE (state = 'pending'::text)
    CREATE UNIQUE INDEX pk_deliveries ON public.deliveries USING btree (id)
    CREATE UNIQUE INDEX uq_deliveries_delivery_id ON public.deliveries USING btree (delivery_id)

TABLE delivery_bodies
    delivery_id bigint NOT NULL
    body bytea NOT NULL -- What is sent, byte for byte: the signature covers it.
    fk_delivery_bodies_delivery_id_deliveries FOREIGN KEY (delivery_id) REFERENCES deliveries(id) ON DELETE CASCADE
    pk_delivery_bodies PRIMARY KEY (delivery_id)
    CREATE UNIQUE INDEX pk_delivery_bodies ON public.delivery_bodies USING btree (delivery_id)

TABLE duplicate_keys
    entry_id bigint NOT NULL
    user_id integer NOT NULL -- The entry's.
    address bigint -- Digest of the canonical address; NULL: it names no article.
    identity bigint -- Digest of the publisher's id with the host of the address.
    title bigint -- Digest of the words of the title; NULL: it has none.
    published_at bigint NOT NULL -- The entry's when it was stored.
    fk_duplicate_keys_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    pk_duplicate_keys PRIMARY KEY (entry_id)
    CREATE INDEX ix_duplicate_keys_address ON public.duplicate_keys USING btree (user_id, address, entry_id)
    CREATE INDEX ix_duplicate_keys_identity ON public.duplicate_keys USING btree (user_id, identity, entry_id)
    CREATE INDEX ix_duplicate_keys_title ON public.duplicate_keys USING btree (user_id, title, published_at, entry_id)
    CREATE UNIQUE INDEX pk_duplicate_keys ON public.duplicate_keys USING btree (entry_id)

TABLE duplicate_scans
    user_id integer NOT NULL
    mode text COLLATE "C" NOT NULL -- The user's setting for which duplicates are found.
    kept_feeds text COLLATE "C" NOT NULL DEFAULT '[]'::text -- JSON: ids of the feeds that the user excepted.
    is_released boolean NOT NULL DEFAULT false -- False: what an earlier setting did is being undone.
    position bigint NOT NULL -- The entry up to which all have been searched.
    fk_duplicate_scans_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_duplicate_scans PRIMARY KEY (user_id)
    CREATE UNIQUE INDEX pk_duplicate_scans ON public.duplicate_scans USING btree (user_id)

TABLE duplicates
    entry_id bigint NOT NULL
    user_id integer NOT NULL -- The entry's.
    original_id bigint NOT NULL -- The entry of another feed that it repeats.
    status smallint NOT NULL -- Its own, before it was folded or marked read.
    original_status smallint NOT NULL -- The other's at that time.
    found_at bigint NOT NULL
    compared boolean NOT NULL DEFAULT true -- False: it may have the whole text, and then takes the place of the other.
    by_page boolean NOT NULL DEFAULT false -- Only its page says that it has the other's address: nothing repeats the other through it.
    fk_duplicates_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    pk_duplicates PRIMARY KEY (entry_id)
    CREATE INDEX ix_duplicates_compared ON public.duplicates USING btree (user_id, compared) WHERE (compared = false)
    CREATE INDEX ix_duplicates_user_original ON public.duplicates USING btree (user_id, original_id, entry_id)
    CREATE UNIQUE INDEX pk_duplicates ON public.duplicates USING btree (entry_id)

TABLE enclosures
    id bigint NOT NULL DEFAULT nextval('enclosures_id_seq'::regclass)
    user_id integer NOT NULL
    entry_id bigint NOT NULL
    url text COLLATE "C" NOT NULL
    mime_type text COLLATE "C" NOT NULL DEFAULT ''::text
    size bigint NOT NULL DEFAULT 0 -- Bytes, 0 when unknown.
    media_progression bigint NOT NULL DEFAULT 0 -- Seconds, set by the client.
    queue_position integer -- Order in the queue of the user, NULL when it is not in it.
    fk_enclosures_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    pk_enclosures PRIMARY KEY (id)
    CREATE INDEX ix_enclosures_entry ON public.enclosures USING btree (entry_id, id)
    CREATE INDEX ix_enclosures_queue ON public.enclosures USING btree (user_id, queue_position) WHERE (queue_position IS NOT NULL)
    CREATE INDEX ix_enclosures_user_kind ON public.enclosures USING btree (user_id, substr(mime_type, 1, 6), entry_id)
    CREATE UNIQUE INDEX pk_enclosures ON public.enclosures USING btree (id)

TABLE entries
    id bigint NOT NULL DEFAULT nextval('entries_id_seq'::regclass)
    user_id integer NOT NULL
    feed_id integer NOT NULL
    category_id integer NOT NULL -- The feed's.
    status smallint NOT NULL -- 0 unread, 1 read, 2 removed, 3 folded.
    starred boolean NOT NULL DEFAULT false
    published_at bigint NOT NULL
    created_at bigint NOT NULL
    changed_at bigint NOT NULL -- Moves with status, star, and content that the publisher changed.
    hash bytea NOT NULL -- SHA-256 of the identity.
    fingerprint bytea -- Of the entry as published; the same again is not cleaned or written.
    edited integer NOT NULL DEFAULT 0 -- Bits of the fields the user set: they no longer follow the publisher.
    reading_time integer NOT NULL DEFAULT 0 -- Minutes.
    title text COLLATE "C" NOT NULL
    url text COLLATE "C" NOT NULL DEFAULT ''::text
    author text COLLATE "C" NOT NULL DEFAULT ''::text
    comments_url text COLLATE "C" NOT NULL DEFAULT ''::text
    language text COLLATE "C" NOT NULL DEFAULT ''::text
    share_code text COLLATE "C" NOT NULL DEFAULT ''::text -- Empty when not shared.
    tags text COLLATE "C" NOT NULL DEFAULT '[]'::text -- JSON array of strings.
    hidden boolean NOT NULL DEFAULT false -- A rule keeps it out of the global lists.
    fk_entries_feed_id_feeds FOREIGN KEY (feed_id) REFERENCES feeds(id) ON DELETE CASCADE
    pk_entries PRIMARY KEY (id)
    uq_entries_feed_id_hash UNIQUE (feed_id, hash)
    CREATE INDEX ix_entries_category_published ON public.entries USING btree (user_id, category_id, published_at, id)
    CREATE INDEX ix_entries_category_unread ON public.entries USING btree (user_id, category_id, status, published_at, id) WHERE (status = 0)
    CREATE INDEX ix_entries_feed_published ON public.entries USING btree (feed_id, published_at, id, status)
    CREATE UNIQUE INDEX ix_entries_share_code ON public.entries USING btree (share_code) WHERE (share_code <> ''::text)
    CREATE INDEX ix_entries_user_author ON public.entries USING btree (user_id, substr(author, 1, 100), id)
    CREATE INDEX ix_entries_user_changed ON public.entries USING btree (user_id, changed_at, id, status)
    CREATE INDEX ix_entries_user_created ON public.entries USING btree (user_id, created_at, id)
    CREATE INDEX ix_entries_user_hidden ON public.entries USING btree (user_id, hidden, status, feed_id, starred, id) WHERE (hidden = true)
    CREATE INDEX ix_entries_user_id ON public.entries USING btree (user_id, id, status)
    CREATE INDEX ix_entries_user_language ON public.entries USING btree (user_id, substr(language, 1, 100), id, status)
    CREATE INDEX ix_entries_user_published ON public.entries USING btree (user_id, published_at, id, status)
    CREATE INDEX ix_entries_user_reading_time ON public.entries USING btree (user_id, reading_time, id, status)
    CREATE INDEX ix_entries_user_starred ON public.entries USING btree (user_id, starred, published_at, id) WHERE (starred = true)
    CREATE INDEX ix_entries_user_status ON public.entries USING btree (user_id, status, id)
    CREATE INDEX ix_entries_user_title ON public.entries USING btree (user_id, substr(title, 1, 100), id)
    CREATE INDEX ix_entries_user_unread ON public.entries USING btree (user_id, status, published_at, id, hidden) WHERE (status = 0)
    CREATE UNIQUE INDEX pk_entries ON public.entries USING btree (id)
    CREATE UNIQUE INDEX uq_entries_feed_id_hash ON public.entries USING btree (feed_id, hash)

TABLE entry_contents
    entry_id bigint NOT NULL
    user_id integer NOT NULL -- The entry's.
    content bytea NOT NULL -- Cleaned HTML; empty with a shared content.
    other_content bytea -- What the user can switch to: of the feed, or the whole article.
    chapters text COLLATE "C" NOT NULL DEFAULT ''::text -- JSON array of the chapters in the feed, or empty.
    shared_id bigint -- Null: the entry has a content of its own.
    fk_entry_contents_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    fk_entry_contents_shared_id_shared_contents FOREIGN KEY (shared_id) REFERENCES shared_contents(id)
    pk_entry_contents PRIMARY KEY (entry_id)
    CREATE INDEX ix_entry_contents_shared ON public.entry_contents USING btree (shared_id) WHERE (shared_id IS NOT NULL)
    CREATE UNIQUE INDEX pk_entry_contents ON public.entry_contents USING btree (entry_id)

TABLE entry_labels
    label_id integer NOT NULL
    entry_id bigint NOT NULL
    user_id integer NOT NULL
    published_at bigint NOT NULL -- The entry's, so that a list of a label need not sort its entries.
    fk_entry_labels_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    fk_entry_labels_label_id_labels FOREIGN KEY (label_id) REFERENCES labels(id) ON DELETE CASCADE
    pk_entry_labels PRIMARY KEY (label_id, entry_id)
    CREATE INDEX ix_entry_labels_entry_id ON public.entry_labels USING btree (entry_id)
    CREATE INDEX ix_entry_labels_published ON public.entry_labels USING btree (label_id, published_at, entry_id, user_id)
    CREATE UNIQUE INDEX pk_entry_labels ON public.entry_labels USING btree (label_id, entry_id)

TABLE entry_tags
    user_id integer NOT NULL
    tag text COLLATE "C" NOT NULL -- Case-folded, cut at 200 characters.
    entry_id bigint NOT NULL
    fk_entry_tags_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    pk_entry_tags PRIMARY KEY (user_id, tag, entry_id)
    CREATE INDEX ix_entry_tags_entry_id ON public.entry_tags USING btree (entry_id)
    CREATE UNIQUE INDEX pk_entry_tags ON public.entry_tags USING btree (user_id, tag, entry_id)

TABLE entry_versions
    entry_id bigint NOT NULL
    version integer NOT NULL -- Counted from 1 for each entry.
    user_id integer NOT NULL -- The entry's.
    title text COLLATE "C" NOT NULL
    content bytea NOT NULL -- Cleaned HTML of the feed.
    replaced_at bigint NOT NULL -- When the next version was stored.
    fk_entry_versions_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    pk_entry_versions PRIMARY KEY (entry_id, version)
    CREATE UNIQUE INDEX pk_entry_versions ON public.entry_versions USING btree (entry_id, version)

TABLE feed_categories
    feed_id integer NOT NULL
    category_id integer NOT NULL
    user_id integer NOT NULL
    fk_feed_categories_category_id_categories FOREIGN KEY (category_id) REFERENCES categories(id) ON DELETE CASCADE
    fk_feed_categories_feed_id_feeds FOREIGN KEY (feed_id) REFERENCES feeds(id) ON DELETE CASCADE
    pk_feed_categories PRIMARY KEY (feed_id, category_id)
    CREATE INDEX ix_feed_categories_category ON public.feed_categories USING btree (category_id, feed_id)
    CREATE INDEX ix_feed_categories_user ON public.feed_categories USING btree (user_id, feed_id, category_id)
    CREATE UNIQUE INDEX pk_feed_categories ON public.feed_categories USING btree (feed_id, category_id)

TABLE feed_counters
    feed_id integer NOT NULL
    user_id integer NOT NULL
    unread integer NOT NULL DEFAULT 0
    read integer NOT NULL DEFAULT 0
    starred_unread integer NOT NULL DEFAULT 0 -- Of the unread ones.
    starred_read integer NOT NULL DEFAULT 0 -- Of the read ones.
    version bigint NOT NULL DEFAULT 0 -- Random, another one after each change of which entries are counted, and how.
    fk_feed_counters_feed_id_feeds FOREIGN KEY (feed_id) REFERENCES feeds(id) ON DELETE CASCADE
    pk_feed_counters PRIMARY KEY (feed_id)
    CREATE INDEX ix_feed_counters_user_id ON public.feed_counters USING btree (user_id)
    CREATE UNIQUE INDEX pk_feed_counters ON public.feed_counters USING btree (feed_id)

TABLE feeds
    id integer NOT NULL DEFAULT nextval('feeds_id_seq'::regclass)
    user_id integer NOT NULL
    category_id integer NOT NULL
    icon_id integer -- Null: none found.
    feed_url text COLLATE "C" NOT NULL
    site_url text COLLATE "C" NOT NULL DEFAULT ''::text
    title text COLLATE "C" NOT NULL
    title_key text COLLATE "C" NOT NULL -- Without case and accents, for the order of the feed list.
    description text COLLATE "C" NOT NULL DEFAULT ''::text
    language text COLLATE "C" NOT NULL DEFAULT ''::text
    edited integer NOT NULL DEFAULT 0 -- Bits of the fields the user set: they no longer follow the publisher.
    created_at bigint NOT NULL
    checked_at bigint NOT NULL
    next_check_at bigint NOT NULL -- Always true: when the poller may take it next.
    etag_header text COLLATE "C" NOT NULL DEFAULT ''::text
    last_modified_header text COLLATE "C" NOT NULL DEFAULT ''::text
    body_digest bytea -- Of the last parsed body; the same again is not parsed.
    parsing_error_message text COLLATE "C" NOT NULL DEFAULT ''::text
    parsing_error_count integer NOT NULL DEFAULT 0
    disabled boolean NOT NULL DEFAULT false
    user_agent text COLLATE "C" NOT NULL DEFAULT ''::text
    cookie text COLLATE "C" NOT NULL DEFAULT ''::text
    username text COLLATE "C" NOT NULL DEFAULT ''::text
    password text COLLATE "C" NOT NULL DEFAULT ''::text
    proxy_url text COLLATE "C" NOT NULL DEFAULT ''::text
    fetch_via_proxy boolean NOT NULL DEFAULT false
    ignore_http_cache boolean NOT NULL DEFAULT false
    allow_self_signed_certificates boolean NOT NULL DEFAULT false
    disable_http2 boolean NOT NULL DEFAULT false
    crawler boolean NOT NULL DEFAULT false
    ignore_entry_updates boolean NOT NULL DEFAULT false
    hide_globally boolean NOT NULL DEFAULT false
    no_media_player boolean NOT NULL DEFAULT false
    scraper_rules text COLLATE "C" NOT NULL DEFAULT ''::text
    rewrite_rules text COLLATE "C" NOT NULL DEFAULT ''::text
    urlrewrite_rules text COLLATE "C" NOT NULL DEFAULT ''::text
    blocklist_rules text COLLATE "C" NOT NULL DEFAULT ''::text
    keeplist_rules text COLLATE "C" NOT NULL DEFAULT ''::text
    block_filter_entry_rules text COLLATE "C" NOT NULL DEFAULT ''::text
    keep_filter_entry_rules text COLLATE "C" NOT NULL DEFAULT ''::text
    apprise_service_urls text COLLATE "C" NOT NULL DEFAULT ''::text
    webhook_url text COLLATE "C" NOT NULL DEFAULT ''::text
    ntfy_enabled boolean NOT NULL DEFAULT false
    ntfy_priority integer NOT NULL DEFAULT 3
    ntfy_topic text COLLATE "C" NOT NULL DEFAULT ''::text
    pushover_enabled boolean NOT NULL DEFAULT false
    pushover_priority integer NOT NULL DEFAULT 0
    icon_url text COLLATE "C" NOT NULL DEFAULT ''::text -- As the feed itself names it.
    icon_checked_at bigint -- When an icon was last looked for; null: to be done at the next check.
    moved_to text COLLATE "C" NOT NULL DEFAULT ''::text -- Where permanent redirects lead; followed once they are confirmed.
    moved_times integer NOT NULL DEFAULT 0 -- How often in a row they led there.
    match_entries_by_url boolean NOT NULL DEFAULT false -- Entries are known by their address: the publisher's ids change.
    once_matched_by_url boolean NOT NULL DEFAULT false -- They were, before: some may still be stored under its hash.
    failed_checks integer NOT NULL DEFAULT 0 -- In a row, whatever the reason: how long the next wait is. 0 after a success.
    check_interval_minutes integer NOT NULL DEFAULT 0 -- As the user set it; 0: as the feed publishes.
    news_gap_s integer NOT NULL DEFAULT 0 -- Seconds between news, on average, as of news_at; 0: not known.
    publisher_hints text COLLATE "C" NOT NULL DEFAULT ''::text -- JSON: what the last document asked of its readers.
    news_at bigint -- When there was news last; null: not known.
    source_id integer -- What is fetched for it; never null.
    parsed_at bigint -- When a body was last parsed.
    keep_read_days integer -- After these, read entries go; -1: never; null: as the settings say.
    keep_unread_days integer -- As keep_read_days, of unread ones.
    took_ms integer NOT NULL DEFAULT 0 -- Milliseconds until the last answer was there, body and all; 0: not known.
    parsing_error_form text COLLATE "C" NOT NULL DEFAULT ''::text -- JSON: template and values of parsing_error_message; empty: English alone.
    limits_reached text COLLATE "C" NOT NULL DEFAULT ''::text -- Of the last parsed body: elements, entries, text (cut there); pages: they have far less text.
    disabled_reason text COLLATE "C" NOT NULL DEFAULT ''::text -- Why a check disabled it: gone (410) or failed; empty: its user did, or it is not.
    keep_duplicates boolean NOT NULL DEFAULT false -- No entry of it counts as a duplicate of another feed's, nor the reverse.
    is_failing boolean NOT NULL DEFAULT false -- An error was counted, and no check has succeeded since. Edits, which clear the errors, leave it.
    discard_versions boolean NOT NULL DEFAULT false -- Earlier versions of entries that the publisher changes are not kept.
    page_items integer NOT NULL DEFAULT 0 -- Of a feed made from a page: number of entries at the last check that read it.
    kind text COLLATE "C" NOT NULL DEFAULT ''::text -- How a page or JSON is read by the selectors; empty: it is a feed.
    selectors text COLLATE "C" NOT NULL DEFAULT ''::text -- JSON: where a page has items and their fields.
    fetch_via_flaresolverr boolean NOT NULL DEFAULT false -- A browser that the operator has set up fetches it, not with fetch_via_proxy.
    own_bridge boolean NOT NULL DEFAULT false -- A bridge of its user fetches it, so that it shares its source with nobody.
    fk_feeds_category_id_categories FOREIGN KEY (category_id) REFERENCES categories(id) ON DELETE CASCADE
    fk_feeds_icon_id_icons FOREIGN KEY (icon_id) REFERENCES icons(id) ON DELETE SET NULL
    fk_feeds_source_id_sources FOREIGN KEY (source_id) REFERENCES sources(id)
    fk_feeds_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_feeds PRIMARY KEY (id)
    uq_feeds_user_id_feed_url UNIQUE (user_id, feed_url)
    CREATE INDEX ix_feeds_category ON public.feeds USING btree (category_id)
    CREATE INDEX ix_feeds_icon ON public.feeds USING btree (icon_id)
    CREATE INDEX ix_feeds_keep_duplicates ON public.feeds USING btree (user_id, id) WHERE (keep_duplicates = true)
    CREATE INDEX ix_feeds_source ON public.feeds USING btree (source_id, disabled, next_check_at)
    CREATE UNIQUE INDEX pk_feeds ON public.feeds USING btree (id)
    CREATE UNIQUE INDEX uq_feeds_user_id_feed_url ON public.feeds USING btree (user_id, feed_url)

TABLE host_attempts
    user_id integer NOT NULL
    host text COLLATE "C" NOT NULL
    last_at bigint NOT NULL -- When the user last sent a request by hand although the host was paused.
    fk_host_attempts_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_host_attempts PRIMARY KEY (user_id, host)
    CREATE UNIQUE INDEX pk_host_attempts ON public.host_attempts USING btree (user_id, host)

TABLE hosts
    host text COLLATE "C" NOT NULL
    closed_until bigint NOT NULL -- No feed of it is fetched before.
    is_asked boolean NOT NULL DEFAULT false -- By the host itself, with a 429: then nothing else is fetched either.
    asked_until bigint -- What the host asked for, at most a day: feeds of the users it asked are postponed to then.
    pk_hosts PRIMARY KEY (host)
    CREATE UNIQUE INDEX pk_hosts ON public.hosts USING btree (host)

TABLE icons
    id integer NOT NULL DEFAULT nextval('icons_id_seq'::regclass)
    digest text COLLATE "C" NOT NULL -- SHA-256 of content and media type, hex: one icon serves all feeds that show it.
    external_id text COLLATE "C" NOT NULL -- 40 hex digits, known to clients that cache icons.
    mime_type text COLLATE "C" NOT NULL
    content bytea NOT NULL
    pk_icons PRIMARY KEY (id)
    uq_icons_digest UNIQUE (digest)
    uq_icons_external_id UNIQUE (external_id)
    CREATE UNIQUE INDEX pk_icons ON public.icons USING btree (id)
    CREATE UNIQUE INDEX uq_icons_digest ON public.icons USING btree (digest)
    CREATE UNIQUE INDEX uq_icons_external_id ON public.icons USING btree (external_id)

TABLE identities
    id integer NOT NULL DEFAULT nextval('identities_id_seq'::regclass)
    user_id integer NOT NULL
    issuer text COLLATE "C" NOT NULL -- The provider, as it names itself.
    subject text COLLATE "C" NOT NULL -- The account there; with the issuer, it never names anybody else.
    name text COLLATE "C" NOT NULL DEFAULT ''::text -- How the provider called the user when they signed in the last time.
    created_at bigint NOT NULL
    last_used_at bigint
    fk_identities_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_identities PRIMARY KEY (id)
    uq_identities_issuer_subject UNIQUE (issuer, subject)
    CREATE INDEX ix_identities_user ON public.identities USING btree (user_id)
    CREATE UNIQUE INDEX pk_identities ON public.identities USING btree (id)
    CREATE UNIQUE INDEX uq_identities_issuer_subject ON public.identities USING btree (issuer, subject)

TABLE integrations
    user_id integer NOT NULL
    name text COLLATE "C" NOT NULL -- As in the API: wallabag, linkding …; not webhook.
    enabled boolean NOT NULL DEFAULT false
    settings text COLLATE "C" NOT NULL DEFAULT '{}'::text -- JSON object; its members are the integration's own.
    changed_at bigint NOT NULL
    last_error text COLLATE "C" NOT NULL DEFAULT ''::text -- What went wrong at the last try, or why it was switched off; empty when all is well.
    last_error_form text COLLATE "C" NOT NULL DEFAULT ''::text -- JSON: template and values of last_error; empty: English alone.
    fk_integrations_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_integrations PRIMARY KEY (user_id, name)
    CREATE UNIQUE INDEX pk_integrations ON public.integrations USING btree (user_id, name)

TABLE labels
    id integer NOT NULL DEFAULT nextval('labels_id_seq'::regclass)
    user_id integer NOT NULL
    name text COLLATE "C" NOT NULL
    name_key text COLLATE "C" NOT NULL -- Case-folded: names are compared without case everywhere.
    color text NOT NULL DEFAULT ''::text -- Name of a colour, or empty.
    position integer -- Order of the user, NULL: behind the others, by name.
    fk_labels_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_labels PRIMARY KEY (id)
    uq_labels_user_id_name_key UNIQUE (user_id, name_key)
    CREATE UNIQUE INDEX pk_labels ON public.labels USING btree (id)
    CREATE UNIQUE INDEX uq_labels_user_id_name_key ON public.labels USING btree (user_id, name_key)

TABLE list_links
    user_id integer NOT NULL
    token text COLLATE "C" NOT NULL -- Part of the addresses; shown to its owner again and again.
    created_at bigint NOT NULL
    fk_list_links_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_list_links PRIMARY KEY (user_id)
    uq_list_links_token UNIQUE (token)
    CREATE UNIQUE INDEX pk_list_links ON public.list_links USING btree (user_id)
    CREATE UNIQUE INDEX uq_list_links_token ON public.list_links USING btree (token)

TABLE list_settings
    id integer NOT NULL DEFAULT nextval('list_settings_id_seq'::regclass)
    user_id integer NOT NULL
    list text COLLATE "C" NOT NULL -- unread, starred, history or shared; or f, c or l and the id of a feed, category or label.
    feed_id integer
    category_id integer
    label_id integer
    direction text COLLATE "C" NOT NULL DEFAULT ''::text -- asc or desc; empty: as everywhere.
    density text COLLATE "C" NOT NULL DEFAULT ''::text -- How its page lists entries; empty for the device's setting.
    fk_list_settings_category_id_categories FOREIGN KEY (category_id) REFERENCES categories(id) ON DELETE CASCADE
    fk_list_settings_feed_id_feeds FOREIGN KEY (feed_id) REFERENCES feeds(id) ON DELETE CASCADE
    fk_list_settings_label_id_labels FOREIGN KEY (label_id) REFERENCES labels(id) ON DELETE CASCADE
    fk_list_settings_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_list_settings PRIMARY KEY (id)
    uq_list_settings_user_id_list UNIQUE (user_id, list)
    CREATE INDEX ix_list_settings_category ON public.list_settings USING btree (category_id) WHERE (category_id IS NOT NULL)
    CREATE INDEX ix_list_settings_feed ON public.list_settings USING btree (feed_id) WHERE (feed_id IS NOT NULL)
    CREATE INDEX ix_list_settings_label ON public.list_settings USING btree (label_id) WHERE (label_id IS NOT NULL)
    CREATE UNIQUE INDEX pk_list_settings ON public.list_settings USING btree (id)
    CREATE UNIQUE INDEX uq_list_settings_user_id_list ON public.list_settings USING btree (user_id, list)

TABLE list_versions
    user_id integer NOT NULL
    version bigint NOT NULL DEFAULT 0 -- Random, another one after each change of what lists of the user show.
    number bigint NOT NULL DEFAULT 0 -- Of the last row in changes.
    fk_list_versions_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_list_versions PRIMARY KEY (user_id)
    CREATE UNIQUE INDEX pk_list_versions ON public.list_versions USING btree (user_id)

TABLE newsletter_addresses
    id integer NOT NULL DEFAULT nextval('newsletter_addresses_id_seq'::regclass)
    user_id integer NOT NULL
    name text COLLATE "C" NOT NULL
    secret text COLLATE "C" NOT NULL -- Whoever knows it may deliver.
    is_one_feed boolean NOT NULL DEFAULT false -- New senders share one feed, instead of one for each.
    category_id integer -- Of new feeds.
    created_at bigint NOT NULL
    last_letter_at bigint
    letters integer NOT NULL DEFAULT 0 -- How many have arrived, without repeated ones.
    hour integer NOT NULL DEFAULT 0 -- The hour since 1970 that hour_letters is about.
    hour_letters integer NOT NULL DEFAULT 0 -- How many were delivered in it, to limit them.
    fk_newsletter_addresses_category_id_categories FOREIGN KEY (category_id) REFERENCES categories(id) ON DELETE SET NULL
    fk_newsletter_addresses_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_newsletter_addresses PRIMARY KEY (id)
    uq_newsletter_addresses_secret UNIQUE (secret)
    CREATE INDEX ix_newsletter_addresses_category ON public.newsletter_addresses USING btree (category_id) WHERE (category_id IS NOT NULL)
    CREATE INDEX ix_newsletter_addresses_user ON public.newsletter_addresses USING btree (user_id, id)
    CREATE UNIQUE INDEX pk_newsletter_addresses ON public.newsletter_addresses USING btree (id)
    CREATE UNIQUE INDEX uq_newsletter_addresses_secret ON public.newsletter_addresses USING btree (secret)

TABLE newsletter_letters
    id bigint NOT NULL DEFAULT nextval('newsletter_letters_id_seq'::regclass)
    user_id integer NOT NULL
    digest bytea NOT NULL -- SHA-256 of the Message-ID.
    received_at bigint NOT NULL
    fk_newsletter_letters_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_newsletter_letters PRIMARY KEY (id)
    uq_newsletter_letters_user_id_digest UNIQUE (user_id, digest)
    CREATE INDEX ix_newsletter_letters_received ON public.newsletter_letters USING btree (received_at)
    CREATE UNIQUE INDEX pk_newsletter_letters ON public.newsletter_letters USING btree (id)
    CREATE UNIQUE INDEX uq_newsletter_letters_user_id_digest ON public.newsletter_letters USING btree (user_id, digest)

TABLE newsletter_mailboxes
    id integer NOT NULL DEFAULT nextval('newsletter_mailboxes_id_seq'::regclass)
    user_id integer -- NULL for the mailbox of this installation, whose password is in the settings.
    is_shared boolean NOT NULL DEFAULT false -- It is the mailbox of this installation.
    host text COLLATE "C" NOT NULL
    port integer NOT NULL DEFAULT 993
    has_tls boolean NOT NULL DEFAULT true -- Without it, only connections to this machine are made.
    username text COLLATE "C" NOT NULL
    password text COLLATE "C" NOT NULL DEFAULT ''::text
    folder text COLLATE "C" NOT NULL
    marks_seen boolean NOT NULL DEFAULT false -- Letters that were stored are marked as seen.
    uid_validity bigint NOT NULL DEFAULT 0 -- Of the folder when it was read last; the UIDs are worth nothing with another one. 0: never read.
    last_uid bigint NOT NULL DEFAULT 0 -- Messages up to this one are done.
    horizon_uid bigint NOT NULL DEFAULT 0 -- The newest message at the first round: up to it, only those since letters_since count.
    letters_since bigint NOT NULL
    deferred text COLLATE "C" NOT NULL DEFAULT ''::text -- UIDs up to last_uid that are tried again, separated by blanks.
    polled_at bigint -- When it was read last, with or without success.
    next_poll_at bigint NOT NULL
    failures integer NOT NULL DEFAULT 0 -- Rounds that failed since the last success.
    error text COLLATE "C" NOT NULL DEFAULT ''::text -- Why the last round failed, in English; empty if it did not.
    error_form text COLLATE "C" NOT NULL DEFAULT ''::text -- The same as a JSON message; empty if it cannot be restored from it.
    letters integer NOT NULL DEFAULT 0 -- How many have become entries.
    claimed_until bigint -- A worker reads it until then; who dies loses it.
    claimed_by text COLLATE "C" NOT NULL DEFAULT ''::text
    has_starttls boolean NOT NULL DEFAULT false -- TLS begins after STARTTLS, instead of with the first byte.
    fk_newsletter_mailboxes_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_newsletter_mailboxes PRIMARY KEY (id)
    uq_newsletter_mailboxes_user_id UNIQUE (user_id)
    CREATE INDEX ix_newsletter_mailboxes_due ON public.newsletter_mailboxes USING btree (next_poll_at, id)
    CREATE UNIQUE INDEX pk_newsletter_mailboxes ON public.newsletter_mailboxes USING btree (id)
    CREATE UNIQUE INDEX uq_newsletter_mailboxes_shared ON public.newsletter_mailboxes USING btree (is_shared) WHERE is_shared
    CREATE UNIQUE INDEX uq_newsletter_mailboxes_user_id ON public.newsletter_mailboxes USING btree (user_id)

TABLE newsletter_senders
    id integer NOT NULL DEFAULT nextval('newsletter_senders_id_seq'::regclass)
    user_id integer NOT NULL
    sender_key text COLLATE "C" NOT NULL -- list: and its List-Id, or from: and the address.
    name text COLLATE "C" NOT NULL -- As its user wrote it, or as the first letter had it.
    address text COLLATE "C" NOT NULL DEFAULT ''::text
    feed_id integer -- Where its letters go; null: the next one makes a feed.
    is_blocked boolean NOT NULL DEFAULT false -- Its letters are discarded.
    letters integer NOT NULL DEFAULT 0 -- How many have arrived.
    discarded integer NOT NULL DEFAULT 0 -- How many were discarded since it is blocked.
    last_letter_at bigint
    unsubscribe_url text COLLATE "C" NOT NULL DEFAULT ''::text -- Of the newest letter that has one, as what follows.
    unsubscribe_mail text COLLATE "C" NOT NULL DEFAULT ''::text
    is_one_click boolean NOT NULL DEFAULT false -- A POST to unsubscribe_url unsubscribes (RFC 8058).
    unsubscribed_at bigint
    authentication text COLLATE "C" NOT NULL DEFAULT ''::text -- Of the newest letter: method=result, separated by blanks (RFC 8601).
    is_spam boolean NOT NULL DEFAULT false -- A filter said so of the newest letter.
    confirmation_url text COLLATE "C" NOT NULL DEFAULT ''::text -- Where the subscription has to be confirmed; empty: nothing to do.
    confirmation_subject text COLLATE "C" NOT NULL DEFAULT ''::text
    fk_newsletter_senders_feed_id_feeds FOREIGN KEY (feed_id) REFERENCES feeds(id) ON DELETE SET NULL
    fk_newsletter_senders_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_newsletter_senders PRIMARY KEY (id)
    uq_newsletter_senders_user_id_sender_key UNIQUE (user_id, sender_key)
    CREATE INDEX ix_newsletter_senders_feed ON public.newsletter_senders USING btree (feed_id) WHERE (feed_id IS NOT NULL)
    CREATE UNIQUE INDEX pk_newsletter_senders ON public.newsletter_senders USING btree (id)
    CREATE UNIQUE INDEX uq_newsletter_senders_user_id_sender_key ON public.newsletter_senders USING btree (user_id, sender_key)

TABLE opml_feeds
    subscription_id integer NOT NULL
    url text COLLATE "C" NOT NULL -- As the list names it; the feed may have moved.
    user_id integer NOT NULL
    feed_id integer -- The feed that was added for it; NULL if the user had it before, or has deleted it.
    missing_since bigint -- The list does not name it any more: its user is asked.
    fk_opml_feeds_feed_id_feeds FOREIGN KEY (feed_id) REFERENCES feeds(id) ON DELETE SET NULL
    fk_opml_feeds_subscription_id_opml_subscriptions FOREIGN KEY (subscription_id) REFERENCES opml_subscriptions(id) ON DELETE CASCADE
    pk_opml_feeds PRIMARY KEY (subscription_id, url)
    CREATE INDEX ix_opml_feeds_feed ON public.opml_feeds USING btree (feed_id) WHERE (feed_id IS NOT NULL)
    CREATE UNIQUE INDEX pk_opml_feeds ON public.opml_feeds USING btree (subscription_id, url)

TABLE opml_subscriptions
    id integer NOT NULL DEFAULT nextval('opml_subscriptions_id_seq'::regclass)
    user_id integer NOT NULL
    url text COLLATE "C" NOT NULL -- Address of the OPML document or list.
    category_id integer NOT NULL -- The category of its feeds. Whoever deletes it ends the subscription.
    etag text COLLATE "C" NOT NULL DEFAULT ''::text -- Of the document that was read last, as last_modified.
    last_modified text COLLATE "C" NOT NULL DEFAULT ''::text
    created_at bigint NOT NULL
    checked_at bigint NOT NULL -- When it was fetched last, with or without success.
    next_check_at bigint NOT NULL
    failures integer NOT NULL DEFAULT 0 -- Checks that failed since the last success.
    error text COLLATE "C" NOT NULL DEFAULT ''::text -- Why the last check failed, in English; empty if it did not.
    error_form text COLLATE "C" NOT NULL DEFAULT ''::text -- The same as a JSON message; empty if it cannot be restored from it.
    claimed_until bigint -- A worker holds it until then; who dies loses it.
    claimed_by text COLLATE "C" NOT NULL DEFAULT ''::text
    fk_opml_subscriptions_category_id_categories FOREIGN KEY (category_id) REFERENCES categories(id) ON DELETE CASCADE
    fk_opml_subscriptions_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_opml_subscriptions PRIMARY KEY (id)
    uq_opml_subscriptions_user_id_url UNIQUE (user_id, url)
    CREATE INDEX ix_opml_subscriptions_category ON public.opml_subscriptions USING btree (category_id)
    CREATE INDEX ix_opml_subscriptions_due ON public.opml_subscriptions USING btree (next_check_at, id)
    CREATE UNIQUE INDEX pk_opml_subscriptions ON public.opml_subscriptions USING btree (id)
    CREATE UNIQUE INDEX uq_opml_subscriptions_user_id_url ON public.opml_subscriptions USING btree (user_id, url)

TABLE page_addresses
    entry_id bigint NOT NULL
    user_id integer NOT NULL -- The entry's.
    url text COLLATE "C" NOT NULL -- Where the entry's link led, or what the page there gave as its own address.
    address bigint NOT NULL -- Digest of the canonical address of the URL.
    fk_page_addresses_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    pk_page_addresses PRIMARY KEY (entry_id)
    CREATE INDEX ix_page_addresses_address ON public.page_addresses USING btree (user_id, address, entry_id)
    CREATE UNIQUE INDEX pk_page_addresses ON public.page_addresses USING btree (entry_id)

TABLE passkeys
    id integer NOT NULL DEFAULT nextval('passkeys_id_seq'::regclass)
    user_id integer NOT NULL
    name text COLLATE "C" NOT NULL -- The user's name for it.
    credential_id bytea NOT NULL -- As its authenticator chose it.
    public_key bytea NOT NULL -- A COSE key (RFC 9052).
    sign_count bigint NOT NULL DEFAULT 0 -- Signatures that its authenticator has counted; 0 if it does not count.
    transports text COLLATE "C" NOT NULL DEFAULT ''::text -- How browsers reach its authenticator, separated by blanks.
    host text COLLATE "C" NOT NULL -- Its relying party id: the host of BASE_URL when it was made.
    works_alone boolean NOT NULL DEFAULT false -- It needs no name and knows its user, so that it signs in without a password.
    is_syncable boolean NOT NULL DEFAULT false -- Its authenticator may copy it to other devices (backup eligible).
    is_synced boolean NOT NULL DEFAULT false -- It was copied when it was used last (backup state).
    aaguid text COLLATE "C" NOT NULL DEFAULT ''::text -- The model of its authenticator; zeros if that stays unknown.
    created_at bigint NOT NULL
    last_used_at bigint -- NULL until it is used.
    fk_passkeys_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_passkeys PRIMARY KEY (id)
    uq_passkeys_credential_id UNIQUE (credential_id)
    CREATE INDEX ix_passkeys_user_id ON public.passkeys USING btree (user_id)
    CREATE UNIQUE INDEX pk_passkeys ON public.passkeys USING btree (id)
    CREATE UNIQUE INDEX uq_passkeys_credential_id ON public.passkeys USING btree (credential_id)

TABLE pending_sign_ins
    id integer NOT NULL DEFAULT nextval('pending_sign_ins_id_seq'::regclass)
    user_id integer NOT NULL
    token_hash bytea NOT NULL -- SHA-256 of what the cookie holds.
    method text COLLATE "C" NOT NULL DEFAULT ''::text -- The first step.
    next text COLLATE "C" NOT NULL DEFAULT ''::text -- The path to open after signing in.
    is_shared boolean NOT NULL DEFAULT false -- Other people use this browser too.
    note text COLLATE "C" NOT NULL DEFAULT ''::text -- What the way of signing in keeps with the session.
    expires_at bigint NOT NULL
    fk_pending_sign_ins_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_pending_sign_ins PRIMARY KEY (id)
    uq_pending_sign_ins_token_hash UNIQUE (token_hash)
    CREATE INDEX ix_pending_sign_ins_expires ON public.pending_sign_ins USING btree (expires_at)
    CREATE INDEX ix_pending_sign_ins_user ON public.pending_sign_ins USING btree (user_id)
    CREATE UNIQUE INDEX pk_pending_sign_ins ON public.pending_sign_ins USING btree (id)
    CREATE UNIQUE INDEX uq_pending_sign_ins_token_hash ON public.pending_sign_ins USING btree (token_hash)

TABLE provider_sessions
    session_id integer NOT NULL
    user_id integer NOT NULL
    issuer text COLLATE "C" NOT NULL
    subject text COLLATE "C" NOT NULL
    provider_session_id text COLLATE "C" NOT NULL DEFAULT ''::text -- Claim sid; empty if the provider does not say.
    id_token text COLLATE "C" NOT NULL DEFAULT ''::text -- The last one, as a hint for signing out; empty if it was too long.
    fk_provider_sessions_session_id_sessions FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE
    fk_provider_sessions_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_provider_sessions PRIMARY KEY (session_id)
    CREATE INDEX ix_provider_sessions_provider_session ON public.provider_sessions USING btree (issuer, provider_session_id)
    CREATE INDEX ix_provider_sessions_subject ON public.provider_sessions USING btree (issuer, subject)
    CREATE INDEX ix_provider_sessions_user ON public.provider_sessions USING btree (user_id)
    CREATE UNIQUE INDEX pk_provider_sessions ON public.provider_sessions USING btree (session_id)

TABLE read_after
    id integer NOT NULL DEFAULT nextval('read_after_id_seq'::regclass)
    user_id integer NOT NULL
    category_id integer
    feed_id integer
    days integer NOT NULL DEFAULT 0 -- 0: never. Without category and feed it holds for all feeds; a feed comes before its category.
    fk_read_after_category_id_categories FOREIGN KEY (category_id) REFERENCES categories(id) ON DELETE CASCADE
    fk_read_after_feed_id_feeds FOREIGN KEY (feed_id) REFERENCES feeds(id) ON DELETE CASCADE
    fk_read_after_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_read_after PRIMARY KEY (id)
    CREATE INDEX ix_read_after_category ON public.read_after USING btree (category_id) WHERE (category_id IS NOT NULL)
    CREATE INDEX ix_read_after_feed ON public.read_after USING btree (feed_id) WHERE (feed_id IS NOT NULL)
    CREATE INDEX ix_read_after_user ON public.read_after USING btree (user_id, id)
    CREATE UNIQUE INDEX pk_read_after ON public.read_after USING btree (id)

TABLE receivers
    id integer NOT NULL DEFAULT nextval('receivers_id_seq'::regclass)
    user_id integer NOT NULL
    integration text COLLATE "C" NOT NULL -- As in deliveries.
    address_digest bytea NOT NULL -- BLAKE2b of deliveries.receiver, which may be long.
    pending integer NOT NULL DEFAULT 0 -- How many deliveries wait in its queue.
    pending_bytes bigint NOT NULL DEFAULT 0 -- Of their bodies.
    next_attempt_at bigint -- When the first of them is tried; null: none waits.
    failures integer NOT NULL DEFAULT 0 -- Tries that failed in a row.
    failing_since bigint
    given_up integer NOT NULL DEFAULT 0 -- Deliveries that were given up in a row.
    claimed_until bigint -- A worker holds it until then; who dies loses it.
    claimed_by text COLLATE "C" NOT NULL DEFAULT ''::text
    attempted_id bigint -- Delivery that a worker attempts, or attempted last; null: none yet.
    fk_receivers_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_receivers PRIMARY KEY (id)
    uq_receivers_user_id_integration_address_digest UNIQUE (user_id, integration, address_digest)
    CREATE INDEX ix_receivers_claimed ON public.receivers USING btree (claimed_by) WHERE (claimed_by <> ''::text)
    CREATE INDEX ix_receivers_due ON public.receivers USING btree (next_attempt_at, id) WHERE ((next_attempt_at IS NOT NULL) AND (failures = 0))
    CREATE INDEX ix_receivers_failing ON public.receivers USING btree (next_attempt_at, id) WHERE ((next_attempt_at IS NOT NULL) AND (failures > 0))
    CREATE UNIQUE INDEX pk_receivers ON public.receivers USING btree (id)
    CREATE UNIQUE INDEX uq_receivers_user_id_integration_address_digest ON public.receivers USING btree (user_id, integration, address_digest)

TABLE recovery_codes
    user_id integer NOT NULL
    digest bytea NOT NULL -- HMAC of the code; removed when it is used.
    fk_recovery_codes_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_recovery_codes PRIMARY KEY (user_id, digest)
    CREATE UNIQUE INDEX pk_recovery_codes ON public.recovery_codes USING btree (user_id, digest)

TABLE rule_changed_entries
    entry_id bigint NOT NULL
    user_id integer NOT NULL
    changed_at bigint NOT NULL -- As in entries after the publisher's change: another value there is of the user.
    fk_rule_changed_entries_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    pk_rule_changed_entries PRIMARY KEY (entry_id)
    CREATE UNIQUE INDEX pk_rule_changed_entries ON public.rule_changed_entries USING btree (entry_id)

TABLE rule_run_entries
    run_id integer NOT NULL
    entry_id bigint NOT NULL
    user_id integer NOT NULL
    status smallint NOT NULL -- Before, as in entries.
    starred boolean NOT NULL -- Before.
    changed_at bigint NOT NULL -- As in entries afterwards: with another value there, the user has changed it since.
    label_ids text COLLATE "C" NOT NULL DEFAULT '[]'::text -- JSON array: labels that it got.
    hidden boolean NOT NULL DEFAULT false -- Whether the run hid it from the global lists.
    fk_rule_run_entries_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    fk_rule_run_entries_run_id_rule_runs FOREIGN KEY (run_id) REFERENCES rule_runs(id) ON DELETE CASCADE
    pk_rule_run_entries PRIMARY KEY (run_id, entry_id)
    CREATE INDEX ix_rule_run_entries_entry_id ON public.rule_run_entries USING btree (entry_id)
    CREATE UNIQUE INDEX pk_rule_run_entries ON public.rule_run_entries USING btree (run_id, entry_id)

TABLE rule_runs
    id integer NOT NULL DEFAULT nextval('rule_runs_id_seq'::regclass)
    user_id integer NOT NULL
    rule_id integer NOT NULL -- It may be gone or changed: what follows is as it was.
    query text COLLATE "C" NOT NULL
    category_id integer
    feed_id integer
    actions text COLLATE "C" NOT NULL -- As in rules.
    timezone text COLLATE "C" NOT NULL -- Of the user, for dates in the query.
    state text COLLATE "C" NOT NULL -- running, done, undoing or undone.
    before_entry_id bigint -- Entries with a lower id are still to be looked at; NULL: all.
    total integer NOT NULL DEFAULT 0 -- Entries to change, counted at the beginning.
    changed integer NOT NULL DEFAULT 0 -- Entries that are changed by it now.
    started_at bigint NOT NULL -- Relative times in the query are meant for then.
    finished_at bigint
    claimed_until bigint -- A worker holds it until then; who dies loses it.
    claimed_by text COLLATE "C" NOT NULL DEFAULT ''::text
    fk_rule_runs_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_rule_runs PRIMARY KEY (id)
    CREATE INDEX ix_rule_runs_open ON public.rule_runs USING btree (id) WHERE (state = ANY (ARRAY['running'::text, 'undoing'::text]))
    CREATE INDEX ix_rule_runs_user ON public.rule_runs USING btree (user_id, id)
    CREATE UNIQUE INDEX pk_rule_runs ON public.rule_runs USING btree (id)

TABLE rules
    id integer NOT NULL DEFAULT nextval('rules_id_seq'::regclass)
    user_id integer NOT NULL
    position integer NOT NULL DEFAULT 0 -- Rules are tried in this order; equal ones by id.
    name text COLLATE "C" NOT NULL DEFAULT ''::text
    enabled boolean NOT NULL DEFAULT true
    scope text COLLATE "C" NOT NULL DEFAULT 'all'::text -- all, category or feed.
    category_id integer -- With scope category; NULL when it was deleted: the rule then does nothing.
    feed_id integer -- With scope feed; NULL when it was deleted: the rule then does nothing.
    query text COLLATE "C" NOT NULL DEFAULT ''::text -- In the query language; empty for every entry.
    actions text COLLATE "C" NOT NULL DEFAULT '[]'::text -- JSON: array of objects with a type.
    stop boolean NOT NULL DEFAULT false -- No later rule is tried on an entry that it matches.
    for_changed boolean NOT NULL DEFAULT false -- Whether it is tried on entries that the publisher changed, too.
    matched_total bigint NOT NULL DEFAULT 0 -- How many arriving entries it matched.
    matched_today integer NOT NULL DEFAULT 0 -- Of these, on the day matched_day.
    matched_day integer NOT NULL DEFAULT 0 -- Day of the user's calendar on which it matched last, counted from 1 January of year 1.
    matched_at bigint -- When it matched last.
    fk_rules_category_id_categories FOREIGN KEY (category_id) REFERENCES categories(id) ON DELETE SET NULL
    fk_rules_feed_id_feeds FOREIGN KEY (feed_id) REFERENCES feeds(id) ON DELETE SET NULL
    fk_rules_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_rules PRIMARY KEY (id)
    CREATE INDEX ix_rules_category ON public.rules USING btree (category_id) WHERE (category_id IS NOT NULL)
    CREATE INDEX ix_rules_feed ON public.rules USING btree (feed_id) WHERE (feed_id IS NOT NULL)
    CREATE INDEX ix_rules_user ON public.rules USING btree (user_id, "position", id)
    CREATE UNIQUE INDEX pk_rules ON public.rules USING btree (id)

TABLE search_languages
    user_id integer NOT NULL
    language text COLLATE "C" NOT NULL -- ISO 639 code of a language with stems of its own.
    fk_search_languages_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_search_languages PRIMARY KEY (user_id, language)
    CREATE UNIQUE INDEX pk_search_languages ON public.search_languages USING btree (user_id, language)

TABLE search_pending
    entry_id bigint NOT NULL -- Its title or body changed.
    user_id integer NOT NULL
    pk_search_pending PRIMARY KEY (entry_id)
    CREATE INDEX ix_search_pending_user ON public.search_pending USING btree (user_id, entry_id)
    CREATE UNIQUE INDEX pk_search_pending ON public.search_pending USING btree (entry_id)

TABLE search_sources
    user_id integer NOT NULL
    source_id integer NOT NULL
    fk_search_sources_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_search_sources PRIMARY KEY (user_id, source_id)
    CREATE UNIQUE INDEX pk_search_sources ON public.search_sources USING btree (user_id, source_id)

TABLE search_vectors
    entry_id bigint NOT NULL
    words tsvector -- Null: the entry has a shared vector.
    user_id integer NOT NULL -- The entry's.
    word_count integer NOT NULL DEFAULT 0 -- Of the body.
    vector_id bigint -- Of the shared vector. Null: the entry has a vector of its own.
    fk_search_vectors_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    pk_search_vectors PRIMARY KEY (entry_id)
    CREATE INDEX ix_search_vectors_shared ON public.search_vectors USING btree (user_id, vector_id, entry_id) WHERE (vector_id IS NOT NULL)
    CREATE INDEX ix_search_vectors_word_count ON public.search_vectors USING btree (user_id, word_count, entry_id)
    CREATE INDEX ix_search_vectors_words ON public.search_vectors USING gin (words)
    CREATE UNIQUE INDEX pk_search_vectors ON public.search_vectors USING btree (entry_id)

TABLE second_factors
    user_id integer NOT NULL
    secret text COLLATE "C" NOT NULL DEFAULT ''::text -- Of the authenticator app, in Base32; empty without an app.
    last_step bigint NOT NULL DEFAULT 0 -- The 30-second step whose code was used last: a code works once.
    asks_for_passkey boolean NOT NULL DEFAULT false -- A passkey is asked for after the password.
    fk_second_factors_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_second_factors PRIMARY KEY (user_id)
    CREATE UNIQUE INDEX pk_second_factors ON public.second_factors USING btree (user_id)

TABLE server_secrets
    name text COLLATE "C" NOT NULL -- What the secret is for.
    secret bytea NOT NULL -- Random bytes, written once and shared by all processes.
    pk_server_secrets PRIMARY KEY (name)
    CREATE UNIQUE INDEX pk_server_secrets ON public.server_secrets USING btree (name)

TABLE sessions
    id integer NOT NULL DEFAULT nextval('sessions_id_seq'::regclass)
    user_id integer NOT NULL
    token_hash bytea NOT NULL -- SHA-256 of what the cookie holds.
    created_at bigint NOT NULL
    last_seen_at bigint NOT NULL -- Written at most once a minute.
    expires_at bigint NOT NULL -- Moves on with last_seen_at.
    user_agent text COLLATE "C" NOT NULL DEFAULT ''::text -- As the browser introduced itself when it signed in.
    address text COLLATE "C" NOT NULL DEFAULT ''::text -- From where it signed in.
    method text COLLATE "C" NOT NULL DEFAULT ''::text -- How: a method, or two joined by a plus sign; empty before there were several.
    authenticated_at bigint NOT NULL DEFAULT 0 -- When the user last proved who they are: a password, a passkey, …
    fk_sessions_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_sessions PRIMARY KEY (id)
    uq_sessions_token_hash UNIQUE (token_hash)
    CREATE INDEX ix_sessions_expires ON public.sessions USING btree (expires_at)
    CREATE INDEX ix_sessions_user ON public.sessions USING btree (user_id, last_seen_at)
    CREATE UNIQUE INDEX pk_sessions ON public.sessions USING btree (id)
    CREATE UNIQUE INDEX uq_sessions_token_hash ON public.sessions USING btree (token_hash)

TABLE shared_contents
    id bigint NOT NULL DEFAULT nextval('shared_contents_id_seq'::regclass)
    source_id integer NOT NULL -- Whose entries have it; several feeds show the source.
    digest bytea NOT NULL -- Half of the SHA-256 of the content, which never changes.
    content bytea NOT NULL -- Cleaned HTML.
    pk_shared_contents PRIMARY KEY (id)
    uq_shared_contents_source_id_digest UNIQUE (source_id, digest)
    CREATE UNIQUE INDEX pk_shared_contents ON public.shared_contents USING btree (id)
    CREATE UNIQUE INDEX uq_shared_contents_source_id_digest ON public.shared_contents USING btree (source_id, digest)

TABLE shared_vectors
    id bigint NOT NULL DEFAULT nextval('shared_vectors_id_seq'::regclass)
    content_id bigint NOT NULL
    source_id integer NOT NULL -- The content's.
    digest bytea NOT NULL -- Half of the SHA-256 of title, body and language group.
    words tsvector NOT NULL -- Terms without an owner; they never change.
    fk_shared_vectors_content_id_shared_contents FOREIGN KEY (content_id) REFERENCES shared_contents(id) ON DELETE CASCADE
    pk_shared_vectors PRIMARY KEY (id)
    uq_shared_vectors_content_id_digest UNIQUE (content_id, digest)
    CREATE INDEX ix_shared_vectors_source ON public.shared_vectors USING btree (source_id)
    CREATE INDEX ix_shared_vectors_words ON public.shared_vectors USING gin (words)
    CREATE UNIQUE INDEX pk_shared_vectors ON public.shared_vectors USING btree (id)
    CREATE UNIQUE INDEX uq_shared_vectors_content_id_digest ON public.shared_vectors USING btree (content_id, digest)

TABLE sign_in_failures
    lane bytea NOT NULL -- Digest of a name, a network, both or a browser.
    failures integer NOT NULL DEFAULT 0
    last_at bigint NOT NULL
    next_turn_at bigint NOT NULL -- No attempt is looked at before.
    pk_sign_in_failures PRIMARY KEY (lane)
    CREATE INDEX ix_sign_in_failures_last_at ON public.sign_in_failures USING btree (last_at)
    CREATE UNIQUE INDEX pk_sign_in_failures ON public.sign_in_failures USING btree (lane)

TABLE snoozed_entries
    entry_id bigint NOT NULL
    user_id integer NOT NULL -- The entry's.
    until bigint NOT NULL -- When it becomes unread again.
    fk_snoozed_entries_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    pk_snoozed_entries PRIMARY KEY (entry_id)
    CREATE INDEX ix_snoozed_entries_until ON public.snoozed_entries USING btree (until, user_id)
    CREATE INDEX ix_snoozed_entries_user ON public.snoozed_entries USING btree (user_id, until, entry_id)
    CREATE UNIQUE INDEX pk_snoozed_entries ON public.snoozed_entries USING btree (entry_id)

TABLE sources
    id integer NOT NULL DEFAULT nextval('sources_id_seq'::regclass)
    fetch_key bytea NOT NULL -- Of address and fetch options: the same for all that share.
    host text COLLATE "C" NOT NULL -- Which host a fetch is counted for.
    next_check_at bigint -- The earliest of its enabled feeds; null: it has none.
    claimed_until bigint -- A worker holds it until then; who dies loses it.
    claimed_by text COLLATE "C" NOT NULL DEFAULT ''::text
    unshared_after integer -- Contents of entries of feeds with a higher id may not be shared yet; null: no feed's.
    is_shared boolean NOT NULL DEFAULT false -- A second feed was added: contents of entries are stored once for all feeds.
    pk_sources PRIMARY KEY (id)
    uq_sources_fetch_key UNIQUE (fetch_key)
    CREATE INDEX ix_sources_claimed ON public.sources USING btree (host, claimed_until) WHERE (claimed_by <> ''::text)
    CREATE INDEX ix_sources_claimed_by ON public.sources USING btree (claimed_by) WHERE (claimed_by <> ''::text)
    CREATE INDEX ix_sources_due ON public.sources USING btree (next_check_at, id) WHERE (next_check_at IS NOT NULL)
    CREATE INDEX ix_sources_host ON public.sources USING btree (host, next_check_at)
    CREATE INDEX ix_sources_unshared ON public.sources USING btree (id) WHERE (unshared_after IS NOT NULL)
    CREATE UNIQUE INDEX pk_sources ON public.sources USING btree (id)
    CREATE UNIQUE INDEX uq_sources_fetch_key ON public.sources USING btree (fetch_key)

TABLE spent_challenges
    nonce bytea NOT NULL
    expires_at bigint NOT NULL -- From then on the challenge is refused anyway.
    pk_spent_challenges PRIMARY KEY (nonce)
    CREATE INDEX ix_spent_challenges_expires_at ON public.spent_challenges USING btree (expires_at)
    CREATE UNIQUE INDEX pk_spent_challenges ON public.spent_challenges USING btree (nonce)

TABLE tombstones
    feed_id integer NOT NULL
    hash bytea NOT NULL -- Of an entry that was deleted and must not come back.
    seen_at bigint NOT NULL -- When it was deleted or, about a month exact, last seen in the document.
    user_id integer NOT NULL -- The feed's.
    fk_tombstones_feed_id_feeds FOREIGN KEY (feed_id) REFERENCES feeds(id) ON DELETE CASCADE
    pk_tombstones PRIMARY KEY (feed_id, hash)
    CREATE UNIQUE INDEX pk_tombstones ON public.tombstones USING btree (feed_id, hash)

TABLE user_bridges
    user_id integer NOT NULL
    rssbridge_url text COLLATE "C" NOT NULL DEFAULT ''::text -- Empty: the server's.
    rsshub_url text COLLATE "C" NOT NULL DEFAULT ''::text -- Empty: the server's.
    flaresolverr_url text COLLATE "C" NOT NULL DEFAULT ''::text -- Empty: the server's.
    taken_until bigint -- Its FlareSolverr works until then; whoever dies loses the turn.
    taken_by text COLLATE "C" NOT NULL DEFAULT ''::text
    fk_user_bridges_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_user_bridges PRIMARY KEY (user_id)
    CREATE UNIQUE INDEX pk_user_bridges ON public.user_bridges USING btree (user_id)

TABLE users
    id integer NOT NULL DEFAULT nextval('users_id_seq'::regclass)
    username text COLLATE "C" NOT NULL -- Lower case.
    password_hash text COLLATE "C" NOT NULL -- argon2id.
    is_admin boolean NOT NULL DEFAULT false
    created_at bigint NOT NULL
    last_login_at bigint -- Written at most once a minute; null until the first call.
    theme text COLLATE "C" NOT NULL DEFAULT 'light_serif'::text
    language text COLLATE "C" NOT NULL DEFAULT 'en_US'::text
    timezone text COLLATE "C" NOT NULL DEFAULT 'UTC'::text -- IANA name; every time the API shows this user is in it.
    entry_sorting_direction text COLLATE "C" NOT NULL DEFAULT 'asc'::text
    entry_sorting_order text COLLATE "C" NOT NULL DEFAULT 'published_at'::text
    categories_sorting_order text COLLATE "C" NOT NULL DEFAULT 'unread_count'::text
    entries_per_page integer NOT NULL DEFAULT 100
    default_home_page text COLLATE "C" NOT NULL DEFAULT 'unread'::text
    display_mode text COLLATE "C" NOT NULL DEFAULT 'standalone'::text
    gesture_nav text COLLATE "C" NOT NULL DEFAULT 'tap'::text
    keyboard_shortcuts boolean NOT NULL DEFAULT true
    show_reading_time boolean NOT NULL DEFAULT true
    entry_swipe boolean NOT NULL DEFAULT true
    default_reading_speed integer NOT NULL DEFAULT 265 -- Words a minute.
    cjk_reading_speed integer NOT NULL DEFAULT 500 -- Characters a minute.
    media_playback_rate double precision NOT NULL DEFAULT 1
    mark_read_on_view boolean NOT NULL DEFAULT true
    mark_read_on_media_player_completion boolean NOT NULL DEFAULT false
    always_open_external_links boolean NOT NULL DEFAULT false
    open_external_links_in_new_tab boolean NOT NULL DEFAULT true
    stylesheet text COLLATE "C" NOT NULL DEFAULT ''::text
    custom_js text COLLATE "C" NOT NULL DEFAULT ''::text
    external_font_hosts text COLLATE "C" NOT NULL DEFAULT ''::text
    google_id text COLLATE "C" NOT NULL DEFAULT ''::text
    openid_connect_id text COLLATE "C" NOT NULL DEFAULT ''::text
    block_filter_entry_rules text COLLATE "C" NOT NULL DEFAULT ''::text
    keep_filter_entry_rules text COLLATE "C" NOT NULL DEFAULT ''::text
    allow_account_password_in_apps boolean NOT NULL DEFAULT true -- The Google Reader API accepts password_hash, not only API passwords.
    reading_times_after integer -- Entries with a greater id have reading times of an earlier speed; null: none.
    has_chosen_theme boolean NOT NULL DEFAULT false -- False: pages show the theme of the system, and the API the default.
    has_chosen_direction boolean NOT NULL DEFAULT false -- False: pages show the newest entries first, and the API the default.
    proxies_pictures boolean NOT NULL DEFAULT false -- Pages load all pictures of articles through the media proxy.
    saves_starred boolean NOT NULL DEFAULT false -- Entries that become starred are saved to services.
    category_titles text COLLATE "C" NOT NULL DEFAULT 'path'::text -- How apps that know no tree see a category: path or name.
    duplicates text COLLATE "C" NOT NULL DEFAULT 'off'::text -- What happens to entries that repeat one of another feed.
    duplicates_in_apps text COLLATE "C" NOT NULL DEFAULT 'hide'::text -- What apps see of folded entries.
    hides_unread_counts boolean NOT NULL DEFAULT false -- Pages show no counts next to lists.
    shortcuts text COLLATE "C" NOT NULL DEFAULT ''::text -- Lines of a command and its keys, where these are not the defaults.
    pk_users PRIMARY KEY (id)
    uq_users_username UNIQUE (username)
    CREATE UNIQUE INDEX pk_users ON public.users USING btree (id)
    CREATE UNIQUE INDEX uq_users_google_id ON public.users USING btree (google_id) WHERE (google_id <> ''::text)
    CREATE UNIQUE INDEX uq_users_openid_connect_id ON public.users USING btree (openid_connect_id) WHERE (openid_connect_id <> ''::text)
    CREATE UNIQUE INDEX uq_users_username ON public.users USING btree (username)

TABLE views
    id integer NOT NULL DEFAULT nextval('views_id_seq'::regclass)
    user_id integer NOT NULL
    name text COLLATE "C" NOT NULL
    name_key text COLLATE "C" NOT NULL -- Case-folded: names are compared without case everywhere.
    query text COLLATE "C" NOT NULL DEFAULT ''::text -- As its user wrote it; empty for all entries.
    entry_order text COLLATE "C" NOT NULL DEFAULT 'published_at'::text -- By which time its entries are sorted.
    direction text COLLATE "C" NOT NULL DEFAULT 'desc'::text
    density text COLLATE "C" NOT NULL DEFAULT ''::text -- How densely its page lists entries; empty for the device's setting.
    icon text COLLATE "C" NOT NULL DEFAULT 'filter'::text -- Name of a drawing.
    position integer NOT NULL DEFAULT 0 -- Place in the sidebar, from 1 on.
    in_apps boolean NOT NULL DEFAULT false -- Apps of the Google Reader API see it as a label.
    is_home boolean NOT NULL DEFAULT false -- The first page after signing in; of one view at most.
    fk_views_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_views PRIMARY KEY (id)
    uq_views_user_id_name_key UNIQUE (user_id, name_key)
    CREATE UNIQUE INDEX pk_views ON public.views USING btree (id)
    CREATE UNIQUE INDEX uq_views_user_id_name_key ON public.views USING btree (user_id, name_key)

TABLE webhooks
    id integer NOT NULL DEFAULT nextval('webhooks_id_seq'::regclass)
    user_id integer NOT NULL
    name text COLLATE "C" NOT NULL DEFAULT ''::text
    is_main boolean NOT NULL DEFAULT false -- The one among the integrations; at most one of each user.
    enabled boolean NOT NULL DEFAULT false
    settings text COLLATE "C" NOT NULL DEFAULT '{}'::text -- JSON object with url and secret.
    events text COLLATE "C" NOT NULL DEFAULT '[]'::text -- JSON: names of the events that it gets.
    feed_ids text COLLATE "C" NOT NULL DEFAULT '[]'::text -- JSON: the feeds that it is told of; empty, as category_ids: all. Deleted ones stay.
    category_ids text COLLATE "C" NOT NULL DEFAULT '[]'::text -- JSON: categories, with those below them, whose feeds it is told of, too.
    query text COLLATE "C" NOT NULL DEFAULT ''::text -- In the query language; empty for every entry.
    changed_at bigint NOT NULL
    last_error text COLLATE "C" NOT NULL DEFAULT ''::text -- As in integrations.
    last_error_form text COLLATE "C" NOT NULL DEFAULT ''::text -- As in integrations.
    fk_webhooks_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_webhooks PRIMARY KEY (id)
    CREATE UNIQUE INDEX ix_webhooks_main ON public.webhooks USING btree (user_id) WHERE is_main
    CREATE INDEX ix_webhooks_user ON public.webhooks USING btree (user_id, id)
    CREATE UNIQUE INDEX pk_webhooks ON public.webhooks USING btree (id)

TABLE websub_pushes
    id integer NOT NULL DEFAULT nextval('websub_pushes_id_seq'::regclass)
    subscription_id integer NOT NULL
    digest bytea NOT NULL -- Of the body: the same again while it waits is dropped.
    charset text COLLATE "C" NOT NULL DEFAULT ''::text
    body bytea NOT NULL
    received_at bigint NOT NULL
    claimed_until bigint -- A worker stores it until then; who dies loses it.
    attempts integer NOT NULL DEFAULT 0
    fk_websub_pushes_subscription_id_websub_subscriptions FOREIGN KEY (subscription_id) REFERENCES websub_subscriptions(id) ON DELETE CASCADE
    pk_websub_pushes PRIMARY KEY (id)
    uq_websub_pushes_subscription_id_digest UNIQUE (subscription_id, digest)
    CREATE UNIQUE INDEX pk_websub_pushes ON public.websub_pushes USING btree (id)
    CREATE UNIQUE INDEX uq_websub_pushes_subscription_id_digest ON public.websub_pushes USING btree (subscription_id, digest)

TABLE websub_subscriptions
    id integer NOT NULL DEFAULT nextval('websub_subscriptions_id_seq'::regclass)
    hub text COLLATE "C" NOT NULL
    topic text COLLATE "C" NOT NULL -- As the publisher names its document at the hub.
    token text COLLATE "C" NOT NULL -- The end of the callback address; random, known to the hub alone.
    secret text COLLATE "C" NOT NULL -- What the hub signs pushes with.
    state text COLLATE "C" NOT NULL DEFAULT 'requested'::text -- requested, active, denied or ended.
    asked_at bigint -- When the hub was last asked for something: only that it may verify.
    lease_until bigint -- Null: nothing is promised.
    last_push_at bigint -- Null: pushes are not to be relied on, polling is not slowed down.
    next_attempt_at bigint NOT NULL -- When it is renewed, tried again, or forgotten.
    attempts integer NOT NULL DEFAULT 0 -- Requests since the hub last verified one.
    last_error text COLLATE "C" NOT NULL DEFAULT ''::text
    created_at bigint NOT NULL
    pk_websub_subscriptions PRIMARY KEY (id)
    uq_websub_subscriptions_hub_topic UNIQUE (hub, topic)
    uq_websub_subscriptions_token UNIQUE (token)
    CREATE INDEX ix_websub_subscriptions_due ON public.websub_subscriptions USING btree (next_attempt_at, id)
    CREATE UNIQUE INDEX pk_websub_subscriptions ON public.websub_subscriptions USING btree (id)
    CREATE UNIQUE INDEX uq_websub_subscriptions_hub_topic ON public.websub_subscriptions USING btree (hub, topic)
    CREATE UNIQUE INDEX uq_websub_subscriptions_token ON public.websub_subscriptions USING btree (token)

TABLE websub_topics
    source_id integer NOT NULL
    subscription_id integer NOT NULL
    fk_websub_topics_source_id_sources FOREIGN KEY (source_id) REFERENCES sources(id) ON DELETE CASCADE
    fk_websub_topics_subscription_id_websub_subscriptions FOREIGN KEY (subscription_id) REFERENCES websub_subscriptions(id) ON DELETE CASCADE
    pk_websub_topics PRIMARY KEY (source_id, subscription_id)
    CREATE INDEX ix_websub_topics_subscription ON public.websub_topics USING btree (subscription_id)
    CREATE UNIQUE INDEX pk_websub_topics ON public.websub_topics USING btree (source_id, subscription_id)

