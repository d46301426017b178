-- step: count the messages
-- slices: notifier_new_outbox by id
-- share: 85

INSERT INTO notifier_counts (channel, kind, state, reason, n)
SELECT o.channel, 'message', o.state, coalesce(o.reason, ''), count(*)
FROM notifier_migration m CROSS JOIN notifier_new_outbox o NOT INDEXED
WHERE o.id BETWEEN m.low AND m.high AND o.address IS NOT NULL GROUP BY 1, 3, 4
ON CONFLICT (channel, kind, state, reason) DO UPDATE SET n = n + excluded.n;

-- A turn stands in its recipient's row, so whoever is waited for has one.
INSERT INTO notifier_new_recipients (channel, address)
SELECT DISTINCT o.channel, o.address FROM notifier_migration m CROSS JOIN notifier_new_outbox o NOT INDEXED
WHERE o.id BETWEEN m.low AND m.high AND o.state = 'pending' AND o.address IS NOT NULL AND o.hold = 0
ON CONFLICT (channel, address) DO NOTHING;

-- step: give every recipient its turn
-- slices: notifier_new_recipients by rowid
-- share: 40

UPDATE notifier_new_recipients AS r SET (turn_at, turn_rank, head) = (
    SELECT max(o.ready_at, coalesce(r.gate_until, 0), coalesce(r.doubt_until, 0)), o.rank, o.id
    FROM notifier_new_outbox o INDEXED BY outbox_waiting
    WHERE o.channel = r.channel AND o.address = r.address AND o.hold = 0 AND o.state = 'pending' AND o.address IS NOT NULL
    ORDER BY o.rank, o.id LIMIT 1)
WHERE r.rowid BETWEEN (SELECT low FROM notifier_migration) AND (SELECT high FROM notifier_migration)
    AND r.alias_of IS NULL AND r.state IN ('open', 'doubtful')
    AND NOT EXISTS (SELECT 1 FROM notifier_new_outbox s INDEXED BY outbox_sending
        WHERE s.channel = r.channel AND s.address = r.address AND s.state = 'sending')
    AND NOT EXISTS (SELECT 1 FROM notifier_attempts a INDEXED BY notifier_attempts_open
        WHERE a.channel = r.channel AND a.address = r.address AND a.result = 'open');

INSERT INTO notifier_counts (channel, kind, state, n)
SELECT r.channel, 'chat', r.state, count(*) FROM notifier_migration m CROSS JOIN notifier_new_recipients r
WHERE r.rowid BETWEEN m.low AND m.high AND r.alias_of IS NULL GROUP BY 1, 3
ON CONFLICT (channel, kind, state, reason) DO UPDATE SET n = n + excluded.n;

-- step: index the recipients
-- share: 20

CREATE INDEX notifier_recipients_turn ON notifier_new_recipients (channel, turn_rank, turn_at, head) WHERE turn_at IS NOT NULL;
DROP INDEX notifier_recipients_alias;
CREATE INDEX notifier_recipients_alias ON notifier_new_recipients (channel, alias_of, address) WHERE alias_of IS NOT NULL;
DROP INDEX notifier_recipients_state;
CREATE INDEX notifier_recipients_state ON notifier_new_recipients (channel, state, address) WHERE state IN ('doubtful', 'dead');
CREATE INDEX notifier_recipients_gate ON notifier_new_recipients (channel, gate_until) WHERE gate_until IS NOT NULL;
