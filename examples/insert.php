#!/usr/bin/env php
<?php
/*
Tell a customer something from any program: one INSERT beside one's own.

Usage: insert.php DATABASE RECIPIENT TEXT

DATABASE is the file that notifier uses. RECIPIENT is a Telegram chat id, or customer:<id> to
follow a customer of the shop. Needs PHP with pdo_sqlite.
*/

function main(string $database, string $recipient, string $text): void
{
    $pdo = new PDO("sqlite:$database", null, null, [
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_TIMEOUT => 5, // seconds to wait while somebody else writes
    ]);
    // IMMEDIATE: a transaction that begins by reading could be refused later, whatever the timeout.
    $pdo->exec('BEGIN IMMEDIATE'); // your own tables and the message, or neither
    try {
        $pdo->exec('CREATE TABLE IF NOT EXISTS crm_greetings (recipient TEXT PRIMARY KEY)');
        $pdo->prepare('INSERT INTO crm_greetings (recipient) VALUES (?) ON CONFLICT DO NOTHING')
            ->execute([$recipient]);
        $message = $pdo->prepare(
            "INSERT INTO outbox (idempotency_key, recipient, type, payload)
             VALUES (?, ?, 'Text', ?)
             ON CONFLICT (idempotency_key) DO NOTHING"
        );
        $message->execute([
            "crm-greeting-$recipient",
            $recipient,
            json_encode(['text' => $text], JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE),
        ]);
        $pdo->exec('COMMIT');
    } catch (Throwable $e) {
        $pdo->exec('ROLLBACK');
        throw $e;
    }
    echo $message->rowCount() > 0 ? "queued\n" : "already queued before\n";
}

if ($argc !== 4) {
    fwrite(STDERR, "Usage: insert.php DATABASE RECIPIENT TEXT\n");
    exit(1);
}
main($argv[1], $argv[2], $argv[3]);
