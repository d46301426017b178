package orders

// MaxListed is how many open orders a reply lists.
const MaxListed = 10

// ReplyPayload is the stored body of every reply.
type ReplyPayload struct {
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
