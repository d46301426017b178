// Command example is a bot and its test against the sandbox. The bot is made
// with github.com/go-telegram/bot, which takes another address of the Bot API
// like most libraries.
//
//	go run ./examples/sandbox/go
//
// starts `notifier sandbox` for itself; with SANDBOX_URL it uses one that runs.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// newBot makes the bot. It knows nothing of the sandbox, only the address of the
// Bot API.
func newBot(apiURL, token string) (*bot.Bot, error) {
	return bot.New(token, bot.WithServerURL(apiURL), bot.WithDefaultHandler(greet))
}

// greet answers everybody who presses Start.
func greet(ctx context.Context, b *bot.Bot, update *models.Update) {
	if update.Message == nil || !strings.HasPrefix(update.Message.Text, "/start ") {
		return
	}
	payload := strings.TrimPrefix(update.Message.Text, "/start ")
	letter := &bot.SendMessageParams{
		ChatID: update.Message.Chat.ID, ParseMode: models.ParseModeHTML,
		Text: "Welcome! Your order is <b>" + payload + "</b>.",
	}
	for {
		_, err := b.SendMessage(ctx, letter)
		var wait *bot.TooManyRequestsError
		if !errors.As(err, &wait) {
			return
		}
		time.Sleep(time.Duration(wait.RetryAfter) * time.Second)
	}
}

// testGreeting lets a customer press Start, makes the first answer a 429, and
// looks at what was delivered.
func testGreeting(url string) error {
	steps := []struct{ method, path, body string }{
		{http.MethodDelete, "", ""}, // start afresh
		{http.MethodPost, "/faults", `{"method":"sendMessage","times":1,"respond":{"retryAfter":1}}`},
		{http.MethodPost, "/chats/7900000001/start", `{"payload":"A-1001"}`},
	}
	for _, step := range steps {
		if err := ask(step.method, url+"/sandbox"+step.path, step.body, nil); err != nil {
			return err
		}
	}
	b, err := newBot(url, "123456:any-token")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go b.Start(ctx)

	var messages []struct{ VisibleText string }
	if err := ask(http.MethodGet, url+"/sandbox/messages?chatId=7900000001&wait=20s", "", &messages); err != nil {
		return err
	}
	var stats struct{ TooManyRequests, Violations int }
	if err := ask(http.MethodGet, url+"/sandbox/stats", "", &stats); err != nil {
		return err
	}
	if len(messages) != 1 || messages[0].VisibleText != "Welcome! Your order is A-1001." {
		return fmt.Errorf("delivered: %+v", messages)
	}
	if stats.TooManyRequests != 1 || stats.Violations != 0 {
		return fmt.Errorf("counted: %+v", stats)
	}
	return nil
}

// ask makes a request of the sandbox and decodes its answer.
func ask(method, url, body string, into any) error {
	request, err := http.NewRequest(method, url, bytes.NewBufferString(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s %s", method, url, response.Status, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// startSandbox starts a sandbox on a free port. Its first line names the address.
func startSandbox() (url string, stop func(), err error) {
	command := exec.Command("notifier", "sandbox", "--listen", "127.0.0.1:0")
	output, err := command.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := command.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	var first struct{ URL string }
	if err == nil {
		err = json.Unmarshal(line, &first)
	}
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("the sandbox did not start: %w", err)
	}
	return first.URL, stop, nil
}

func main() {
	url, stop := os.Getenv("SANDBOX_URL"), func() {}
	if url == "" {
		var err error
		if url, stop, err = startSandbox(); err != nil {
			log.Fatal(err)
		}
	}
	err := testGreeting(url)
	stop()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("greeted once, after the wait that was asked for")
}
