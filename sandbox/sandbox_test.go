package sandbox_test

import (
	"net/http"
	"net/url"
	"testing"

	"notifier/sandbox"
)

func TestNew(t *testing.T) {
	server := sandbox.New(t)
	if err := server.SetLimits(sandbox.Limits{}); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(7, "order-1"); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"chat_id": {"7"}, "text": {"<b>hello</b>"}, "parse_mode": {"HTML"}}
	response, err := http.PostForm(server.URL+"/bot123456:any/sendMessage", form)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	messages := server.WaitMessages(t.Context(), 7)
	if len(messages) != 1 || messages[0].VisibleText != "hello" {
		t.Errorf("%+v", messages)
	}
}
