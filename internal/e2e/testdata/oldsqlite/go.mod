module oldsqlite

go 1.21

require github.com/mattn/go-sqlite3 v2.0.3+incompatible
