-- The schema of a fresh notifier database, version 3. Older ones are lifted by migrations/.
--
-- `outbox` is the one table that other programs write to; all others are ours and begin with
-- `notifier_`, so that a shop's own tables can live in the same file. Times are integer
-- milliseconds since 1970 (UTC). The file can be read and written by SQLite 3.31 and later, and
-- stays close to what PostgreSQL understands.

CREATE TABLE notifier_schema (
    version INTEGER NOT NULL
);
INSERT INTO notifier_schema (version) VALUES (3);

-- The channels that somebody serves. A message for any other would wait unseen for ever.
CREATE TABLE notifier_channels (
    name TEXT PRIMARY KEY CHECK (typeof(name) = 'text' AND length(name) BETWEEN 1 AND 64)
);
INSERT INTO notifier_channels (name) VALUES ('telegram');

-- One row is one message for one recipient. Only the first two columns and the payload are
-- needed from whoever inserts; what follows "delivery" is the sender's. Each CHECK bounds the
-- type and the range of a value, so that the sender can read every row.
CREATE TABLE outbox (
    id              INTEGER PRIMARY KEY AUTOINCREMENT
                    CONSTRAINT "id: leave it out, or give one from 1 to 2^53-1" CHECK (id BETWEEN 1 AND 9007199254740991),
    idempotency_key TEXT CONSTRAINT "idempotency_key: a text of 1 to 255 characters" CHECK (
        typeof(idempotency_key) <> 'blob' AND length(idempotency_key) BETWEEN 1 AND 255),
    -- A Telegram chat id (Telegram promises at most 52 significant bits), or customer:<id>. SQLite
    -- before 3.32 shows a CHECK the value before it becomes a text, so it is compared as one.
    recipient       TEXT NOT NULL CONSTRAINT "recipient: a chat id or customer:<id>" CHECK (
        typeof(recipient) <> 'blob' AND length(recipient) BETWEEN 1 AND 209 AND instr(recipient, char(0)) = 0 AND (
            channel <> 'telegram'
            OR (substr(recipient, 1, 9) = 'customer:' AND length(recipient) > 9)
            OR (CAST(CAST(recipient AS INTEGER) AS TEXT) = CAST(recipient AS TEXT)
                AND CAST(recipient AS INTEGER) <> 0
                AND CAST(recipient AS INTEGER) BETWEEN -4503599627370495 AND 4503599627370495))),
    type            TEXT NOT NULL CONSTRAINT "type: a text of 1 to 64 characters" CHECK (
        typeof(type) <> 'blob' AND length(type) BETWEEN 1 AND 64),
    payload         TEXT NOT NULL CONSTRAINT "payload: a JSON object of 256 KiB at most" CHECK (
        typeof(payload) = 'text' AND length(payload) <= 262144
        AND CASE WHEN json_valid(payload) THEN json_type(payload) = 'object' ELSE 0 END),
    channel         TEXT NOT NULL DEFAULT 'telegram' CONSTRAINT "channel: a text of 1 to 64 characters" CHECK (
        typeof(channel) = 'text' AND length(channel) BETWEEN 1 AND 64),
    -- What the message is about, such as order:17; opaque here.
    subject         TEXT CONSTRAINT "subject: a text of 300 characters at most" CHECK (
        typeof(subject) <> 'blob' AND length(subject) <= 300),
    -- Messages of one recipient with the same key may replace each other while they wait for a link.
    collapse_key    TEXT CONSTRAINT "collapse_key: a text of 300 characters at most" CHECK (
        typeof(collapse_key) <> 'blob' AND length(collapse_key) <= 300),
    not_before      INTEGER CONSTRAINT "not_before: milliseconds since 1970, an integer of 13 digits" CHECK (
        not_before IS NULL OR (typeof(not_before) = 'integer' AND not_before BETWEEN 1000000000000 AND 9999999999999)),
    expires_at      INTEGER CONSTRAINT "expires_at: milliseconds since 1970, an integer of 13 digits" CHECK (
        expires_at IS NULL OR (typeof(expires_at) = 'integer' AND expires_at BETWEEN 1000000000000 AND 9999999999999)),
    on_uncertain    TEXT CONSTRAINT "on_uncertain: resend or hold" CHECK (on_uncertain IN ('resend', 'hold')),
    -- 0: a reply to what a person has just written; 1: orders and messages; 2: broadcasts. A lower
    -- rank goes first, and within one rank a recipient's messages go in the order of their ids.
    rank            INTEGER NOT NULL DEFAULT 1 CONSTRAINT "rank: 0, 1 or 2" CHECK (
        typeof(rank) = 'integer' AND rank BETWEEN 0 AND 2),
    created_at      INTEGER NOT NULL
                    DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
                    CONSTRAINT "created_at: milliseconds since 1970, an integer of 13 digits" CHECK (
        typeof(created_at) = 'integer' AND created_at BETWEEN 1000000000000 AND 9999999999999),

    -- delivery
    state           TEXT NOT NULL DEFAULT 'pending' CONSTRAINT "state: leave it out" CHECK (
        state IN ('pending', 'sending', 'sent', 'uncertain', 'dead', 'canceled')
        AND (address IS NOT NULL OR state = 'pending')),
    reason          TEXT CONSTRAINT "reason: leave it out" CHECK (reason IN (
        'chat_dead', 'chat_not_found', 'no_rights', 'rejected', 'template_error',
        'too_many_attempts', 'expired', 'canceled', 'superseded', 'stopped')),
    detail          TEXT CONSTRAINT "detail: leave it out" CHECK (typeof(detail) <> 'blob' AND length(detail) <= 4000),
    -- Where the message goes now, or went: the recipient with its alias resolved. A customer without
    -- a chat stands for itself. NULL until the sender has taken the row in: such rows are arrivals.
    address         TEXT CONSTRAINT "address: leave it out" CHECK (
        typeof(address) <> 'blob' AND length(address) BETWEEN 1 AND 209),
    -- 0: in line; 1: planned for ready_at; 2: without a chat.
    hold            INTEGER NOT NULL DEFAULT 0 CONSTRAINT "hold: leave it out" CHECK (
        typeof(hold) = 'integer' AND hold BETWEEN 0 AND 2),
    -- Not before this instant; ready_wait is how long that was when it was set, so that a clock
    -- that jumps cannot lengthen it.
    ready_at        INTEGER NOT NULL DEFAULT 0 CONSTRAINT "ready_at: leave it out" CHECK (
        typeof(ready_at) = 'integer' AND ready_at BETWEEN 0 AND 9999999999999),
    ready_wait      INTEGER NOT NULL DEFAULT 0 CONSTRAINT "ready_wait: leave it out" CHECK (
        typeof(ready_wait) = 'integer' AND ready_wait BETWEEN 0 AND 9999999999999),
    -- What its age limit counts from: the latest of creation, not_before, its link and a retry.
    age_from        INTEGER NOT NULL DEFAULT 0 CONSTRAINT "age_from: leave it out" CHECK (
        typeof(age_from) = 'integer' AND age_from BETWEEN 0 AND 9999999999999),
    -- The counted failures, and the attempts that the channel may have taken without saying so.
    failures        INTEGER NOT NULL DEFAULT 0 CONSTRAINT "failures: leave it out" CHECK (
        typeof(failures) = 'integer' AND failures BETWEEN 0 AND 1000000),
    doubts          INTEGER NOT NULL DEFAULT 0 CONSTRAINT "doubts: leave it out" CHECK (
        typeof(doubts) = 'integer' AND doubts BETWEEN 0 AND 1000000),
    -- 1 once the markup was refused: it goes out as plain text.
    plain           INTEGER NOT NULL DEFAULT 0 CONSTRAINT "plain: leave it out" CHECK (
        typeof(plain) = 'integer' AND plain BETWEEN 0 AND 1),
    remote_id       INTEGER CONSTRAINT "remote_id: leave it out" CHECK (
        remote_id IS NULL OR typeof(remote_id) = 'integer'),
    ended_at        INTEGER CONSTRAINT "ended_at: leave it out" CHECK (
        ended_at IS NULL OR (typeof(ended_at) = 'integer' AND ended_at BETWEEN 0 AND 9999999999999)),
    -- When its content was erased; the row stays for its idempotency key.
    blanked_at      INTEGER CONSTRAINT "blanked_at: leave it out" CHECK (
        blanked_at IS NULL OR (typeof(blanked_at) = 'integer' AND blanked_at BETWEEN 0 AND 9999999999999)),

    CONSTRAINT "reason: leave it out" CHECK ((state IN ('dead', 'canceled')) = (reason IS NOT NULL)),
    CONSTRAINT "ended_at: leave it out" CHECK ((state IN ('pending', 'sending')) = (ended_at IS NULL))
);

