-- step: put the new tables in the place of the old
-- carry: outbox
-- share: 5

DROP TRIGGER notifier_closed_outbox_insert;
DROP TRIGGER notifier_closed_outbox_update;
DROP TRIGGER notifier_closed_outbox_delete;
DROP TRIGGER notifier_closed_recipients_insert;
DROP TRIGGER notifier_closed_recipients_update;
DROP TRIGGER notifier_closed_recipients_delete;
DROP TRIGGER notifier_closed_senders_insert;
DROP TRIGGER notifier_closed_senders_update;
DROP TRIGGER notifier_closed_senders_delete;

ALTER TABLE outbox RENAME TO notifier_old_outbox;
ALTER TABLE notifier_new_outbox RENAME TO outbox;
ALTER TABLE notifier_recipients RENAME TO notifier_old_recipients;
ALTER TABLE notifier_new_recipients RENAME TO notifier_recipients;
DROP TABLE notifier_senders;
ALTER TABLE notifier_new_senders RENAME TO notifier_senders;

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

-- step: remove the old messages
-- share: 10

DROP TABLE notifier_old_outbox;

-- step: remove the old recipients
-- share: 5

DROP TABLE notifier_old_recipients;

-- step: open the tables

DROP TABLE notifier_renumbered;
DROP TRIGGER notifier_closed_outbox_insert;
DROP TRIGGER notifier_closed_outbox_update;
DROP TRIGGER notifier_closed_outbox_delete;
DROP TRIGGER notifier_closed_recipients_insert;
DROP TRIGGER notifier_closed_recipients_update;
DROP TRIGGER notifier_closed_recipients_delete;
DROP TRIGGER notifier_closed_attempts_insert;
DROP TRIGGER notifier_closed_attempts_update;
DROP TRIGGER notifier_closed_attempts_delete;
DROP TRIGGER notifier_closed_senders_insert;
DROP TRIGGER notifier_closed_senders_update;
DROP TRIGGER notifier_closed_senders_delete;

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
