-- step: copy the recipients
-- slices: notifier_recipients by rowid
-- share: 20

INSERT INTO notifier_new_recipients (channel, address, alias_of, state, reason, detail, since,
    gate_until, gate_wait, flood_step, doubt_step, doubt_until, doubt_wait, epoch, accepted_by, spared)
SELECT o.channel, o.address,
    CASE WHEN typeof(o.alias_of) = 'text' AND length(o.alias_of) BETWEEN 1 AND 209 THEN o.alias_of END,
    o.state, o.reason, o.detail,
    CASE WHEN typeof(o.since) = 'integer' THEN o.since END,
    CASE WHEN typeof(o.gate_until) = 'integer' THEN o.gate_until END,
    CASE WHEN typeof(o.gate_wait) = 'integer' THEN o.gate_wait ELSE 0 END,
    CASE WHEN typeof(o.flood_step) = 'integer' THEN o.flood_step ELSE 0 END,
    CASE WHEN typeof(o.doubt_step) = 'integer' THEN o.doubt_step ELSE 0 END,
    CASE WHEN typeof(o.doubt_until) = 'integer' THEN o.doubt_until END,
    CASE WHEN typeof(o.doubt_wait) = 'integer' THEN o.doubt_wait ELSE 0 END,
    CASE WHEN typeof(o.epoch) = 'integer' THEN o.epoch ELSE 0 END,
    CASE WHEN o.accepted = 1 THEN (SELECT identity FROM notifier_senders s WHERE s.channel = o.channel) END,
    CASE WHEN o.spared = 1 THEN 1 ELSE 0 END
FROM notifier_migration m CROSS JOIN notifier_recipients o
WHERE o.rowid BETWEEN m.low AND m.high;
