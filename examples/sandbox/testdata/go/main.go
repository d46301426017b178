// Command clients puts five public Go clients, unmodified, through the same
// steps against the sandbox at SANDBOX_URL: telego, telegram-bot-api v5, telebot
// v4 and v3, and go-telegram/bot. Each sends, edits, answers, sends an album,
// deletes, meets a 429 and a block, polls, and gets a webhook, with which polling
// is refused by 409.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
)

// token has the form that telego checks.
var token = "1234567890:" + strings.Repeat("x", 35)

var url = os.Getenv("SANDBOX_URL")

// client is what each library's file says how to do.
type client interface {
	send(chatID int64, html string) (messageID int, err error)
	edit(chatID int64, messageID int, text string) error
	reply(chatID int64, messageID int, text string) error
	album(chatID int64, urls []string) error
	remove(chatID int64, messageID int) error
	// poll answers texts with "heard …" until stop is called.
	poll() (stop func(), err error)
	// webhook sets a webhook at an address and gives what is to answer there;
	// texts are answered with "took …".
	webhook(address string) (http.Handler, error)
	// getUpdates polls once.
	getUpdates() error
}

func main() {
	for _, name := range os.Args[1:] {
		if name == "telego's RetryCaller" {
			checkRetries()
			continue
		}
		make, known := map[string]func() (client, error){
			"telego": newTelego, "telegram-bot-api": newBotAPI, "telebot": newTelebot, "telebot v3": newTelebot3,
			"go-telegram": newGoTelegram,
		}[name]
		if !known {
			fail(fmt.Errorf("there is no client %q", name))
		}
		c, err := make()
		fail(err)
		check(c)
		fmt.Println(name, "is content")
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ask(method, path, body string, into any) {
	request, err := http.NewRequest(method, url+"/sandbox"+path, bytes.NewBufferString(body))
	fail(err)
	response, err := http.DefaultClient.Do(request)
	fail(err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	fail(err)
	if response.StatusCode >= 300 {
		fail(fmt.Errorf("%s %s: %s", method, path, answer))
	}
	if into != nil {
		fail(json.Unmarshal(answer, into))
	}
}

func check(c client) {
	ask("DELETE", "", "", nil)
	ask("PUT", "/limits", `{"chatPerSecond":0}`, nil)
	id, err := c.send(7, "<b>one</b>")
	fail(err)
	fail(c.edit(7, id, "two"))
	fail(c.reply(7, id, "three"))
	fail(c.album(7, []string{"https://shop.example/a.jpg", "https://shop.example/b.jpg"}))
	fail(c.remove(7, id))
	var messages []struct {
		VisibleText string `json:"visibleText"`
		DeletedAt   string `json:"deletedAt"`
		ReplyTo     int    `json:"replyTo"`
	}
	ask("GET", "/messages?chatId=7", "", &messages)
	if len(messages) != 4 || messages[0].VisibleText != "two" || messages[0].DeletedAt == "" || messages[1].ReplyTo != id {
		fail(fmt.Errorf("delivered: %+v", messages))
	}
	ask("POST", "/faults", `{"method":"sendMessage","times":1,"respond":{"retryAfter":3}}`, nil)
	if _, err := c.send(7, "x"); err == nil || !strings.Contains(err.Error(), "3") {
		fail(fmt.Errorf("a 429 is %v", err))
	}
	ask("POST", "/chats/8/block", "", nil)
	if _, err := c.send(8, "x"); err == nil || !strings.Contains(err.Error(), "blocked") {
		fail(fmt.Errorf("a block is %v", err))
	}
	stop, err := c.poll()
	fail(err)
	ask("POST", "/chats/9/message", `{"text":"hello"}`, nil)
	ask("GET", "/messages?chatId=9&wait=30s", "", &messages)
	if len(messages) != 1 || messages[0].VisibleText != "heard hello" {
		fail(fmt.Errorf("heard: %+v", messages))
	}
	stop()
	checkWebhook(c)
}

func checkWebhook(c client) {
	var handler http.Handler
	ready := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		<-ready
		handler.ServeHTTP(rw, r)
	}))
	defer server.Close()
	ask("DELETE", "", "", nil)
	var err error
	handler, err = c.webhook(server.URL + "/hook")
	fail(err)
	close(ready)
	ask("POST", "/chats/10/message", `{"text":"again"}`, nil)
	var messages []struct {
		VisibleText string `json:"visibleText"`
	}
	ask("GET", "/messages?chatId=10&wait=30s", "", &messages)
	if len(messages) != 1 || messages[0].VisibleText != "took again" {
		fail(fmt.Errorf("took: %+v", messages))
	}
	if err := c.getUpdates(); err == nil || !strings.Contains(err.Error(), "webhook is active") {
		fail(fmt.Errorf("a 409 is %v", err))
	}
}

// checkRetries lets telego wait out the 429s of the usual limits.
func checkRetries() {
	ask("DELETE", "", "", nil)
	fail(sendWithRetries(7, 3))
	var stats struct {
		Delivered, TooManyRequests, Violations int
	}
	ask("GET", "/stats", "", &stats)
	if stats.Delivered != 3 || stats.TooManyRequests == 0 || stats.Violations != 0 {
		fail(fmt.Errorf("%+v", stats))
	}
	fmt.Println("telego's RetryCaller is content")
}
