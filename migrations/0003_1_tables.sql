-- From version 2 to 3: the queue in tables. It copies messages, recipients and senders into new tables,
-- whose CHECKs bound every value, and then puts these in the place of the old ones.
--
-- step: close the tables to others
--
-- What others write while the rows are copied would be lost, so it is refused. A WHEN is false only
-- inside the migration's own transactions.

CREATE TRIGGER notifier_closed_outbox_insert BEFORE INSERT ON outbox
WHEN (SELECT writing FROM notifier_migration) = 0
BEGIN
    SELECT RAISE(ABORT, 'this database is being migrated to a newer notifier: write when that has ended');
END;
CREATE TRIGGER notifier_closed_outbox_update BEFORE UPDATE ON outbox
WHEN (SELECT writing FROM notifier_migration) = 0
BEGIN
    SELECT RAISE(ABORT, 'this database is being migrated to a newer notifier: write when that has ended');
END;
CREATE TRIGGER notifier_closed_outbox_delete BEFORE DELETE ON outbox
WHEN (SELECT writing FROM notifier_migration) = 0
BEGIN
    SELECT RAISE(ABORT, 'this database is being migrated to a newer notifier: write when that has ended');
END;
CREATE TRIGGER notifier_closed_recipients_insert BEFORE INSERT ON notifier_recipients
WHEN (SELECT writing FROM notifier_migration) = 0
BEGIN
    SELECT RAISE(ABORT, 'this database is being migrated to a newer notifier: write when that has ended');
END;
CREATE TRIGGER notifier_closed_recipients_update BEFORE UPDATE ON notifier_recipients
WHEN (SELECT writing FROM notifier_migration) = 0
BEGIN
    SELECT RAISE(ABORT, 'this database is being migrated to a newer notifier: write when that has ended');
END;
CREATE TRIGGER notifier_closed_recipients_delete BEFORE DELETE ON notifier_recipients
WHEN (SELECT writing FROM notifier_migration) = 0
BEGIN
    SELECT RAISE(ABORT, 'this database is being migrated to a newer notifier: write when that has ended');
END;
CREATE TRIGGER notifier_closed_attempts_insert BEFORE INSERT ON notifier_attempts
WHEN (SELECT writing FROM notifier_migration) = 0
BEGIN
    SELECT RAISE(ABORT, 'this database is being migrated to a newer notifier: write when that has ended');
END;
CREATE TRIGGER notifier_closed_attempts_update BEFORE UPDATE ON notifier_attempts
WHEN (SELECT writing FROM notifier_migration) = 0
BEGIN
    SELECT RAISE(ABORT, 'this database is being migrated to a newer notifier: write when that has ended');
END;
CREATE TRIGGER notifier_closed_attempts_delete BEFORE DELETE ON notifier_attempts
WHEN (SELECT writing FROM notifier_migration) = 0
BEGIN
    SELECT RAISE(ABORT, 'this database is being migrated to a newer notifier: write when that has ended');
END;
CREATE TRIGGER notifier_closed_senders_insert BEFORE INSERT ON notifier_senders
WHEN (SELECT writing FROM notifier_migration) = 0
BEGIN
    SELECT RAISE(ABORT, 'this database is being migrated to a newer notifier: write when that has ended');
END;
CREATE TRIGGER notifier_closed_senders_update BEFORE UPDATE ON notifier_senders
WHEN (SELECT writing FROM notifier_migration) = 0
BEGIN
    SELECT RAISE(ABORT, 'this database is being migrated to a newer notifier: write when that has ended');
END;
CREATE TRIGGER notifier_closed_senders_delete BEFORE DELETE ON notifier_senders
WHEN (SELECT writing FROM notifier_migration) = 0
BEGIN
    SELECT RAISE(ABORT, 'this database is being migrated to a newer notifier: write when that has ended');
END;

-- step: create the new tables

CREATE TABLE notifier_channels (
    name TEXT PRIMARY KEY CHECK (typeof(name) = 'text' AND length(name) BETWEEN 1 AND 64)
);
INSERT INTO notifier_channels (name) VALUES ('telegram');

CREATE TABLE notifier_new_outbox (
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

CREATE TABLE notifier_new_recipients (
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

CREATE TABLE notifier_new_senders (
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

CREATE TABLE notifier_counts (
    channel TEXT NOT NULL,
    kind    TEXT NOT NULL CHECK (kind IN ('message', 'chat')),
    state   TEXT NOT NULL,
    reason  TEXT NOT NULL DEFAULT '',
    n       INTEGER NOT NULL,
    PRIMARY KEY (channel, kind, state, reason)
);
CREATE INDEX notifier_pauses_ended ON notifier_pauses (channel, ended_at);

-- The messages that got a new id.
CREATE TABLE notifier_renumbered (
    old_id INTEGER PRIMARY KEY,
    id     INTEGER NOT NULL
);

-- Ids go on after the last one that was given. When that is so near the end of what a JSON number
-- can tell (2^53) that few would be left, they go on a million after the largest that is still
-- named, since nobody knows what was between.
INSERT INTO sqlite_sequence (name, seq) SELECT 'notifier_new_outbox',
    CASE WHEN last < 9000000000000000 THEN last
    ELSE 1000000 + max(
        coalesce((SELECT max(id) FROM outbox WHERE id < 9000000000000000), 0),
        coalesce((SELECT max(message_id) FROM notifier_attempts WHERE message_id < 9000000000000000), 0), 0)
    END
FROM (SELECT max(
    coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'outbox'), 0),
    coalesce((SELECT max(id) FROM outbox), 0)) AS last);

-- A bot that has sent knows who it is, and was the only one that this database had.
INSERT INTO notifier_new_senders (channel, identity, paused_at, gate_until, gate_wait, state, reason, until,
        guard_since, machine, inode, copied_at, menu)
    SELECT channel, identity, paused_at, gate_until, coalesce(gate_wait, 0), state, reason, until,
        guard_since, machine, inode, copied_at, menu
    FROM notifier_senders;
