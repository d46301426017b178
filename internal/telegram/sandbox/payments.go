package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// invoice is the Bot API's Invoice and what a bot keeps for itself.
type invoice struct {
	Title          string `json:"title"`
	Description    string `json:"description"`
	StartParameter string `json:"start_parameter"`
	Currency       string `json:"currency"`
	TotalAmount    int64  `json:"total_amount"`
}

// checkout is a payment that waits for the bot's consent.
type checkout struct {
	bot     *bot
	chatID  int64
	invoice invoice
	payload string
	at      time.Time
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// maxPayload is the longest payload of an invoice in bytes.
const maxPayload = 128

// sendInvoice sends a bill. A customer pays it with the act pay.
func sendInvoice(c *call) (any, *apiError) {
	bill, payload, err := readInvoice(c.params)
	if err != nil {
		return nil, telegramRefusal(err)
	}
	return c.deliver(outgoing{kind: KindInvoice, what: "invoice messages", media: encode(bill), payload: payload})
}

func readInvoice(p params) (bill invoice, payload string, err error) {
	for _, field := range []struct {
		name string
		into *string
	}{
		{"title", &bill.Title}, {"description", &bill.Description}, {"payload", &payload}, {"currency", &bill.Currency},
	} {
		if *field.into, err = p.required(field.name); err != nil {
			return bill, "", err
		}
	}
	bill.StartParameter = p.values["start_parameter"]
	switch {
	case len(payload) > maxPayload:
		return bill, "", errors.New("INVOICE_PAYLOAD_INVALID")
	case !currencyCode.MatchString(bill.Currency):
		return bill, "", errors.New("CURRENCY_INVALID")
	}
	bill.TotalAmount, err = readPrices(p.values["prices"])
	return bill, payload, err
}

// readPrices adds up the parts of a price.
func readPrices(text string) (int64, error) {
	if text == "" {
		return 0, telegramError("Parameter \"prices\" is required")
	}
	var list []json.RawMessage
	if !json.Valid([]byte(text)) {
		return 0, telegramError("Can't parse prices JSON object")
	}
	if json.Unmarshal([]byte(text), &list) != nil {
		return 0, telegramError("Expected an Array of labeled prices")
	}
	total := int64(0)
	for _, raw := range list {
		object, err := parseObject(raw)
		if err != nil {
			return 0, telegramError("Can't parse labeled price: LabeledPrice must be an Object")
		}
		if _, err := object.requiredText("label"); err != nil {
			return 0, telegramErrorf("Can't parse labeled price: %v", err)
		}
		amount, err := object.requiredLong("amount")
		if err != nil {
			return 0, telegramErrorf("Can't parse labeled price: %v", err)
		}
		total += amount
	}
	if total <= 0 {
		return 0, errors.New("CURRENCY_TOTAL_AMOUNT_INVALID")
	}
	return total, nil
}

// Pay makes the customer pay an invoice. The bot that sent it is asked first, by
// an update pre_checkout_query; when it has agreed, the payment is a message.
// The bot has ten seconds, as at Telegram.
func (s *Sandbox) Pay(chatID, messageID int64) error {
	return s.act(chatID, func(w *world, c *chat) error {
		m := w.message(chatID, messageID)
		var bill invoice
		if m == nil || m.Kind != KindInvoice || json.Unmarshal(m.media, &bill) != nil {
			return impossible("chat %d has no invoice %d", chatID, messageID)
		}
		if err := c.settled(); err != nil {
			return err
		}
		id := strconv.FormatInt(w.dice.Int64(), 10)
		w.checkouts.put(id, checkout{w.bot(m.BotID), chatID, bill, m.payload, w.clock.now()})
		w.notice(c, "The customer wants to pay.")
		w.enqueue(w.bot(m.BotID), updatePreCheckout, map[string]any{
			"id": id, "from": c.customer(), "currency": bill.Currency, "total_amount": bill.TotalAmount,
			"invoice_payload": m.payload,
		}, w.clock.now())
		return nil
	})
}

// checkoutTime is how long a bot has to answer a pre-checkout query.
const checkoutTime = 10 * time.Second

// answerPreCheckoutQuery agrees to a payment, or not.
func answerPreCheckoutQuery(c *call) (any, *apiError) {
	agreed := c.params.flag("ok")
	why := c.params.values["error_message"]
	if !agreed && why == "" {
		return nil, badRequest("parameter \"error_message\" is required")
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	asked, known := w.checkouts.take(c.params.values["pre_checkout_query_id"])
	if !known || asked.bot != c.bot || w.clock.now().Sub(asked.at) > checkoutTime {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	chat := w.chat(asked.chatID)
	if !agreed {
		w.notice(chat, "The payment was refused: "+why)
		return true, nil
	}
	w.paid(chat, asked)
	return true, nil
}

// paid publishes the message about a payment; w.mu is held.
func (w *world) paid(c *chat, of checkout) {
	m := w.incoming(c)
	id := strconv.FormatInt(w.dice.Int64(), 10)
	m.Payment = encode(map[string]any{
		"currency": of.invoice.Currency, "total_amount": of.invoice.TotalAmount, "invoice_payload": of.payload,
		"telegram_payment_charge_id": "sandbox-" + id, "provider_payment_charge_id": "sandbox-provider-" + id,
	})
	w.show(c, line{author: authorCustomer, id: m.MessageID, text: fmt.Sprintf("Paid: %s", of.invoice.Title), incoming: &m})
	w.enqueue(of.bot, updateMessage, m, w.clock.now())
}
