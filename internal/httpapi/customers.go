package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"notifier/internal/database"
	"notifier/internal/orders"
)

func (a *API) registerCustomers() {
	register(a, huma.Operation{
		OperationID: "link-customer", Method: http.MethodPost, Path: "/customers/{customerId}/link", Tags: []string{"customers"},
		Summary: "Get an address behind which a customer connects their chat",
	}, a.linkCustomer)
}

type linkInput struct {
	CustomerID string `path:"customerId" minLength:"1" maxLength:"200"`
	Nothing
}

type linkBody struct {
	ConnectURL string    `json:"connectUrl" format:"uri" doc:"for this customer alone, and for one use"`
	ExpiresAt  time.Time `json:"expiresAt"`
}

// linkCustomer makes an invitation. Without the bot's name there is no address, and an invitation
// nobody can follow is none.
func (a *API) linkCustomer(ctx context.Context, in *linkInput) (*response[linkBody], error) {
	if blank(in.CustomerID) {
		return nil, invalid("/path/customerId", "is blank")
	}
	name := a.BotName()
	if name == "" {
		return nil, failure(http.StatusServiceUnavailable, codeBotUnknown,
			"the bot's name is not known yet, since Telegram has not told it: try again soon; /readyz says what is wrong").
			retryAfter(storageRetrySeconds * time.Second)
	}
	return ok(ctx, a, func(tx database.Tx, now time.Time) (linkBody, error) {
		i, err := a.Orders.Invite(tx, now, in.CustomerID)
		return linkBody{orders.ConnectURL(name, i.Token), i.ExpiresAt}, err
	})
}

// connect tells whether the customer still has to connect a chat, and where.
func (a *API) connect(tx database.Tx, b *placedBody) error {
	linked, err := a.Orders.Linked(tx, b.CustomerID)
	if err != nil || linked {
		b.ConnectURL = connectURL{}
		return err
	}
	b.ConnectURL = connectURL{needed: true}
	name := a.BotName()
	if name == "" {
		return nil
	}
	i, err := a.Orders.Invite(tx, a.Now(), b.CustomerID)
	b.ConnectURL.url = orders.ConnectURL(name, i.Token)
	return err
}
