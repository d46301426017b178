package markup

import "slices"

// Rules say how Fix treats a text.
type Rules struct {
	MayBeEmpty bool // as a caption may, unlike a text
	Find       bool // mark what Telegram finds by itself: links, hashtags and so on
}

// The bounds of an entity's offset and length.
const maxEntityBound = 1_000_000

// Fix does to a text what the server does before it is stored: it is cleaned
// and trimmed, and entities are cut, joined and dropped until they fit into each
// other. Its error is Telegram's, for a text that is empty then and for entities
// that do not fit the text.
func (t Text) Fix(rules Rules) (Text, error) {
	entities := slices.Clone(t.Entities)
	for _, e := range entities {
		if e.Offset < 0 || e.Offset > maxEntityBound {
			return Text{}, parseErrorf("Receive an entity with incorrect offset %d", e.Offset)
		}
		if e.Length < 0 || e.Length > maxEntityBound {
			return Text{}, parseErrorf("Receive an entity with incorrect length %d", e.Length)
		}
	}
	entities = fit(withoutEmpty(entities))
	text, err := clean(t.Text, entities)
	if err != nil {
		return Text{}, err
	}
	fixed := Text{text, withoutEmpty(entities)}
	if !fixed.trim() || isBlank(fixed.Text) {
		if !rules.MayBeEmpty {
			return Text{}, parseError("Text must be non-empty")
		}
	}
	if rules.Find {
		fixed.Entities = joinFound(fixed.Entities, Find(fixed.Text))
	}
	return fixed, nil
}

// withoutEmpty drops entities without a text or without what they need.
func withoutEmpty(list []Entity) []Entity {
	return slices.DeleteFunc(list, func(e Entity) bool {
		switch {
		case e.Length <= 0:
			return true
		case e.Type == kindNames[textLink]:
			return e.URL == ""
		case e.Type == kindNames[textMention]:
			return e.User == nil || e.User.ID <= 0 || e.User.ID > maxUserID
		}
		return false
	})
}

// trim takes white space from both ends; at the beginning it stops where the
// first entity begins. It is false, and the text empty, when nothing else is
// there.
func (t *Text) trim() bool {
	end, units := lastVisible(t.Text)
	if end == 0 {
		*t = Text{}
		return false
	}
	t.Entities = fit(t.Entities) // some may have met where a character was left out
	t.Text = t.Text[:end]
	t.Entities = slices.DeleteFunc(t.Entities, func(e Entity) bool { return e.Offset >= units })
	for i := range t.Entities {
		t.Entities[i].Length = min(t.Entities[i].Length, units-t.Entities[i].Offset)
	}
	sortEntities(t.Entities)

	begin, most := 0, len(t.Text)
	if len(t.Entities) > 0 {
		most = t.Entities[0].Offset
	}
	for begin < most && (t.Text[begin] == ' ' || t.Text[begin] == '\n') {
		begin++
	}
	t.Text = t.Text[begin:]
	for i := range t.Entities {
		t.Entities[i].Offset -= begin // only characters of one byte and one unit were taken
	}
	return true
}

// lastVisible is where the last character that is no white space ends: in bytes
// and in UTF-16 units, zero if there is none.
func lastVisible(text string) (end, units int) {
	width := 0
	for i, r := range text {
		width += utf16Width(r)
		if r != ' ' && r != '\n' {
			end, units = i+len(string(r)), width
		}
	}
	return end, units
}