-- An index of its own, since a migration builds it after the rows are there.
CREATE UNIQUE INDEX outbox_key ON outbox (idempotency_key);
-- A key that is there is never inserted again, not even by INSERT OR REPLACE; a key is kept, and the
-- row that came with it again is ignored. RAISE(IGNORE) leaves ON CONFLICT … DO NOTHING as it is.
CREATE TRIGGER outbox_known_key BEFORE INSERT ON outbox
WHEN NEW.idempotency_key IS NOT NULL
    AND EXISTS (SELECT 1 FROM outbox WHERE idempotency_key = CAST(NEW.idempotency_key AS TEXT))
BEGIN
    SELECT RAISE(IGNORE);
END;
-- While an id is not given, NEW.id is -1 here (SQLite's vdbe; its documents leave it undefined).
CREATE TRIGGER outbox_known_id BEFORE INSERT ON outbox
WHEN NEW.id > 0 AND EXISTS (SELECT 1 FROM outbox WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'id: another row has it; leave it out');
END;
-- AUTOINCREMENT goes on after the largest id, so one id near the end would leave no room for others.
CREATE TRIGGER outbox_far_id BEFORE INSERT ON outbox
WHEN NEW.id > 1000000000 + coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'outbox'), 0)
BEGIN
    SELECT RAISE(ABORT, 'id: too far from the last one; leave it out');
