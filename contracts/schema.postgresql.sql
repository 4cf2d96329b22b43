TABLE api_keys
    id integer NOT NULL DEFAULT nextval('api_keys_id_seq'::regclass)
    user_id integer NOT NULL
    description text COLLATE "C" NOT NULL
    description_key text COLLATE "C" NOT NULL -- Case-folded: one description once per user.
    token text COLLATE "C" NOT NULL -- 64 hex digits; shown in full to its owner by contract.
    created_at bigint NOT NULL
    last_used_at bigint -- Written at most once a minute.
    fk_api_keys_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_api_keys PRIMARY KEY (id)
    uq_api_keys_token UNIQUE (token)
    uq_api_keys_user_id_description_key UNIQUE (user_id, description_key)
    CREATE UNIQUE INDEX pk_api_keys ON public.api_keys USING btree (id)
    CREATE UNIQUE INDEX uq_api_keys_token ON public.api_keys USING btree (token)
    CREATE UNIQUE INDEX uq_api_keys_user_id_description_key ON public.api_keys USING btree (user_id, description_key)

TABLE categories
    id integer NOT NULL DEFAULT nextval('categories_id_seq'::regclass)
    user_id integer NOT NULL
    title text COLLATE "C" NOT NULL
    title_key text COLLATE "C" NOT NULL -- Case-folded: names are compared without case everywhere.
    hide_globally boolean NOT NULL DEFAULT false
    fk_categories_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_categories PRIMARY KEY (id)
    uq_categories_user_id_title_key UNIQUE (user_id, title_key)
    CREATE INDEX ix_categories_user_title ON public.categories USING btree (user_id, title, id)
    CREATE UNIQUE INDEX pk_categories ON public.categories USING btree (id)
    CREATE UNIQUE INDEX uq_categories_user_id_title_key ON public.categories USING btree (user_id, title_key)

TABLE deliveries
    id integer NOT NULL DEFAULT nextval('deliveries_id_seq'::regclass)
    user_id integer NOT NULL
    delivery_id text COLLATE "C" NOT NULL -- Unique; sent along so that a receiver can drop a repeat.
    integration text COLLATE "C" NOT NULL -- Which integration carries it, as in integrations.name.
    event_type text COLLATE "C" NOT NULL -- new_entries or save_entry.
    receiver text COLLATE "C" NOT NULL -- Deliveries to one receiver go out in order.
    feed_id integer -- Kept when the feed goes.
    body bytea NOT NULL -- What is sent, byte for byte: the signature covers it.
    state text COLLATE "C" NOT NULL DEFAULT 'pending'::text -- pending, delivered or failed.
    attempts integer NOT NULL DEFAULT 0
    created_at bigint NOT NULL
    next_attempt_at bigint -- Null when nothing more will be tried.
    claimed_until bigint
    claimed_by text COLLATE "C" NOT NULL DEFAULT ''::text
    finished_at bigint
    last_status integer NOT NULL DEFAULT 0 -- HTTP status of the last answer, 0 when there was none.
    last_error text COLLATE "C" NOT NULL DEFAULT ''::text
    last_response text COLLATE "C" NOT NULL DEFAULT ''::text -- The beginning of the last answer.
    fk_deliveries_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_deliveries PRIMARY KEY (id)
    uq_deliveries_delivery_id UNIQUE (delivery_id)
    CREATE INDEX ix_deliveries_due ON public.deliveries USING btree (next_attempt_at, id) WHERE (state = 'pending'::text)
    CREATE INDEX ix_deliveries_receiver ON public.deliveries USING btree (receiver, id) WHERE (state = 'pending'::text)
    CREATE INDEX ix_deliveries_user ON public.deliveries USING btree (user_id, id)
    CREATE UNIQUE INDEX pk_deliveries ON public.deliveries USING btree (id)
    CREATE UNIQUE INDEX uq_deliveries_delivery_id ON public.deliveries USING btree (delivery_id)

TABLE enclosures
    id integer NOT NULL DEFAULT nextval('enclosures_id_seq'::regclass)
    user_id integer NOT NULL
    entry_id integer NOT NULL
    url text COLLATE "C" NOT NULL
    mime_type text COLLATE "C" NOT NULL DEFAULT ''::text
    size bigint NOT NULL DEFAULT 0 -- Bytes, 0 when unknown.
    media_progression bigint NOT NULL DEFAULT 0 -- Seconds, set by the client.
    fk_enclosures_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    pk_enclosures PRIMARY KEY (id)
    CREATE INDEX ix_enclosures_entry ON public.enclosures USING btree (entry_id, id)
    CREATE UNIQUE INDEX pk_enclosures ON public.enclosures USING btree (id)

TABLE entries
    id integer NOT NULL DEFAULT nextval('entries_id_seq'::regclass)
    user_id integer NOT NULL
    feed_id integer NOT NULL
    category_id integer NOT NULL -- The feed's.
    status smallint NOT NULL -- 0 unread, 1 read, 2 removed.
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
    CREATE INDEX ix_entries_user_id ON public.entries USING btree (user_id, id, status)
    CREATE INDEX ix_entries_user_published ON public.entries USING btree (user_id, published_at, id, status)
    CREATE INDEX ix_entries_user_starred ON public.entries USING btree (user_id, starred, published_at, id) WHERE (starred = true)
    CREATE INDEX ix_entries_user_status ON public.entries USING btree (user_id, status, id)
    CREATE INDEX ix_entries_user_title ON public.entries USING btree (user_id, substr(title, 1, 100), id)
    CREATE INDEX ix_entries_user_unread ON public.entries USING btree (user_id, status, published_at, id) WHERE (status = 0)
    CREATE UNIQUE INDEX pk_entries ON public.entries USING btree (id)
    CREATE UNIQUE INDEX uq_entries_feed_id_hash ON public.entries USING btree (feed_id, hash)

