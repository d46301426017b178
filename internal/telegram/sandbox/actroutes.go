package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
)

// postAct lets the caller act as a customer and answers with the chat as it is
// then.
func (s *Sandbox) postAct(rw http.ResponseWriter, r *http.Request) {
	chatID, err := pathChat(r)
	if err != nil {
		refuse(rw, http.StatusUnprocessableEntity, err)
		return
	}
	body, ok := readControl(rw, r)
	if !ok {
		return
	}
	act, known := s.acts()[r.PathValue("act")]
	if !known {
		refuse(rw, http.StatusNotFound, fmt.Errorf("there is no act %q", r.PathValue("act")))
		return
	}
	switch err := act(chatID, body); {
	case errors.Is(err, ErrImpossible):
		refuse(rw, http.StatusConflict, err)
	case err != nil:
		refuse(rw, http.StatusUnprocessableEntity, err)
	default:
		show(rw, http.StatusOK, s.chatView(chatID))
	}
}

// acts are the acts by the last part of their path.
func (s *Sandbox) acts() map[string]func(chatID int64, body []byte) error {
	return map[string]func(int64, []byte) error{
		"block":      bodyless(s.Block),
		"unblock":    bodyless(s.Unblock),
		"deactivate": bodyless(s.Deactivate),
		"kick":       bodyless(s.Kick),
		"restrict":   bodyless(s.Restrict),
		"start":      s.actStart,
		"message":    s.actMessage,
		"press":      s.actPress,
		"migrate":    s.actMigrate,
		"contact":    s.actContact,
		"location":   s.actLocation,
		"photo":      s.actPhoto,
		"profile":    s.actProfile,
		"pay":        s.actPay,
		"query":      s.actQuery,
	}
}

func bodyless(act func(int64) error) func(int64, []byte) error {
	return func(chatID int64, body []byte) error {
		if err := decodeAct(body, &struct{}{}); err != nil {
			return err
		}
		return act(chatID)
	}
}

func (s *Sandbox) actStart(chatID int64, body []byte) error {
	var form struct {
		Payload string `json:"payload"`
	}
	if err := decodeAct(body, &form); err != nil {
		return err
	}
	return s.Start(chatID, form.Payload)
}

func (s *Sandbox) actMessage(chatID int64, body []byte) error {
	var form struct {
		Text string `json:"text"`
	}
	if err := decodeAct(body, &form); err != nil {
		return err
	}
	if form.Text == "" {
		return errors.New("text is missing")
	}
	return s.Write(chatID, form.Text)
}

func (s *Sandbox) actPress(chatID int64, body []byte) error {
	var form struct {
		MessageID int64  `json:"messageId"`
		Data      string `json:"data"`
	}
	if err := decodeAct(body, &form); err != nil {
		return err
	}
	if form.MessageID == 0 {
		return errors.New("messageId is missing")
	}
	return s.Press(chatID, form.MessageID, form.Data)
}

func (s *Sandbox) actPay(chatID int64, body []byte) error {
	var form struct {
		MessageID int64 `json:"messageId"`
	}
	if err := decodeAct(body, &form); err != nil {
		return err
	}
	if form.MessageID == 0 {
		return errors.New("messageId is missing")
	}
	return s.Pay(chatID, form.MessageID)
}

func (s *Sandbox) actQuery(chatID int64, body []byte) error {
	var form struct {
		BotID int64  `json:"botId"`
		Query string `json:"query"`
	}
	if err := decodeAct(body, &form); err != nil {
		return err
	}
	return s.Query(chatID, form.BotID, form.Query)
}

func (s *Sandbox) actMigrate(chatID int64, body []byte) error {
	var form struct {
		To int64 `json:"to"`
	}
	if err := decodeAct(body, &form); err != nil {
		return err
	}
	if form.To == 0 {
		return errors.New("to is missing")
	}
	return s.Migrate(chatID, form.To)
}

// decodeAct reads the body of an act; no body is the same as {}.
func decodeAct(body []byte, form any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	return decodeStrict(body, form)
}
