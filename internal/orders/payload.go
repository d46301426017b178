package orders

// Payload is the stored body of every order message: all that its text needs, so that whoever
// sends it never reads the order again. A foreign writer may leave out everything but one of
// OrderID and Number.
type Payload struct {
	OrderID      int64  `json:"orderId,omitempty"`
	Number       string `json:"number,omitempty"`
	CustomerName string `json:"customerName,omitempty"`
	Locale       string `json:"locale,omitempty"`
	Currency     string `json:"currency,omitempty"` // ISO 4217
	// TotalCents is in the currency's minor unit; nil when the writer did not say.
	TotalCents  *int64 `json:"totalCents,omitempty"`
	Items       []Item `json:"items,omitempty"`
	Note        string `json:"note,omitempty"`
	TrackingURL string `json:"trackingUrl,omitempty"`
}

// Item is one line of an order.
type Item struct {
	Name           string `json:"name"`
	Quantity       int64  `json:"quantity"`
	UnitPriceCents int64  `json:"unitPriceCents"` // in the currency's minor unit
}
