-- The schema of a fresh notifier database, version 2. Older ones are lifted by migrations/.
--
-- `outbox` is the one table that other programs write to; all others are ours and begin with
-- `notifier_`, so that a shop's own tables can live in the same file. Times are integer
-- milliseconds since 1970 (UTC). The file can be read and written by SQLite 3.31 and later, and
-- stays close to what PostgreSQL understands.

CREATE TABLE notifier_schema (
    version INTEGER NOT NULL
);
INSERT INTO notifier_schema (version) VALUES (2);

-- One row is one message for one recipient. Only the first two columns and the payload are
-- needed from whoever inserts; what follows "delivery" is the sender's.
CREATE TABLE outbox (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    idempotency_key TEXT UNIQUE CONSTRAINT "idempotency_key: 1 to 255 characters"
                    CHECK (length(idempotency_key) BETWEEN 1 AND 255),
    -- A Telegram chat id (Telegram promises at most 52 significant bits), or customer:<id>.
    recipient       TEXT NOT NULL CONSTRAINT "recipient: a chat id or customer:<id>" CHECK (
        length(recipient) BETWEEN 1 AND 209 AND (
            channel <> 'telegram'
            OR (substr(recipient, 1, 9) = 'customer:' AND length(recipient) > 9)
            OR (CAST(CAST(recipient AS INTEGER) AS TEXT) = recipient
                AND CAST(recipient AS INTEGER) <> 0
                AND CAST(recipient AS INTEGER) BETWEEN -4503599627370495 AND 4503599627370495))),
    type            TEXT NOT NULL CONSTRAINT "type: 1 to 64 characters"
                    CHECK (length(type) BETWEEN 1 AND 64),
    payload         TEXT NOT NULL CONSTRAINT "payload: a JSON object of 256 KiB at most" CHECK (
        length(payload) <= 262144
        AND CASE WHEN json_valid(payload) THEN json_type(payload) = 'object' ELSE 0 END),
    channel         TEXT NOT NULL DEFAULT 'telegram' CONSTRAINT "channel: 1 to 64 characters"
                    CHECK (length(channel) BETWEEN 1 AND 64),
    -- What the message is about, such as order:17; opaque here.
    subject         TEXT,
    -- Messages of one recipient with the same key may replace each other while they wait for a link.
    collapse_key    TEXT,
    not_before      INTEGER CONSTRAINT "not_before: milliseconds since 1970"
                    CHECK (not_before IS NULL OR typeof(not_before) = 'integer'),
    expires_at      INTEGER CONSTRAINT "expires_at: milliseconds since 1970"
                    CHECK (expires_at IS NULL OR typeof(expires_at) = 'integer'),
    on_uncertain    TEXT CHECK (on_uncertain IN ('resend', 'hold')),
    created_at      INTEGER NOT NULL
                    DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
                    CHECK (typeof(created_at) = 'integer'),

    -- delivery
    state           TEXT NOT NULL DEFAULT 'pending' CHECK (
        state IN ('pending', 'sending', 'sent', 'uncertain', 'dead', 'canceled')),
    reason          TEXT CHECK (reason IN (
        'chat_dead', 'chat_not_found', 'no_rights', 'rejected', 'template_error',
        'too_many_attempts', 'expired', 'canceled', 'superseded', 'stopped')),
    detail          TEXT,
    -- The counted failures, and the attempts that the channel may have taken without saying so.
    failures        INTEGER NOT NULL DEFAULT 0,
    doubts          INTEGER NOT NULL DEFAULT 0,
    -- 1 once the markup was refused: it goes out as plain text.
    plain           INTEGER NOT NULL DEFAULT 0,
    -- Not before this instant; retry_wait is how long that was when it was set, so that a clock
    -- that jumps cannot lengthen it.
    retry_at        INTEGER,
    retry_wait      INTEGER,
    -- Where the age limit counts from when that is later than creation and not_before.
    age_from        INTEGER,
    remote_id       INTEGER,
    sent_to         TEXT,
    ended_at        INTEGER,
    -- When its content was erased; the row stays for its idempotency key.
    blanked_at      INTEGER,

    CHECK ((state IN ('dead', 'canceled')) = (reason IS NOT NULL)),
    CHECK ((state IN ('pending', 'sending')) = (ended_at IS NULL))
);
CREATE INDEX outbox_waiting ON outbox (channel, recipient, id) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_troubled ON outbox (state, id) WHERE state IN ('uncertain', 'dead', 'canceled');
CREATE INDEX outbox_ended ON outbox (ended_at, id) WHERE ended_at IS NOT NULL AND blanked_at IS NULL;
CREATE INDEX outbox_blanked ON outbox (ended_at) WHERE blanked_at IS NOT NULL;
CREATE INDEX outbox_subject ON outbox (subject, id) WHERE subject IS NOT NULL;

