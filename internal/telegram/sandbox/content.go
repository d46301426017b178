package sandbox

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// required reads a parameter that must not be empty.
func (p params) required(name string) (string, error) {
	if p.values[name] == "" {
		return "", telegramErrorf("Parameter \"%s\" is required", name)
	}
	return p.values[name], nil
}

// sendContent makes the method that sends a message made of parameters alone.
func sendContent(kind MessageKind, what string, read func(params) (any, error)) func(*call) (any, *apiError) {
	return func(c *call) (any, *apiError) {
		content, err := read(c.params)
		if err != nil {
			return nil, telegramRefusal(err)
		}
		return c.deliver(outgoing{kind: kind, what: what, media: encode(content)})
	}
}

// location is the Bot API's Location.
type location struct {
	Latitude   float64 `json:"latitude"`
	Longitude  float64 `json:"longitude"`
	LivePeriod int64   `json:"live_period,omitempty"`
}

func (p params) location() (location, error) {
	var l location
	for _, part := range []struct {
		name  string
		into  *float64
		bound float64
	}{{"latitude", &l.Latitude, 90}, {"longitude", &l.Longitude, 180}} {
		text := strings.TrimSpace(p.values[part.name])
		if text == "" {
			return l, fmt.Errorf("%s is empty", part.name)
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n < -part.bound || n > part.bound {
			return l, telegramError("Wrong location specified")
		}
		*part.into = n
	}
	return l, nil
}

func readLocation(p params) (any, error) {
	l, err := p.location()
	l.LivePeriod = p.integer("live_period", 0)
	return l, err
}

// venue is the Bot API's Venue.
type venue struct {
	Location     location `json:"location"`
	Title        string   `json:"title"`
	Address      string   `json:"address"`
	FoursquareID string   `json:"foursquare_id,omitempty"`
}

func readVenue(p params) (any, error) {
	l, err := p.location()
	if err != nil {
		return nil, err
	}
	v := venue{l, p.values["title"], p.values["address"], p.values["foursquare_id"]}
	if v.Title == "" || v.Address == "" {
		return nil, telegramError("Venue title and address must be non-empty")
	}
	return v, nil
}

// contact is the Bot API's Contact.
type contact struct {
	PhoneNumber string `json:"phone_number"`
	FirstName   string `json:"first_name"`
	LastName    string `json:"last_name,omitempty"`
	UserID      int64  `json:"user_id,omitempty"`
	VCard       string `json:"vcard,omitempty"`
}

func readContact(p params) (any, error) {
	phone, err := p.required("phone_number")
	if err != nil {
		return nil, err
	}
	name, err := p.required("first_name")
	return contact{PhoneNumber: phone, FirstName: name, LastName: p.values["last_name"], VCard: p.values["vcard"]}, err
}

// dice are the emoji of sendDice and their highest values.
var dice = map[string]int64{"🎲": 6, "🎯": 6, "🎳": 6, "🏀": 5, "⚽": 5, "🎰": 64}

func sendDice(c *call) (any, *apiError) {
	emoji := c.params.values["emoji"]
	if emoji == "" {
		emoji = "🎲"
	}
	most, known := dice[emoji]
	if !known {
		return nil, badRequest("wrong dice emoji specified")
	}
	c.world.mu.Lock()
	value := 1 + c.world.dice.Int64N(most)
	c.world.mu.Unlock()
	return c.deliver(outgoing{kind: KindDice, what: "dice", media: encode(map[string]any{"emoji": emoji, "value": value})})
}

// poll is the Bot API's Poll. Nobody votes.
type poll struct {
	ID        string       `json:"id"`
	Question  string       `json:"question"`
	Options   []pollOption `json:"options"`
	Voters    int          `json:"total_voter_count"`
	IsClosed  bool         `json:"is_closed"`
	Anonymous bool         `json:"is_anonymous"`
	Type      string       `json:"type"`
	Multiple  bool         `json:"allows_multiple_answers"`
}

type pollOption struct {
	Text   string `json:"text"`
	Voters int    `json:"voter_count"`
}

// The bounds of polls, in characters and options.
const (
	maxQuestion   = 300
	maxPollOption = 100
	maxOptions    = 12
)

func readPoll(p params) (any, error) {
	options, err := readPollOptions(p.values["options"])
	if err != nil {
		return nil, err
	}
	question := strings.TrimSpace(p.values["question"])
	kind := p.values["type"]
	if kind == "" {
		kind = "regular"
	}
	switch {
	case question == "":
		return nil, telegramError("Poll question must be non-empty")
	case utf8.RuneCountInString(question) > maxQuestion:
		return nil, telegramErrorf("Poll question length must not exceed %d", maxQuestion)
	case kind != "regular" && kind != "quiz":
		return nil, telegramError("Unsupported poll type specified")
	}
	_, said := p.values["is_anonymous"]
	return poll{
		ID: strconv.FormatInt(time.Now().UnixNano(), 10), Question: question, Options: options, Type: kind,
		Anonymous: !said || p.flag("is_anonymous"), Multiple: p.flag("allows_multiple_answers"), IsClosed: p.flag("is_closed"),
	}, nil
}

func readPollOptions(text string) ([]pollOption, error) {
	var list []json.RawMessage
	if !json.Valid([]byte(text)) {
		return nil, telegramError("Can't parse options JSON object")
	}
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil, telegramError("Expected an Array of String as options")
	}
	var options []pollOption
	for _, raw := range list {
		option := pollOption{}
		if json.Unmarshal(raw, &option.Text) != nil && json.Unmarshal(raw, &option) != nil {
			return nil, telegramError("Option must be an Object")
		}
		if option.Voters = 0; strings.TrimSpace(option.Text) == "" {
			return nil, telegramError("Poll options must be non-empty")
		}
		if utf8.RuneCountInString(option.Text) > maxPollOption {
			return nil, telegramErrorf("Poll options length must not exceed %d", maxPollOption)
		}
		options = append(options, option)
	}
	switch {
	case len(options) == 0:
		return nil, telegramError("Poll must have at least 1 option")
	case len(options) > maxOptions:
		return nil, telegramErrorf("Poll can't have more than %d options", maxOptions)
	}
	return options, nil
}
