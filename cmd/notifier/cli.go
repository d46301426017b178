package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"notifier/internal/telegram/syntax"
)

// cli is the command line.
type cli struct {
	EnvFile string `help:"Read settings from this file, and from no other." placeholder:"FILE"`

	Demo     demoCmd     `cmd:"" help:"Show everything at once, without an account or a token."`
	Serve    serveCmd    `cmd:"" help:"Run the service: HTTP API and sender."`
	Dispatch dispatchCmd `cmd:"" help:"Send what is due and end, for cron instead of serve."`
	Sandbox  sandboxCmd  `cmd:"" help:"Run a fake Bot API to test against."`

	Setup   setupCmd   `cmd:"" help:"Get a first bot going: asks for the token and writes the settings file."`
	Doctor  doctorCmd  `cmd:"" help:"Look for what is wrong, and say what mends it."`
	Health  healthCmd  `cmd:"" help:"Ask a running service how it is."`
	Backup  backupCmd  `cmd:"" help:"Copy the database while others use it."`
	Purge   purgeCmd   `cmd:"" help:"Erase what has been kept for long enough."`
	Migrate migrateCmd `cmd:"" help:"Lift an older database to this version."`
	Version versionCmd `cmd:"" help:"Print the version."`

	Order    orderCmd    `cmd:"" help:"Place and follow orders."`
	Message  messageCmd  `cmd:"" help:"See, explain, send and mend messages."`
	Chat     chatCmd     `cmd:"" help:"See and mend chats."`
	Customer customerCmd `cmd:"" help:"Forget customers."`
	Pause    pauseCmd    `cmd:"" help:"Send nothing until resumed."`
	Resume   resumeCmd   `cmd:"" help:"End a pause."`
	Sender   senderCmd   `cmd:"" help:"See whether messages are being sent."`
}

type orderCmd struct {
	Place  orderPlaceCmd  `cmd:"" help:"Place an order and tell its customer."`
	Status orderStatusCmd `cmd:"" help:"Move an order on and tell its customer."`
	Show   orderShowCmd   `cmd:"" help:"Show an order with its messages."`
}

type messageCmd struct {
	List    messageListCmd    `cmd:"" help:"List messages, the newest first."`
	Show    messageShowCmd    `cmd:"" help:"Show a message with its attempts."`
	Explain messageExplainCmd `cmd:"" help:"Say why a message has not been sent, and when it will move."`
	Send    messageSendCmd    `cmd:"" help:"Send a message to a chat or a customer."`
	Retry   messageRetryCmd   `cmd:"" help:"Send a message again that ended without success, or many."`
	Cancel  messageCancelCmd  `cmd:"" help:"Cancel a message that has not been sent."`
	SendNow messageNowCmd     `cmd:"" help:"Forget a message's notBefore and back-off."`
}

type chatCmd struct {
	List    chatListCmd    `cmd:"" help:"List chats of which something is remembered."`
	Show    chatShowCmd    `cmd:"" help:"Say whether a chat can be written to."`
	Link    chatLinkCmd    `cmd:"" help:"Make an address behind which a customer connects their chat."`
	Revive  chatReviveCmd  `cmd:"" help:"Write to a chat again that was dead or doubtful, or to many."`
	Release chatReleaseCmd `cmd:"" help:"Lift a chat's gate."`
}

type customerCmd struct {
	Forget customerForgetCmd `cmd:"" help:"Erase a customer's name, chat and texts; numbers stay."`
}

type senderCmd struct {
	Show    senderShowCmd    `cmd:"" default:"withargs" help:"See whether messages are being sent."`
	Release senderReleaseCmd `cmd:"" help:"Lift the gate of the whole bot."`
}

// chatID is a chat's id as an argument.
type chatID int64

// UnmarshalText implements encoding.TextUnmarshaler, for kong.
func (c *chatID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(strings.TrimPrefix(string(text), chatMark), 10, 64)
	if err != nil || !syntax.IsChatID(n) {
		return fmt.Errorf("must be %s; not %q", syntax.ChatID, strings.TrimPrefix(string(text), chatMark))
	}
	*c = chatID(n)
	return nil
}

// itemArg is one line of an order as an argument: Tea:2:1250.
type itemArg struct {
	Name           string `json:"name"`
	Quantity       int64  `json:"quantity"`
	UnitPriceCents int64  `json:"unitPriceCents"`
}

// UnmarshalText implements encoding.TextUnmarshaler, for kong. A name may hold colons itself.
func (i *itemArg) UnmarshalText(text []byte) error {
	const form = "an item is NAME:QUANTITY:UNIT-PRICE in the currency's minor unit, such as Tea:2:1250"
	parts := strings.Split(string(text), ":")
	if len(parts) < 3 {
		return fmt.Errorf("%s, not %q", form, text)
	}
	n := len(parts)
	quantity, errQuantity := strconv.ParseInt(parts[n-2], 10, 64)
	price, errPrice := strconv.ParseInt(parts[n-1], 10, 64)
	if errQuantity != nil || errPrice != nil || quantity < 1 || price < 0 {
		return fmt.Errorf("%s, not %q", form, text)
	}
	*i = itemArg{Name: strings.Join(parts[:n-2], ":"), Quantity: quantity, UnitPriceCents: price}
	return nil
}

// jsonArg is JSON as an argument.
type jsonArg json.RawMessage

// UnmarshalText implements encoding.TextUnmarshaler, for kong.
func (j *jsonArg) UnmarshalText(text []byte) error {
	if !json.Valid(text) {
		return errors.New("this is not JSON; put it in single quotes, such as '{\"a\":1}'")
	}
	*j = append((*j)[:0], text...)
	return nil
}

// MarshalJSON implements json.Marshaler.
func (j jsonArg) MarshalJSON() ([]byte, error) { return j, nil }
