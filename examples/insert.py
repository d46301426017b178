#!/usr/bin/env python3
"""Tell a customer something from any program: one INSERT beside one's own.

Usage: insert.py DATABASE RECIPIENT TEXT

DATABASE is the file that notifier uses. RECIPIENT is a Telegram chat id, or customer:<id> to
follow a customer of the shop. Only Python's standard library is needed.
"""

import json
import sqlite3
import sys


def main(database, recipient, text):
    # timeout: how long to wait while somebody else writes. notifier never keeps it waiting
    # that long.
    connection = sqlite3.connect(database, timeout=5)
    try:
        with connection:  # one transaction: your own tables and the message, or neither
            connection.execute(
                "CREATE TABLE IF NOT EXISTS crm_greetings (recipient TEXT PRIMARY KEY)")
            connection.execute(
                "INSERT INTO crm_greetings (recipient) VALUES (?) ON CONFLICT DO NOTHING",
                (recipient,))
            inserted = connection.execute(
                """
                INSERT INTO outbox (idempotency_key, recipient, type, payload)
                VALUES (?, ?, 'Text', ?)
                ON CONFLICT (idempotency_key) DO NOTHING
                """,
                (f"crm-greeting-{recipient}", recipient, json.dumps({"text": text})),
            ).rowcount
    finally:
        connection.close()
    print("queued" if inserted else "already queued before")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
