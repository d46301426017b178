-- step: index the messages: key
-- share: 25

CREATE UNIQUE INDEX outbox_key ON notifier_new_outbox (idempotency_key);

-- step: index the messages: arrivals
-- share: 10

CREATE INDEX outbox_arrivals ON notifier_new_outbox (channel, id) WHERE address IS NULL;

-- step: index the messages: arrivals by recipient
-- share: 10

CREATE INDEX outbox_arrivals_recipient ON notifier_new_outbox (channel, recipient, id) WHERE address IS NULL;

-- step: index the messages: waiting
-- share: 30

DROP INDEX outbox_waiting;
CREATE INDEX outbox_waiting ON notifier_new_outbox (channel, address, hold, rank, id)
    WHERE state = 'pending' AND address IS NOT NULL;

-- step: index the messages: sending
-- share: 11

CREATE INDEX outbox_sending ON notifier_new_outbox (channel, address, id) WHERE state = 'sending';

-- step: index the messages: planned
-- share: 11

CREATE INDEX outbox_planned ON notifier_new_outbox (channel, ready_at)
    WHERE state = 'pending' AND address IS NOT NULL AND hold = 1;

-- step: index the messages: unlinked
-- share: 6

CREATE INDEX outbox_unlinked ON notifier_new_outbox (channel, address, collapse_key, id)
    WHERE state = 'pending' AND address IS NOT NULL AND hold = 2 AND collapse_key IS NOT NULL;

-- step: index the messages: expires
-- share: 6

CREATE INDEX outbox_expires ON notifier_new_outbox (channel, expires_at)
    WHERE state = 'pending' AND address IS NOT NULL AND expires_at IS NOT NULL;

-- step: index the messages: age
-- share: 16

CREATE INDEX outbox_age ON notifier_new_outbox (channel, hold, age_from)
    WHERE state = 'pending' AND address IS NOT NULL AND expires_at IS NULL;

-- step: index the messages: open
-- share: 8

CREATE INDEX outbox_open ON notifier_new_outbox (channel, id) WHERE state IN ('pending', 'sending');

-- step: index the messages: sent
-- share: 9

CREATE INDEX outbox_sent ON notifier_new_outbox (channel, id) WHERE state = 'sent';

-- step: index the messages: troubled
-- share: 18

DROP INDEX outbox_troubled;
CREATE INDEX outbox_troubled ON notifier_new_outbox (channel, state, id) WHERE state IN ('uncertain', 'dead', 'canceled');

-- step: index the messages: reason
-- share: 6

CREATE INDEX outbox_reason ON notifier_new_outbox (channel, reason, id) WHERE reason IS NOT NULL;

-- step: index the messages: recipient
-- share: 30

CREATE INDEX outbox_recipient ON notifier_new_outbox (channel, recipient, id);

-- step: index the messages: address
-- share: 30

CREATE INDEX outbox_address ON notifier_new_outbox (channel, address, id) WHERE address IS NOT NULL;

-- step: index the messages: subject
-- share: 15

DROP INDEX outbox_subject;
CREATE INDEX outbox_subject ON notifier_new_outbox (subject, id) WHERE subject IS NOT NULL;

-- step: index the messages: ended
-- share: 15

DROP INDEX outbox_ended;
CREATE INDEX outbox_ended ON notifier_new_outbox (channel, ended_at, id) WHERE ended_at IS NOT NULL AND blanked_at IS NULL;

-- step: index the messages: blanked
-- share: 6

DROP INDEX outbox_blanked;
CREATE INDEX outbox_blanked ON notifier_new_outbox (channel, ended_at) WHERE blanked_at IS NOT NULL;

-- step: index the open attempts
-- share: 12

DROP INDEX notifier_attempts_open;
CREATE INDEX notifier_attempts_open ON notifier_attempts (channel, address) WHERE result = 'open';

-- step: index keys, invitations and guesses
-- share: 10

CREATE INDEX notifier_keys_created ON notifier_keys (created_at);
CREATE INDEX notifier_keys_customer ON notifier_keys (CASE WHEN json_valid(body) THEN json_extract(body, '$.customerId') END);
CREATE INDEX notifier_links_expires ON notifier_links (expires_at);
CREATE INDEX notifier_guesses_since ON notifier_guesses (since);
