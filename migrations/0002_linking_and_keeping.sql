-- From version 1 to 2: linking, the inbox of updates, retention, copies, the guard against mass death.

ALTER TABLE outbox ADD COLUMN blanked_at INTEGER;
CREATE INDEX outbox_ended ON outbox (ended_at, id) WHERE ended_at IS NOT NULL AND blanked_at IS NULL;
CREATE INDEX outbox_blanked ON outbox (ended_at) WHERE blanked_at IS NOT NULL;

ALTER TABLE notifier_recipients ADD COLUMN accepted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE notifier_recipients ADD COLUMN spared INTEGER NOT NULL DEFAULT 0;
INSERT INTO notifier_recipients (channel, address, accepted)
    SELECT DISTINCT channel, sent_to, 1 FROM outbox WHERE state = 'sent' AND sent_to IS NOT NULL
    ON CONFLICT (channel, address) DO UPDATE SET accepted = 1;

ALTER TABLE notifier_senders ADD COLUMN guard_since INTEGER;
ALTER TABLE notifier_senders ADD COLUMN machine TEXT;
ALTER TABLE notifier_senders ADD COLUMN inode INTEGER;
ALTER TABLE notifier_senders ADD COLUMN copied_at INTEGER;
ALTER TABLE notifier_senders ADD COLUMN menu TEXT;

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