END;
CREATE TRIGGER outbox_known_channel BEFORE INSERT ON outbox
WHEN NOT EXISTS (SELECT 1 FROM notifier_channels WHERE name = NEW.channel)
BEGIN
    SELECT RAISE(ABORT, 'channel: no such channel; those that exist are in notifier_channels');
END;

-- Rows that the sender has not taken in yet.
CREATE INDEX outbox_arrivals ON outbox (channel, id) WHERE address IS NULL;
CREATE INDEX outbox_arrivals_recipient ON outbox (channel, recipient, id) WHERE address IS NULL;
-- What waits for an address: the head of its line is the first row with hold = 0.
CREATE INDEX outbox_waiting ON outbox (channel, address, hold, rank, id)
    WHERE state = 'pending' AND address IS NOT NULL;
CREATE INDEX outbox_sending ON outbox (channel, address, id) WHERE state = 'sending';
CREATE INDEX outbox_planned ON outbox (channel, ready_at)
    WHERE state = 'pending' AND address IS NOT NULL AND hold = 1;
-- Of the messages that wait for a link only the newest of each collapse key is sent.
CREATE INDEX outbox_unlinked ON outbox (channel, address, collapse_key, id)
    WHERE state = 'pending' AND address IS NOT NULL AND hold = 2 AND collapse_key IS NOT NULL;
-- The age limit: of messages with a time of their own, and of those without.
CREATE INDEX outbox_expires ON outbox (channel, expires_at)
    WHERE state = 'pending' AND address IS NOT NULL AND expires_at IS NOT NULL;
CREATE INDEX outbox_age ON outbox (channel, hold, age_from)
    WHERE state = 'pending' AND address IS NOT NULL AND expires_at IS NULL;
-- Lists, newest first.
CREATE INDEX outbox_open ON outbox (channel, id) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_sent ON outbox (channel, id) WHERE state = 'sent';
CREATE INDEX outbox_troubled ON outbox (channel, state, id) WHERE state IN ('uncertain', 'dead', 'canceled');
CREATE INDEX outbox_reason ON outbox (channel, reason, id) WHERE reason IS NOT NULL;
CREATE INDEX outbox_recipient ON outbox (channel, recipient, id);
CREATE INDEX outbox_address ON outbox (channel, address, id) WHERE address IS NOT NULL;
CREATE INDEX outbox_subject ON outbox (subject, id) WHERE subject IS NOT NULL;
-- Retention.
CREATE INDEX outbox_ended ON outbox (channel, ended_at, id) WHERE ended_at IS NOT NULL AND blanked_at IS NULL;
CREATE INDEX outbox_blanked ON outbox (channel, ended_at) WHERE blanked_at IS NOT NULL;

