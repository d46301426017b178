package updates

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"notifier/internal/database"
	"notifier/internal/telegram"
)

// Menu is the bot's commands by language; "" is for all that have no menu of their own.
type Menu map[string][]telegram.Command

// MenuStore remembers which menu Telegram was given.
type MenuStore interface {
	Menu(tx database.Tx) (hash string, err error)
	SetMenu(tx database.Tx, hash string) error
}

// MenuKeeper gives Telegram the menu when it has changed, and else leaves it alone.
type MenuKeeper struct {
	DB     *database.DB
	Store  MenuStore
	Client *telegram.Client
	Menu   Menu
	Log    *slog.Logger
}

// Run sets the menu if need be, trying until it is set or ctx ends.
func (k *MenuKeeper) Run(ctx context.Context) {
	until(ctx, k.Set, func(err error) { k.Log.Warn("the commands menu is not set", "err", err) })
}

// Set sets the menu if it is not the one that was set last. The hash is stored when all of it is
// set: a menu that is set twice is the same menu.
func (k *MenuKeeper) Set(ctx context.Context) error {
	hash, err := k.hash()
	if err != nil {
		return err
	}
	var known string
	err = k.DB.Read(ctx, func(tx database.Tx) (err error) {
		known, err = k.Store.Menu(tx)
		return err
	})
	if err != nil || known == hash {
		return err
	}
	languages := make([]string, 0, len(k.Menu))
	for l := range k.Menu {
		languages = append(languages, l)
	}
	slices.Sort(languages)
	for _, l := range languages {
		if reply := k.Client.SetCommands(ctx, l, k.Menu[l]); !reply.OK {
			return &notYet{errors.New("set the commands menu: " + reply.Detail), reply.Waits()}
		}
	}
	return k.DB.Write(ctx, func(tx database.Tx) error { return k.Store.SetMenu(tx, hash) })
}

// hash is of the menu and the bot it is for: another bot has none yet.
func (k *MenuKeeper) hash() (string, error) {
	written, err := json.Marshal(k.Menu) // maps are written in the order of their keys
	if err != nil {
		return "", fmt.Errorf("hash the commands menu: %w", err)
	}
	sum := sha256.Sum256(append([]byte(k.Client.ID()+" "), written...))
	return hex.EncodeToString(sum[:]), nil
}
