package sandbox

import (
	"encoding/json"
	"errors"
	"time"
)

// faultJSON is the form of a fault on the wire. What only answers of the server
// have (id, struck, addedAt) is refused in requests.
type faultJSON struct {
	Method      string      `json:"method,omitempty"`
	ChatID      int64       `json:"chatId,omitempty"`
	Times       *int        `json:"times,omitempty"`
	Probability *float64    `json:"probability,omitempty"`
	Seed        uint64      `json:"seed,omitempty"`
	Duration    *duration   `json:"duration,omitempty"`
	Respond     respondJSON `json:"respond"`
}

type respondJSON struct {
	Status          int      `json:"status,omitempty"`
	Description     string   `json:"description,omitempty"`
	RetryAfter      *float64 `json:"retryAfter,omitempty"`
	MigrateToChatID int64    `json:"migrateToChatId,omitempty"`
	Body            *string  `json:"body,omitempty"`
	ContentType     string   `json:"contentType,omitempty"`
	Delay           duration `json:"delay,omitzero"`
	Drop            Drop     `json:"drop,omitempty"`
	Hang            bool     `json:"hang,omitempty"`
}

// UnmarshalJSON reads the form of POST /sandbox/faults and refuses unknown
// fields, and zeros that would mean "never".
func (f *Fault) UnmarshalJSON(data []byte) error {
	var wire faultJSON
	if err := decodeStrict(data, &wire); err != nil {
		return err
	}
	*f = Fault{
		Method: wire.Method,
		ChatID: wire.ChatID,
		Seed:   wire.Seed,
		Respond: Respond{
			Status:          wire.Respond.Status,
			Description:     wire.Respond.Description,
			RetryAfter:      wire.Respond.RetryAfter,
			MigrateToChatID: wire.Respond.MigrateToChatID,
			Body:            wire.Respond.Body,
			ContentType:     wire.Respond.ContentType,
			Delay:           time.Duration(wire.Respond.Delay),
			Drop:            wire.Respond.Drop,
			Hang:            wire.Respond.Hang,
		},
	}
	if wire.Times != nil {
		if f.Times = *wire.Times; f.Times < 1 {
			return errors.New("times must be at least 1")
		}
	}
	if wire.Probability != nil {
		if f.Probability = *wire.Probability; f.Probability <= 0 {
			return errors.New("probability must be above 0, up to 1")
		}
	}
	if wire.Duration != nil {
		if f.Duration = time.Duration(*wire.Duration); f.Duration <= 0 {
			return errors.New("duration must be positive")
		}
	}
	return nil
}

func (f Fault) wire() faultJSON {
	wire := faultJSON{
		Method: f.Method,
		ChatID: f.ChatID,
		Seed:   f.Seed,
		Respond: respondJSON{
			Status:          f.Respond.Status,
			Description:     f.Respond.Description,
			RetryAfter:      f.Respond.RetryAfter,
			MigrateToChatID: f.Respond.MigrateToChatID,
			Body:            f.Respond.Body,
			ContentType:     f.Respond.ContentType,
			Delay:           duration(f.Respond.Delay),
			Drop:            f.Respond.Drop,
			Hang:            f.Respond.Hang,
		},
	}
	if f.Times != 0 {
		wire.Times = &f.Times
	}
	if f.Probability != 0 {
		wire.Probability = &f.Probability
	}
	if f.Duration != 0 {
		d := duration(f.Duration)
		wire.Duration = &d
	}
	return wire
}

// MarshalJSON gives the form that POST /sandbox/faults takes.
func (f Fault) MarshalJSON() ([]byte, error) { return json.Marshal(f.wire()) }

// MarshalJSON gives the fault and what it has done so far.
func (f ActiveFault) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		FaultID int `json:"faultId"`
		faultJSON
		Struck  int       `json:"struck"`
		AddedAt time.Time `json:"addedAt"`
	}{f.FaultID, f.Fault.wire(), f.Struck, f.AddedAt})
}
