package sandbox_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/go-telegram/bot"

	"notifier/internal/telegram/sandbox"
)

// A test starts a sandbox for itself and asks it afterwards what was delivered.
func ExampleNew() {
	s := sandbox.New(sandbox.Options{StrictChats: true})
	defer s.Close()
	server := httptest.NewServer(s)
	defer server.Close()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	b, err := bot.New("123456:any-token", bot.WithServerURL(server.URL))
	if err != nil {
		fmt.Println(err)
		return
	}

	_, err = b.SendMessage(ctx, &bot.SendMessageParams{ChatID: 7900000001, Text: "Hello?"})
	fmt.Println(err)

	if err := s.Start(7900000001, "order-1"); err != nil { // now the customer presses Start
		fmt.Println(err)
	}
	if _, err = s.AddFault(sandbox.Fault{Method: "sendMessage", Times: 1, Respond: sandbox.Respond{Drop: sandbox.DropAfter}}); err != nil {
		fmt.Println(err)
	}
	_, err = b.SendMessage(ctx, &bot.SendMessageParams{ChatID: 7900000001, Text: "Hello again"})
	fmt.Println("an error:", err != nil)
	for _, m := range s.WaitMessages(ctx, 7900000001) {
		fmt.Println("and yet delivered:", m.VisibleText)
	}
	// Output:
	// bad request, Bad Request: chat not found
	// an error: true
	// and yet delivered: Hello again
}
