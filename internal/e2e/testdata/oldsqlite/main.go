// Command oldsqlite writes and reads a database with SQLite 3.31, the oldest that the schema
// promises to work with. It is a module of its own, so that this driver is no library of notifier.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"os"

	_ "github.com/mattn/go-sqlite3" // v2.0.3 holds SQLite 3.31.1
)

func main() {
	db, err := sql.Open("sqlite3", "file:"+os.Args[1]+"?_busy_timeout=5000&_txlock=immediate")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	var version, check, state string
	row := func(query string, into *string) {
		if err := db.QueryRow(query).Scan(into); err != nil {
			log.Fatalf("%s: %v", query, err)
		}
	}
	row("SELECT sqlite_version()", &version)
	row("PRAGMA quick_check", &check)
	const insert = `INSERT INTO outbox (idempotency_key, recipient, type, payload)
		VALUES ('old-1', '7900000001', 'Text', '{"text":"Greetings from 2020"}') ON CONFLICT (idempotency_key) DO NOTHING`
	for range []int{1, 2} {
		if _, err := db.Exec(insert); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := db.Exec(`INSERT INTO outbox (recipient, type, payload) VALUES ('nobody', 'Text', '{}')`); err == nil {
		log.Fatal("a row that could never be sent was taken")
	}
	// A number that is bound as one, and not written as a text.
	const bound = `INSERT INTO outbox (idempotency_key, recipient, type, payload)
		VALUES ('old-2', ?, 'Text', '{"text":"To a number"}') ON CONFLICT (idempotency_key) DO NOTHING`
	if _, err := db.Exec(bound, int64(7900000002)); err != nil {
		log.Fatal(err)
	}
	row("SELECT state FROM outbox WHERE idempotency_key = 'old-1'", &state)
	fmt.Println(version, check, state)
}