-- Whom messages go to, as far as there is something to remember. An address that is an alias has
-- nothing but its alias_of, which never names another alias.
CREATE TABLE notifier_recipients (
    channel     TEXT NOT NULL,
    address     TEXT NOT NULL,
    alias_of    TEXT,
    state       TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'doubtful', 'dead')),
    reason      TEXT,
    detail      TEXT,
    since       INTEGER CHECK (since IS NULL OR typeof(since) = 'integer'),
    -- The turn: when the next call to this address may be tried, the message it is for (its head),
    -- and that one's rank. NULL: nothing can go by itself, or a call is under way.
    turn_at     INTEGER CHECK (turn_at IS NULL OR typeof(turn_at) = 'integer'),
    turn_rank   INTEGER CHECK (turn_rank IS NULL OR typeof(turn_rank) = 'integer'),
    head        INTEGER CHECK (head IS NULL OR typeof(head) = 'integer'),
    -- The gate: no call before gate_until, which was gate_wait long when it was set.
    gate_until  INTEGER CHECK (gate_until IS NULL OR typeof(gate_until) = 'integer'),
    gate_wait   INTEGER NOT NULL DEFAULT 0 CHECK (typeof(gate_wait) = 'integer'),
    -- How many waits without a number came in a row.
    flood_step  INTEGER NOT NULL DEFAULT 0 CHECK (typeof(flood_step) = 'integer'),
    -- The doubt: how often it was probed, and when the next probe is due.
    doubt_step  INTEGER NOT NULL DEFAULT 0 CHECK (typeof(doubt_step) = 'integer'),
    doubt_until INTEGER CHECK (doubt_until IS NULL OR typeof(doubt_until) = 'integer'),
    doubt_wait  INTEGER NOT NULL DEFAULT 0 CHECK (typeof(doubt_wait) = 'integer'),
    -- The pace: no call before pace_until, by the limits of one chat; pace_wait long when it was set.
    pace_until  INTEGER CHECK (pace_until IS NULL OR typeof(pace_until) = 'integer'),
    pace_wait   INTEGER NOT NULL DEFAULT 0 CHECK (typeof(pace_wait) = 'integer'),
    -- Raised by every sign of life; a verdict from an older epoch leaves the recipient alone.
    epoch       INTEGER NOT NULL DEFAULT 0 CHECK (typeof(epoch) = 'integer'),
    -- Which identity (bot) it has accepted a message from.
    accepted_by TEXT,
    -- 1 once it was taken back by the guard against mass death: refused again, it is dead at once.
    spared      INTEGER NOT NULL DEFAULT 0 CHECK (spared IN (0, 1)),
    PRIMARY KEY (channel, address)
);
CREATE INDEX notifier_recipients_turn ON notifier_recipients (channel, turn_rank, turn_at, head) WHERE turn_at IS NOT NULL;
CREATE INDEX notifier_recipients_alias ON notifier_recipients (channel, alias_of, address) WHERE alias_of IS NOT NULL;
CREATE INDEX notifier_recipients_state ON notifier_recipients (channel, state, address) WHERE state IN ('doubtful', 'dead');
CREATE INDEX notifier_recipients_gate ON notifier_recipients (channel, gate_until) WHERE gate_until IS NOT NULL;

-- Work on many messages that goes in slices and is resumed after a kill. A recipient with such work
-- has no turn until it is done.
CREATE TABLE notifier_tasks (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    channel  TEXT NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('end', 'move', 'relink', 'restore', 'erase', 'retry', 'revive')),
    address  TEXT,              -- whose messages
    target   TEXT,              -- move, relink: where they go
    state    TEXT,              -- end: how they end; retry, revive: which are chosen
    reason   TEXT,
    detail   TEXT,
    since    INTEGER,           -- restore, retry, revive: only what ended or changed since
    upto     INTEGER,           -- end, restore: only ids up to this one
    after    TEXT,              -- how far it has come: an id, or an address
    changed  INTEGER NOT NULL DEFAULT 0, -- how many rows it has changed
    done     INTEGER NOT NULL DEFAULT 0 -- 1: a bulk action that is over, kept until its count was read
);
CREATE INDEX notifier_tasks_address ON notifier_tasks (channel, address) WHERE address IS NOT NULL;
CREATE INDEX notifier_tasks_target ON notifier_tasks (channel, target) WHERE target IS NOT NULL;

-- How many messages and chats there are of each kind; kept by our own transactions. A message counts
-- once it was taken in.
CREATE TABLE notifier_counts (
    channel TEXT NOT NULL,
    kind    TEXT NOT NULL CHECK (kind IN ('message', 'chat')),
    state   TEXT NOT NULL,
    reason  TEXT NOT NULL DEFAULT '',
    n       INTEGER NOT NULL,
    PRIMARY KEY (channel, kind, state, reason)
);

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
CREATE INDEX notifier_attempts_open ON notifier_attempts (channel, address) WHERE result = 'open';

-- One row per channel: what its sender has to remember, and what it wants known.
CREATE TABLE notifier_senders (
    channel    TEXT PRIMARY KEY,
    -- Who we are at the channel (the bot's id); another identity must not send.
    identity   TEXT,
    -- Which process sends: a random word that it writes when it begins. One that finds another's
    -- word here has lost the right to send.
    holder     TEXT,
    paused_at  INTEGER,
    gate_until INTEGER,
    gate_wait  INTEGER NOT NULL DEFAULT 0,
    -- What holds up the whole channel at present, as last written by its sender.
    state      TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'waiting', 'stopped')),
    reason     TEXT,
    until      INTEGER,
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
CREATE INDEX notifier_pauses_ended ON notifier_pauses (channel, ended_at);

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

CREATE INDEX notifier_keys_created ON notifier_keys (created_at);
CREATE INDEX notifier_keys_customer ON notifier_keys (CASE WHEN json_valid(body) THEN json_extract(body, '$.customerId') END);

-- Invitations: who presses Start with one of these becomes the customer. Only hashes are stored.
CREATE TABLE notifier_links (
    token_hash  BLOB PRIMARY KEY,
    customer_id TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    used_at     INTEGER
);
CREATE INDEX notifier_links_customer ON notifier_links (customer_id);
CREATE INDEX notifier_links_expires ON notifier_links (expires_at);

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
CREATE INDEX notifier_guesses_since ON notifier_guesses (since);
