package orders

// Types of the bot's own answers to what a person does. They are messages of the outbox as well.
const (
	TypeGreeting      = "BotGreeting"      // Start, and the chat is a customer's
	TypeWelcome       = "BotWelcome"       // Start or /orders, and the chat is nobody's yet
	TypeLinkRefused   = "BotLinkRefused"   // the token is wrong, used or too old
	TypeLinkThrottled = "BotLinkThrottled" // too many wrong tokens
	TypePrivateOnly   = "BotPrivateOnly"   // in a group, something for a private chat
	TypeOpenOrders    = "BotOpenOrders"    // /orders
	TypeHelp          = "BotHelp"          // /help
	TypeStopped       = "BotStopped"       // /stop
	TypeStaffStays    = "BotStaffStays"    // /stop in the staff's chat, which it does not stop
	TypeHint          = "BotHint"          // anything else
)

// AnswerPayload is the stored body of every answer.
type AnswerPayload struct {
	Locale       string `json:"locale,omitempty"`
	CustomerName string `json:"customerName,omitempty"`
	// Stopped: the person gets no messages until they press Start again.
	Stopped bool `json:"stopped,omitempty"`
	// Orders are the newest open ones, and OpenOrders is how many there are in all.
	Orders     []OpenOrder `json:"orders,omitempty"`
	OpenOrders int64       `json:"openOrders,omitempty"`
}

// OpenOrder is one line of a list of orders.
type OpenOrder struct {
	OrderID    int64  `json:"orderId,omitempty"`
	Number     string `json:"number,omitempty"`
	Status     string `json:"status"`
	Currency   string `json:"currency,omitempty"` // ISO 4217
	TotalCents int64  `json:"totalCents"`         // in the currency's minor unit
}
