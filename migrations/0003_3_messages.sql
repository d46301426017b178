-- step: describe what becomes of a message
--
-- In the first view, what version 3 could not read is NULL.

CREATE VIEW notifier_readable AS
SELECT id,
    CASE WHEN channel IN (SELECT name FROM notifier_channels) THEN channel END AS channel,
    CASE WHEN typeof(idempotency_key) = 'text' AND length(idempotency_key) BETWEEN 1 AND 255 THEN idempotency_key END AS idempotency_key,
    CASE WHEN typeof(recipient) = 'text' AND length(recipient) BETWEEN 1 AND 209 AND instr(recipient, char(0)) = 0
        AND ((substr(recipient, 1, 9) = 'customer:' AND length(recipient) > 9)
            OR (CAST(CAST(recipient AS INTEGER) AS TEXT) = recipient AND CAST(recipient AS INTEGER) <> 0
                AND CAST(recipient AS INTEGER) BETWEEN -4503599627370495 AND 4503599627370495))
        THEN recipient END AS recipient,
    CASE WHEN typeof(type) = 'text' AND length(type) BETWEEN 1 AND 64 THEN type END AS type,
    CASE WHEN typeof(payload) = 'text' AND length(payload) <= 262144
        AND CASE WHEN json_valid(payload) THEN json_type(payload) = 'object' ELSE 0 END THEN payload END AS payload,
    CASE WHEN typeof(subject) = 'text' AND length(subject) <= 300 THEN subject END AS subject,
    CASE WHEN typeof(collapse_key) = 'text' AND length(collapse_key) <= 300 THEN collapse_key END AS collapse_key,
    CASE WHEN typeof(not_before) = 'integer' AND not_before BETWEEN 1000000000000 AND 9999999999999 THEN not_before END AS not_before,
    CASE WHEN typeof(expires_at) = 'integer' AND expires_at BETWEEN 1000000000000 AND 9999999999999 THEN expires_at END AS expires_at,
    CASE WHEN typeof(created_at) = 'integer' AND created_at BETWEEN 1000000000000 AND 9999999999999 THEN created_at END AS created_at,
    CASE WHEN typeof(failures) = 'integer' AND failures BETWEEN 0 AND 1000000 THEN failures END AS failures,
    CASE WHEN typeof(doubts) = 'integer' AND doubts BETWEEN 0 AND 1000000 THEN doubts END AS doubts,
    CASE WHEN typeof(plain) = 'integer' AND plain BETWEEN 0 AND 1 THEN plain END AS plain,
    CASE WHEN typeof(retry_at) = 'integer' AND retry_at BETWEEN 0 AND 9999999999999 THEN retry_at END AS retry_at,
    CASE WHEN typeof(retry_wait) = 'integer' AND retry_wait BETWEEN 0 AND 9999999999999 THEN retry_wait END AS retry_wait,
    CASE WHEN typeof(age_from) = 'integer' AND age_from BETWEEN 0 AND 9999999999999 THEN age_from END AS age_from,
    CASE WHEN typeof(remote_id) = 'integer' THEN remote_id END AS remote_id,
    CASE WHEN typeof(sent_to) = 'text' AND length(sent_to) BETWEEN 1 AND 209 THEN sent_to END AS sent_to,
    CASE WHEN typeof(ended_at) = 'integer' AND ended_at BETWEEN 0 AND 9999999999999 THEN ended_at END AS ended_at,
    CASE WHEN typeof(blanked_at) = 'integer' AND blanked_at BETWEEN 0 AND 9999999999999 THEN blanked_at END AS blanked_at
FROM outbox;

-- What was cleared, in words, and whether the message ends for it: nobody knows what it should have done.
-- SQLite's functions end a text at a NUL, but json_quote does not.
CREATE VIEW notifier_mended AS
SELECT r.*, m.began, o.state, o.words, o.words <> '' AND o.ended_at IS NULL AS rejected,
    CASE WHEN o.words = '' AND (o.detail IS NULL OR typeof(o.detail) = 'text' AND length(o.detail) <= 4000) THEN o.detail
        ELSE substr(CASE WHEN o.words = '' THEN '' ELSE 'values that cannot be read were cleared' || o.words
                || CASE WHEN o.state = 'sending' THEN '; a call was under way, so it may have arrived' ELSE '' END END
            || coalesce(CASE WHEN o.words = '' THEN '' ELSE '; ' END || CASE WHEN instr(CAST(o.detail AS TEXT), char(0))
                THEN json_quote(CAST(o.detail AS TEXT)) ELSE CAST(o.detail AS TEXT) END, ''), 1, 4000) END AS detail