-- Whom messages go to, as far as there is something to remember. An address that is an alias has
-- nothing but its alias_of, which never names another alias.
CREATE TABLE notifier_recipients (
    channel     TEXT NOT NULL,
    address     TEXT NOT NULL,
    alias_of    TEXT,
    state       TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'doubtful', 'dead')),
    reason      TEXT,
    detail      TEXT,
    since       INTEGER,
    -- The gate: no call before gate_until, which was gate_wait long when it was set.
    gate_until  INTEGER,
    gate_wait   INTEGER,
    -- How many waits without a number came in a row.
    flood_step  INTEGER NOT NULL DEFAULT 0,
    -- The doubt: how often it was probed, and when the next probe is due.
    doubt_step  INTEGER NOT NULL DEFAULT 0,
    doubt_until INTEGER,
    doubt_wait  INTEGER,
    -- Raised by every sign of life; a verdict from an older epoch leaves the recipient alone.
    epoch       INTEGER NOT NULL DEFAULT 0,
    -- The sender's counter at the last change that somebody other than the sender made.
    mark        INTEGER NOT NULL DEFAULT 0,
    -- 1 once it has accepted a message.
    accepted    INTEGER NOT NULL DEFAULT 0,
    -- 1 once it was taken back by the guard against mass death: refused again, it is dead at once.
    spared      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (channel, address)
);
CREATE INDEX notifier_recipients_alias ON notifier_recipients (channel, alias_of) WHERE alias_of IS NOT NULL;
CREATE INDEX notifier_recipients_mark ON notifier_recipients (channel, mark) WHERE mark > 0;
CREATE INDEX notifier_recipients_state ON notifier_recipients (channel, state) WHERE state <> 'open';

-- One row is one call for one message: written before the call, completed after it.
CREATE TABLE notifier_attempts (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    channel    TEXT NOT NULL,
    message_id INTEGER NOT NULL,
    address    TEXT NOT NULL,
    epoch      INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    result     TEXT NOT NULL DEFAULT 'open',
    -- 1 while this attempt counts towards the message's failures.
    counted    INTEGER NOT NULL DEFAULT 0,
    detail     TEXT,
    CHECK ((result = 'open') = (ended_at IS NULL))
);
CREATE INDEX notifier_attempts_message ON notifier_attempts (message_id, id);
CREATE INDEX notifier_attempts_open ON notifier_attempts (channel, id) WHERE result = 'open';

-- One row per channel: what its sender has to remember, and what it wants known.
CREATE TABLE notifier_senders (
    channel    TEXT PRIMARY KEY,
    -- Who we are at the channel (the bot's id); another identity must not send.
    identity   TEXT,
    paused_at  INTEGER,
    gate_until INTEGER,
    gate_wait  INTEGER,
    -- What holds up the whole channel at present, as last written by its sender.
    state      TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'waiting', 'stopped')),
    reason     TEXT,
    until      INTEGER,
    -- Counts the changes by others; see notifier_recipients.mark.
    mark       INTEGER NOT NULL DEFAULT 0,
    -- Since when the guard against mass death holds, if it does.
    guard_since INTEGER,
    -- The machine and file (inode) that sent last; another one is a copy. copied_at marks a backup.
    machine    TEXT,
    inode      INTEGER,
    copied_at  INTEGER,
    -- The commands menu that the bot was last given, as a hash.
    menu       TEXT
);

-- Pauses by a person that are over. Their time does not make messages older.
CREATE TABLE notifier_pauses (
    channel    TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL
);

CREATE TABLE notifier_customers (
    id         TEXT PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 200),
    name       TEXT NOT NULL DEFAULT '',
    locale     TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL
);

CREATE TABLE notifier_orders (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    number       TEXT UNIQUE,
    customer_id  TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (
        status IN ('placed', 'paid', 'ready', 'shipped', 'delivered', 'canceled', 'refunded')),
    currency     TEXT NOT NULL,
    total_cents  INTEGER NOT NULL,
    items        TEXT NOT NULL DEFAULT '[]',
    note         TEXT NOT NULL DEFAULT '',
    metadata     TEXT NOT NULL DEFAULT '{}',
    status_note  TEXT NOT NULL DEFAULT '',
    tracking_url TEXT NOT NULL DEFAULT '',
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
);
CREATE INDEX notifier_orders_customer ON notifier_orders (customer_id, id);

-- The first answers to requests that came with an Idempotency-Key.
CREATE TABLE notifier_keys (
    scope      TEXT NOT NULL,
    key        TEXT NOT NULL,
    hash       BLOB NOT NULL,
    status     INTEGER NOT NULL,
    location   TEXT NOT NULL DEFAULT '',
    body       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
);

-- Invitations: who presses Start with one of these becomes the customer. Only hashes are stored.
CREATE TABLE notifier_links (
    token_hash  BLOB PRIMARY KEY,
    customer_id TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    used_at     INTEGER
);
CREATE INDEX notifier_links_customer ON notifier_links (customer_id);

-- The inbox: updates that were taken from the channel, each stored with its effect in one
-- transaction. A repeated id within two days is a repetition.
CREATE TABLE notifier_updates (
    update_id   INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL,
    kind        TEXT NOT NULL
);
CREATE INDEX notifier_updates_received ON notifier_updates (received_at);

-- Wrong invitations of a chat within the last hour, to slow down guessing.
CREATE TABLE notifier_guesses (
    chat     TEXT PRIMARY KEY,
    since    INTEGER NOT NULL,
    failures INTEGER NOT NULL
);