TABLE entry_contents
    entry_id integer NOT NULL
    content bytea NOT NULL -- Cleaned HTML.
    fk_entry_contents_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    pk_entry_contents PRIMARY KEY (entry_id)
    CREATE UNIQUE INDEX pk_entry_contents ON public.entry_contents USING btree (entry_id)

TABLE entry_tags
    user_id integer NOT NULL
    tag text COLLATE "C" NOT NULL -- Case-folded, cut at 200 characters.
    entry_id integer NOT NULL
    fk_entry_tags_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    pk_entry_tags PRIMARY KEY (user_id, tag, entry_id)
    CREATE INDEX ix_entry_tags_entry_id ON public.entry_tags USING btree (entry_id)
    CREATE UNIQUE INDEX pk_entry_tags ON public.entry_tags USING btree (user_id, tag, entry_id)

TABLE feed_counters
    feed_id integer NOT NULL
    user_id integer NOT NULL
    unread integer NOT NULL DEFAULT 0
    read integer NOT NULL DEFAULT 0
    starred_unread integer NOT NULL DEFAULT 0 -- Of the unread ones.
    starred_read integer NOT NULL DEFAULT 0 -- Of the read ones.
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
    title_key text COLLATE "C" NOT NULL -- Case-folded, for the order of the feed list.
    description text COLLATE "C" NOT NULL DEFAULT ''::text
    language text COLLATE "C" NOT NULL DEFAULT ''::text
    edited integer NOT NULL DEFAULT 0 -- Bits of the fields the user set: they no longer follow the publisher.
    created_at bigint NOT NULL
    checked_at bigint NOT NULL
    next_check_at bigint NOT NULL -- Always true: when the poller may take it next.
    claimed_until bigint -- A worker holds it until then; who dies loses it.
    claimed_by text COLLATE "C" NOT NULL DEFAULT ''::text
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
    fk_feeds_category_id_categories FOREIGN KEY (category_id) REFERENCES categories(id) ON DELETE CASCADE
    fk_feeds_icon_id_icons FOREIGN KEY (icon_id) REFERENCES icons(id) ON DELETE SET NULL
    fk_feeds_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_feeds PRIMARY KEY (id)
    uq_feeds_user_id_feed_url UNIQUE (user_id, feed_url)
    CREATE INDEX ix_feeds_category ON public.feeds USING btree (category_id)
    CREATE INDEX ix_feeds_due ON public.feeds USING btree (next_check_at, id) WHERE (NOT disabled)
    CREATE INDEX ix_feeds_icon ON public.feeds USING btree (icon_id)
    CREATE UNIQUE INDEX pk_feeds ON public.feeds USING btree (id)
    CREATE UNIQUE INDEX uq_feeds_user_id_feed_url ON public.feeds USING btree (user_id, feed_url)

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

TABLE integrations
    user_id integer NOT NULL
    name text COLLATE "C" NOT NULL -- As in the API: webhook, wallabag …
    enabled boolean NOT NULL DEFAULT false
    settings text COLLATE "C" NOT NULL DEFAULT '{}'::text -- JSON object; its members are the integration's own.
    changed_at bigint NOT NULL
    fk_integrations_user_id_users FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
    pk_integrations PRIMARY KEY (user_id, name)
    CREATE UNIQUE INDEX pk_integrations ON public.integrations USING btree (user_id, name)

TABLE search_pending
    entry_id integer NOT NULL -- Its title or body changed.
    user_id integer NOT NULL
    pk_search_pending PRIMARY KEY (entry_id)
    CREATE INDEX ix_search_pending_user ON public.search_pending USING btree (user_id, entry_id)
    CREATE UNIQUE INDEX pk_search_pending ON public.search_pending USING btree (entry_id)

TABLE search_vectors
    entry_id integer NOT NULL
    words tsvector NOT NULL
    fk_search_vectors_entry_id_entries FOREIGN KEY (entry_id) REFERENCES entries(id) ON DELETE CASCADE
    pk_search_vectors PRIMARY KEY (entry_id)
    CREATE INDEX ix_search_vectors_words ON public.search_vectors USING gin (words)
    CREATE UNIQUE INDEX pk_search_vectors ON public.search_vectors USING btree (entry_id)

TABLE tombstones
    feed_id integer NOT NULL
    hash bytea NOT NULL -- Of an entry that was deleted and must not come back.
    created_at bigint NOT NULL
    fk_tombstones_feed_id_feeds FOREIGN KEY (feed_id) REFERENCES feeds(id) ON DELETE CASCADE
    pk_tombstones PRIMARY KEY (feed_id, hash)
    CREATE UNIQUE INDEX pk_tombstones ON public.tombstones USING btree (feed_id, hash)

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
    pk_users PRIMARY KEY (id)
    uq_users_username UNIQUE (username)
    CREATE UNIQUE INDEX pk_users ON public.users USING btree (id)
    CREATE UNIQUE INDEX uq_users_google_id ON public.users USING btree (google_id) WHERE (google_id <> ''::text)
    CREATE UNIQUE INDEX uq_users_openid_connect_id ON public.users USING btree (openid_connect_id) WHERE (openid_connect_id <> ''::text)
    CREATE UNIQUE INDEX uq_users_username ON public.users USING btree (username)