FROM notifier_migration m CROSS JOIN (
    SELECT o.id, o.state, o.ended_at, o.detail, coalesce((
        SELECT group_concat('; ' || name || ': ' || substr(CASE WHEN instr(CAST(was AS TEXT), char(0))
            THEN json_quote(CAST(was AS TEXT)) ELSE CAST(was AS TEXT) END, 1, 170), '')
        FROM (SELECT '' AS name, NULL AS was, NULL AS kept
            UNION ALL SELECT 'channel', o.channel, r.channel
            UNION ALL SELECT 'idempotency_key', o.idempotency_key, r.idempotency_key
            UNION ALL SELECT 'recipient', o.recipient, r.recipient
            UNION ALL SELECT 'type', o.type, r.type
            UNION ALL SELECT 'payload', o.payload, r.payload
            UNION ALL SELECT 'subject', o.subject, r.subject
            UNION ALL SELECT 'collapse_key', o.collapse_key, r.collapse_key
            UNION ALL SELECT 'not_before', o.not_before, r.not_before
            UNION ALL SELECT 'expires_at', o.expires_at, r.expires_at
            UNION ALL SELECT 'created_at', o.created_at, r.created_at
            UNION ALL SELECT 'failures', o.failures, r.failures
            UNION ALL SELECT 'doubts', o.doubts, r.doubts
            UNION ALL SELECT 'plain', o.plain, r.plain
            UNION ALL SELECT 'retry_at', o.retry_at, r.retry_at
            UNION ALL SELECT 'retry_wait', o.retry_wait, r.retry_wait
            UNION ALL SELECT 'age_from', o.age_from, r.age_from
            UNION ALL SELECT 'remote_id', o.remote_id, r.remote_id
            UNION ALL SELECT 'sent_to', o.sent_to, r.sent_to
            UNION ALL SELECT 'ended_at', o.ended_at, r.ended_at
            UNION ALL SELECT 'blanked_at', o.blanked_at, r.blanked_at)
        WHERE was IS NOT kept), '') AS words
    FROM outbox o JOIN notifier_readable r ON r.id = o.id) o
    JOIN notifier_readable r ON r.id = o.id;

-- The row of version 3. Where a column of version 2 that has no successor cannot be read, or the
-- channel is not known, there is a NULL that the new table refuses.
CREATE VIEW notifier_lifted AS
SELECT o.id AS old_id, coalesce(i.id, o.id) AS id, o.idempotency_key, o.recipient, o.type, o.payload,
    CASE WHEN o.channel IN (SELECT name FROM notifier_channels) THEN o.channel END AS channel,
    o.subject, o.collapse_key, o.not_before, o.expires_at, o.on_uncertain,
    CASE WHEN substr(o.subject, 1, 7) = 'answer:' THEN 0 ELSE 1 END AS rank,
    o.created_at, o.state, o.reason,
    CASE WHEN i.id IS NULL THEN o.detail
        ELSE substr('its id was ' || o.id || ' before version 3' || coalesce('; ' || o.detail, ''), 1, 4000) END AS detail,
    -- What waits for a dead chat is left to the sender as an arrival, which ends as such ones do.
    CASE WHEN o.state <> 'pending' OR NOT EXISTS (SELECT 1 FROM notifier_new_recipients d
            WHERE d.channel = o.channel AND d.address = coalesce(r.alias_of, o.recipient) AND d.state = 'dead')
        THEN coalesce(CASE WHEN o.ended_at IS NOT NULL THEN o.sent_to END, r.alias_of, o.recipient) END AS address,
    CASE WHEN o.ended_at IS NOT NULL THEN 0
        WHEN substr(coalesce(r.alias_of, o.recipient), 1, 9) = 'customer:' THEN 2
        WHEN o.not_before > m.began THEN 1 ELSE 0 END AS hold,
    CASE WHEN typeof(o.retry_at) NOT IN ('integer', 'null') OR o.retry_at NOT BETWEEN 0 AND 9999999999999 THEN NULL
        WHEN o.ended_at IS NOT NULL THEN 0
        ELSE max(coalesce(o.retry_at, 0),
            CASE WHEN o.not_before > m.began THEN o.not_before ELSE min(o.created_at, m.began) END) END AS ready_at,
    -- It bounds the wait for a retry, not that for a planned time.
    CASE WHEN typeof(o.retry_wait) NOT IN ('integer', 'null') OR o.retry_wait NOT BETWEEN 0 AND 9999999999999 THEN NULL
        WHEN o.ended_at IS NOT NULL OR o.retry_at IS NULL OR o.not_before > max(m.began, o.retry_at) THEN 0
        ELSE coalesce(o.retry_wait, 0) END AS ready_wait,
    CASE WHEN typeof(o.age_from) IN ('integer', 'null') AND coalesce(o.age_from, 0) BETWEEN 0 AND 9999999999999
        THEN max(o.created_at, coalesce(o.not_before, 0), coalesce(o.age_from, 0)) END AS age_from,
    o.failures, o.doubts, o.plain, o.remote_id, o.ended_at, o.blanked_at
FROM notifier_migration m CROSS JOIN outbox o
    LEFT JOIN notifier_renumbered i ON i.old_id = o.id
    LEFT JOIN notifier_new_recipients r ON r.channel = o.channel AND r.address = o.recipient;

