package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// controlRoutes are the paths for the person or test beside the Bot API. Their
// errors are {"error":"…"}.
func (s *Sandbox) controlRoutes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", pageFile("index.html"))
	for _, name := range pageParts() {
		mux.HandleFunc("GET /sandbox/page/"+name, pageFile(name))
	}
	mux.HandleFunc("DELETE /sandbox", s.reset)
	mux.HandleFunc("GET /sandbox/messages", s.showMessages)
	mux.HandleFunc("GET /sandbox/calls", s.showCalls)
	mux.HandleFunc("GET /sandbox/calls.har", s.exportCalls)
	mux.HandleFunc("GET /sandbox/calls/{id}", s.showCall)
	mux.HandleFunc("POST /sandbox/calls/{id}/replay", s.replayCall)
	mux.HandleFunc("GET /sandbox/scenario", s.showScenario)
	mux.HandleFunc("GET /sandbox/clock", s.showClock)
	mux.HandleFunc("POST /sandbox/clock", s.postClock)
	mux.HandleFunc("GET /sandbox/files/{id}", s.showFile)
	mux.HandleFunc("GET /sandbox/stats", s.showStats)
	mux.HandleFunc("GET /sandbox/limits", s.showLimits)
	mux.HandleFunc("PUT /sandbox/limits", s.putLimits)
	mux.HandleFunc("GET /sandbox/faults", s.showFaults)
	mux.HandleFunc("POST /sandbox/faults", s.postFault)
	mux.HandleFunc("DELETE /sandbox/faults", s.deleteFaults)
	mux.HandleFunc("DELETE /sandbox/faults/{id}", s.deleteFault)
	mux.HandleFunc("GET /sandbox/overview", s.showOverview)
	mux.HandleFunc("GET /sandbox/chats/{id}", s.showChat)
	mux.HandleFunc("POST /sandbox/chats/{id}/{act}", s.postAct)
	// Pages of other origins that a browser has open must not act here. Programs
	// are not browsers and pass.
	return http.NewCrossOriginProtection().Handler(s.recorded(mux))
}

func (s *Sandbox) reset(rw http.ResponseWriter, _ *http.Request) {
	s.Reset()
	rw.WriteHeader(http.StatusNoContent)
}

// showMessages lists what was delivered, of one chat with chatId, beyond one
// message with after. With wait it answers as soon as there is one, or with an
// empty list in the end.
func (s *Sandbox) showMessages(rw http.ResponseWriter, r *http.Request) {
	chatID, err := queryChat(r)
	if err != nil {
		refuse(rw, http.StatusUnprocessableEntity, err)
		return
	}
	after, err := queryMessage(r)
	if err != nil {
		refuse(rw, http.StatusUnprocessableEntity, err)
		return
	}
	wait, err := queryWait(r)
	if err != nil {
		refuse(rw, http.StatusUnprocessableEntity, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	show(rw, http.StatusOK, s.waitMessages(ctx, chatID, after))
}

func (s *Sandbox) showStats(rw http.ResponseWriter, _ *http.Request) {
	show(rw, http.StatusOK, s.Stats())
}

func (s *Sandbox) showLimits(rw http.ResponseWriter, _ *http.Request) {
	show(rw, http.StatusOK, s.Limits())
}

func (s *Sandbox) putLimits(rw http.ResponseWriter, r *http.Request) {
	body, ok := readControl(rw, r)
	if !ok {
		return
	}
	if err := s.changeLimits(func(l *Limits) error { return decodeStrict(body, l) }); err != nil {
		refuse(rw, http.StatusUnprocessableEntity, err)
		return
	}
	s.showLimits(rw, r)
}

func (s *Sandbox) showFaults(rw http.ResponseWriter, _ *http.Request) {
	show(rw, http.StatusOK, s.Faults())
}

func (s *Sandbox) postFault(rw http.ResponseWriter, r *http.Request) {
	body, ok := readControl(rw, r)
	if !ok {
		return
	}
	var fault Fault
	if err := decodeStrict(body, &fault); err != nil {
		refuse(rw, http.StatusUnprocessableEntity, err)
		return
	}
	added, err := s.addFault(fault)
	if err != nil {
		refuse(rw, http.StatusUnprocessableEntity, err)
		return
	}
	show(rw, http.StatusCreated, added)
}

func (s *Sandbox) deleteFaults(rw http.ResponseWriter, _ *http.Request) {
	s.ClearFaults()
	rw.WriteHeader(http.StatusNoContent)
}

func (s *Sandbox) deleteFault(rw http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		refuse(rw, http.StatusUnprocessableEntity, fmt.Errorf("%q is no fault id", r.PathValue("id")))
		return
	}
	if !s.RemoveFault(id) {
		refuse(rw, http.StatusNotFound, fmt.Errorf("fault %d is not in force", id))
		return
	}
	rw.WriteHeader(http.StatusNoContent)
}

// queryChat reads ?chatId=, zero when there is none.
func queryChat(r *http.Request) (int64, error) {
	text := r.FormValue("chatId")
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id == 0 {
		return 0, errors.New("chatId must be a chat id")
	}
	return id, nil
}

// queryMessage reads ?after=, zero when there is none.
func queryMessage(r *http.Request) (int64, error) {
	text := r.FormValue("after")
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 0 {
		return 0, errors.New("after must be a message id")
	}
	return id, nil
}

// maxQueryWait is the longest wait a request may ask for.
const maxQueryWait = 5 * time.Minute

// queryWait reads ?wait=, zero when there is none.
func queryWait(r *http.Request) (time.Duration, error) {
	text := r.FormValue("wait")
	if text == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 || wait > maxQueryWait {
		return 0, errors.New(`wait must be a duration up to 5m, such as "5s"`)
	}
	return wait, nil
}

// readControl reads a JSON body; an error has been answered when it is false.
func readControl(rw http.ResponseWriter, r *http.Request) ([]byte, bool) {
	const limit = 15 << 20 // a picture in base64 fits
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, limit))
	if err != nil {
		refuse(rw, http.StatusRequestEntityTooLarge, errors.New("the body is longer than 15 MiB or was cut"))
		return nil, false
	}
	return body, true
}

func show(rw http.ResponseWriter, status int, value any) {
	answer{status: status, contentType: "application/json", body: encode(value)}.write(rw)
}

func refuse(rw http.ResponseWriter, status int, err error) {
	show(rw, status, struct {
		Error string `json:"error"`
	}{err.Error()})
}
