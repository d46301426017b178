package database

import "context"

// GiveBack returns free pages of the file to the file system, a few at a time so that writers
// need not wait. It does nothing for a file that was made without incremental vacuum.
func (db *DB) GiveBack(ctx context.Context) error {
	const pages = 64
	for {
		free := 0
		err := db.Write(ctx, func(tx Tx) error {
			rows, err := tx.Query(`PRAGMA incremental_vacuum(64)`)
			if err != nil {
				return err
			}
			for rows.Next() { // each step frees a page
			}
			if err := rows.Close(); err != nil {
				return err
			}
			return tx.QueryRow(`PRAGMA freelist_count`).Scan(&free)
		})
		if err != nil || free < pages {
			return err
		}
	}
}