-- The messages that have to be mended.
CREATE TABLE notifier_odd (id INTEGER PRIMARY KEY);

-- step: copy the messages
-- slices: outbox by id
-- share: 400

-- An id that version 3 refuses, or that would leave few behind it, is replaced.
INSERT INTO notifier_renumbered (old_id, id)
SELECT o.id, (SELECT seq FROM sqlite_sequence WHERE name = 'notifier_new_outbox') + row_number() OVER (ORDER BY o.id)
FROM notifier_migration m CROSS JOIN outbox o
WHERE o.id BETWEEN m.low AND m.high AND (o.id < 1 OR o.id >= 9000000000000000);

-- Nearly all are as they should be; the new table refuses the others.
INSERT OR IGNORE INTO notifier_new_outbox
SELECT id, idempotency_key, recipient, type, payload, channel, subject, collapse_key, not_before, expires_at,
    on_uncertain, rank, created_at, state, reason, detail, address, hold, ready_at, ready_wait, age_from,
    failures, doubts, plain, remote_id, ended_at, blanked_at
FROM notifier_lifted
WHERE old_id BETWEEN (SELECT low FROM notifier_migration) AND (SELECT high FROM notifier_migration);

INSERT INTO notifier_odd (id)
SELECT o.id FROM notifier_migration m CROSS JOIN outbox o LEFT JOIN notifier_renumbered i ON i.old_id = o.id
WHERE o.id BETWEEN m.low AND m.high AND NOT EXISTS (SELECT 1 FROM notifier_new_outbox n WHERE n.id = coalesce(i.id, o.id));

-- step: mend the messages that cannot be read
-- slices: notifier_odd by id

UPDATE outbox SET
    channel = coalesce(r.channel, 'telegram'),
    idempotency_key = r.idempotency_key,
    recipient = coalesce(r.recipient, 'customer:(unreadable)'),
    type = coalesce(r.type, 'Unreadable'),
    payload = coalesce(r.payload, '{}'),
    subject = r.subject,
    collapse_key = r.collapse_key,
    not_before = r.not_before,
    expires_at = r.expires_at,
    created_at = coalesce(r.created_at, max(r.began, 1000000000000)),
    failures = coalesce(r.failures, 0),
    doubts = coalesce(r.doubts, 0),
    plain = coalesce(r.plain, 0),
    retry_at = r.retry_at,
    retry_wait = r.retry_wait,
    age_from = r.age_from,
    remote_id = r.remote_id,
    sent_to = r.sent_to,
    state = CASE WHEN r.rejected THEN 'dead' ELSE outbox.state END,
    reason = CASE WHEN r.rejected THEN 'rejected' ELSE outbox.reason END,
    detail = r.detail,
    ended_at = CASE WHEN r.rejected OR outbox.ended_at IS NOT NULL THEN coalesce(r.ended_at, r.began) END,
    blanked_at = CASE WHEN outbox.blanked_at IS NOT NULL THEN coalesce(r.blanked_at, r.began) END
FROM notifier_mended r
WHERE r.id = outbox.id AND outbox.id IN (
    SELECT d.id FROM notifier_migration m CROSS JOIN notifier_odd d WHERE d.id BETWEEN m.low AND m.high);

-- The calls of those that were being sent and ended here: nobody waits for their answers.
UPDATE notifier_attempts SET result = 'uncertain', ended_at = (SELECT began FROM notifier_migration),
    detail = 'the program ended while the call was under way'
WHERE result = 'open' AND message_id IN (
    SELECT d.id FROM notifier_migration m CROSS JOIN notifier_odd d CROSS JOIN outbox o ON o.id = d.id
    WHERE d.id BETWEEN m.low AND m.high AND o.state = 'dead');

INSERT INTO notifier_new_outbox
SELECT id, idempotency_key, recipient, type, payload, channel, subject, collapse_key, not_before, expires_at,
    on_uncertain, rank, created_at, state, reason, detail, address, hold, ready_at, ready_wait, age_from,
    failures, doubts, plain, remote_id, ended_at, blanked_at
FROM notifier_lifted WHERE old_id IN (
    SELECT d.id FROM notifier_migration m CROSS JOIN notifier_odd d WHERE d.id BETWEEN m.low AND m.high);

-- step: give the attempts of messages with a new id that id
-- slices: notifier_renumbered by old_id

UPDATE notifier_attempts SET message_id = (SELECT i.id FROM notifier_renumbered i WHERE i.old_id = message_id)
WHERE message_id IN (SELECT i.old_id FROM notifier_migration m CROSS JOIN notifier_renumbered i
    WHERE i.old_id BETWEEN m.low AND m.high);

-- step: forget the description
DROP VIEW notifier_lifted;
DROP VIEW notifier_mended;
DROP VIEW notifier_readable;
DROP TABLE notifier_odd;
