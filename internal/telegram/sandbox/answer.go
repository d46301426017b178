package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// answer is one HTTP answer, or the lack of one.
type answer struct {
	status      int
	contentType string
	retryAfter  string // the Retry-After header; empty means none
	body        []byte
	lost        bool // the connection is aborted instead
	invented    bool // a fault's answer: the call did nothing
}

// lostAnswer aborts the connection without a byte.
var lostAnswer = answer{lost: true}

// write sends the answer. For a lost one it panics with http.ErrAbortHandler,
// which makes the server drop the connection, so it must be the last act.
func (a answer) write(rw http.ResponseWriter) {
	if a.lost {
		panic(http.ErrAbortHandler)
	}
	header := rw.Header()
	if a.retryAfter != "" {
		header.Set("Retry-After", a.retryAfter)
	}
	if a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		rw.WriteHeader(a.status) // HTTP allows these no body
		return
	}
	header.Set("Content-Type", a.contentType)
	header.Set("Content-Length", strconv.Itoa(len(a.body)))
	rw.WriteHeader(a.status)
	_, _ = rw.Write(a.body) // a client that has gone away is not our error
}

// success is the Bot API's answer to a call that did what it should.
func success(result any) answer {
	shape := struct {
		OK          bool   `json:"ok"`
		Result      any    `json:"result"`
		Description string `json:"description,omitempty"`
	}{OK: true, Result: result}
	if e, isExplained := result.(explained); isExplained {
		shape.Result, shape.Description = e.result, e.description
	}
	return answer{status: http.StatusOK, contentType: "application/json", body: encode(shape)}
}

// apiError is a refusal in the Bot API's form. Its code is both the HTTP status
// and error_code.
type apiError struct {
	code        int
	description string
	retryAfter  json.Number // seconds; empty means none
	migrateTo   int64       // the supergroup a group became; zero means none
}

type errorParameters struct {
	MigrateToChatID int64       `json:"migrate_to_chat_id,omitempty"`
	RetryAfter      json.Number `json:"retry_after,omitempty"`
}

func (e *apiError) answer() answer {
	shape := struct {
		OK          bool             `json:"ok"`
		ErrorCode   int              `json:"error_code"`
		Description string           `json:"description"`
		Parameters  *errorParameters `json:"parameters,omitempty"`
	}{ErrorCode: e.code, Description: e.description}
	if e.retryAfter != "" || e.migrateTo != 0 {
		shape.Parameters = &errorParameters{e.migrateTo, e.retryAfter}
	}
	return answer{
		status:      e.code,
		contentType: "application/json",
		retryAfter:  e.retryAfter.String(),
		body:        encode(shape),
	}
}

// telegramError is an error in Telegram's own words, which begin with a capital
// letter.
type telegramError string

func (e telegramError) Error() string { return string(e) }

func telegramErrorf(format string, args ...any) error {
	return telegramError(fmt.Sprintf(format, args...))
}

var (
	errNotFound       = &apiError{code: http.StatusNotFound, description: "Not Found"}
	errUnknownMethod  = &apiError{code: http.StatusNotFound, description: "Not Found: method not found"}
	errHTTPMethod     = &apiError{code: http.StatusMethodNotAllowed, description: "Method Not Allowed"}
	errEntityTooLarge = &apiError{code: http.StatusRequestEntityTooLarge, description: "Request Entity Too Large"}
)

func badRequest(format string, args ...any) *apiError {
	return &apiError{code: http.StatusBadRequest, description: "Bad Request: " + fmt.Sprintf(format, args...)}
}

// telegramRefusal is a refusal in tdlib's words. The server makes the first letter small,
// unless the second one is a capital or an underscore, as in BUTTON_DATA_INVALID
// (telegram-bot-api, fail_query_with_error).
func telegramRefusal(err error) *apiError {
	words := err.Error()
	if len(words) > 1 && words[1] != '_' && (words[1] < 'A' || words[1] > 'Z') {
		words = strings.ToLower(words[:1]) + words[1:]
	}
	return badRequest("%s", words)
}

func conflict(why string) *apiError {
	return &apiError{code: http.StatusConflict, description: "Conflict: " + why}
}

func forbidden(why string) *apiError {
	return &apiError{code: http.StatusForbidden, description: "Forbidden: " + why}
}

func tooManyRequests(seconds int) *apiError {
	return &apiError{
		code:        http.StatusTooManyRequests,
		description: fmt.Sprintf("Too Many Requests: retry after %d", seconds),
		retryAfter:  json.Number(strconv.Itoa(seconds)),
	}
}

// encode gives JSON without HTML escapes. The values are the package's own, so
// a failure is a mistake in it.
func encode(value any) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(fmt.Sprintf("sandbox: encode %T: %v", value, err))
	}
	return bytes.TrimRight(buffer.Bytes(), "\n")
}
