package sandbox

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Profile is who the customer of a chat is; for a group, FirstName is its title.
// An empty field means what a chat that nobody has touched has.
type Profile struct {
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
	Username  string `json:"username"` // without @
	Language  string `json:"language"` // such as "ru"
}

// maxName is the longest name in characters.
const maxName = 64

// SetProfile makes the customer of a chat somebody.
func (s *Sandbox) SetProfile(chatID int64, p Profile) error {
	for _, text := range []string{p.FirstName, p.LastName, p.Username, p.Language} {
		if utf8.RuneCountInString(text) > maxName {
			return impossible("a name has up to %d characters", maxName)
		}
	}
	return s.act(chatID, func(w *world, c *chat) error {
		c.profile = p
		w.touch(c)
		return nil
	})
}

// customer is the person who writes in a chat: its owner, or a member that
// every group has.
func (c *chat) customer() user {
	id := max(c.id, -c.id)
	u := user{ID: id, FirstName: customerName(id), Language: cmp.Or(c.profile.Language, "en")}
	if !c.isGroup() {
		u.FirstName = cmp.Or(c.profile.FirstName, u.FirstName)
		u.LastName, u.Username = c.profile.LastName, c.profile.Username
	}
	return u
}

// ShareContact makes the customer send a phone number: their own, as the button
// of a keyboard asks, unless another name is given.
func (s *Sandbox) ShareContact(chatID int64, phone, firstName string) error {
	return s.share(chatID, "contact "+phone, func(_ *world, c *chat, m *messageObject) {
		shared := contact{PhoneNumber: phone, FirstName: firstName}
		if firstName == "" {
			shared.FirstName, shared.UserID = m.From.FirstName, m.From.ID
		}
		m.Contact = encode(shared)
	})
}

// ShareLocation makes the customer send a place.
func (s *Sandbox) ShareLocation(chatID int64, latitude, longitude float64) error {
	return s.share(chatID, fmt.Sprintf("location %g, %g", latitude, longitude), func(_ *world, _ *chat, m *messageObject) {
		m.Location = encode(location{Latitude: latitude, Longitude: longitude})
	})
}

// SharePhoto makes the customer send a picture.
func (s *Sandbox) SharePhoto(chatID int64, picture []byte, caption string) error {
	if len(picture) == 0 || len(picture) > maxPhoto || utf8.RuneCountInString(caption) > maxCaption {
		return impossible("a picture has up to %d bytes and a caption of up to %d characters", maxPhoto, maxCaption)
	}
	return s.share(chatID, caption, func(w *world, _ *chat, m *messageObject) {
		file := w.newFile(KindPhoto, upload{name: "photo.png", size: int64(len(picture)), content: picture})
		m.Photo, m.Caption = file.photoSizes(), caption
	})
}

// share sends a message of the customer that is more than a text. It opens a
// chat as Write does.
func (s *Sandbox) share(chatID int64, text string, fill func(*world, *chat, *messageObject)) error {
	return s.act(chatID, func(w *world, c *chat) error {
		state := ChatOpen
		if c.state == ChatRestricted {
			state = ChatRestricted
		}
		if err := w.turn(c, state); err != nil {
			return err
		}
		m := w.incoming(c)
		fill(w, c, &m)
		w.show(c, line{author: authorCustomer, id: m.MessageID, text: text, incoming: &m})
		w.publish(updateMessage, func(*bot) any { return m })
		return nil
	})
}

func (s *Sandbox) actContact(chatID int64, body []byte) error {
	var form struct {
		PhoneNumber string `json:"phoneNumber"`
		FirstName   string `json:"firstName"`
	}
	if err := decodeAct(body, &form); err != nil {
		return err
	}
	if form.PhoneNumber == "" {
		return errors.New("phoneNumber is missing")
	}
	return s.ShareContact(chatID, form.PhoneNumber, form.FirstName)
}

func (s *Sandbox) actLocation(chatID int64, body []byte) error {
	var form struct {
		Latitude  *float64 `json:"latitude"`
		Longitude *float64 `json:"longitude"`
	}
	if err := decodeAct(body, &form); err != nil {
		return err
	}
	if form.Latitude == nil || form.Longitude == nil {
		return errors.New("latitude and longitude are missing")
	}
	return s.ShareLocation(chatID, *form.Latitude, *form.Longitude)
}

func (s *Sandbox) actPhoto(chatID int64, body []byte) error {
	var form struct {
		Data    string `json:"data"`
		Caption string `json:"caption"`
	}
	if err := decodeAct(body, &form); err != nil {
		return err
	}
	picture, err := base64.StdEncoding.DecodeString(form.Data)
	if err != nil || len(picture) == 0 {
		return errors.New("data must be a picture in base64")
	}
	return s.SharePhoto(chatID, picture, form.Caption)
}

func (s *Sandbox) actProfile(chatID int64, body []byte) error {
	var p Profile
	if err := decodeAct(body, &p); err != nil {
		return err
	}
	return s.SetProfile(chatID, p)
}
