package markup

import (
	"net/url"
	"strconv"
	"strings"
)

// entity is what a span that ends now marks; without a text it is nothing.
func (p *markdownV2) entity(s span) (Entity, bool) {
	e := Entity{Type: s.kind.entity, Offset: s.offset, Length: p.out.utf16 - s.offset, Language: s.language}
	if s.expandable {
		e.Type = "expandable_blockquote"
	}
	return e, e.Length > 0
}

// mark adds the entity of a span that has ended.
func (p *markdownV2) mark(s span) {
	if e, hasText := p.entity(s); hasText {
		p.entities = append(p.entities, e)
	}
}

// endLink reads the address of a link; without one its text is the address.
func (p *markdownV2) endLink(s span) error {
	address := p.out.from(s.position)
	if p.at("(") {
		var err error
		if address, err = p.address("a URL"); err != nil {
			return err
		}
	}
	e, hasText := p.entity(s)
	if e, usable := e.linkTo(address); usable && hasText {
		p.entities = append(p.entities, e)
	}
	return nil
}

func (p *markdownV2) endEmoji(s span) error {
	if !p.at("(") {
		return parseError("Custom emoji entity must contain a tg://emoji URL")
	}
	address, err := p.address("a custom emoji URL")
	if err != nil {
		return err
	}
	id, err := emojiOfLink(address)
	if err != nil {
		return err
	}
	e, hasText := p.entity(s)
	if e.CustomEmojiID = id; hasText {
		p.entities = append(p.entities, e)
	}
	return nil
}

// address reads what is in parentheses; a backslash takes the meaning from the
// character after it.
func (p *markdownV2) address(what string) (string, error) {
	p.pos++
	begin := p.pos
	var address strings.Builder
	for p.pos < len(p.source) && !p.at(")") {
		if p.escaped() {
			p.pos++
		}
		address.WriteByte(p.source[p.pos])
		p.pos++
	}
	if !p.at(")") {
		return "", parseErrorf("Can't find end of %s at byte offset %d", what, begin)
	}
	p.pos++
	return address.String(), nil
}

func emojiOfLink(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || !strings.EqualFold(u.Scheme, "tg") || !strings.EqualFold(u.Host, "emoji") {
		return "", parseError("Custom emoji entity must contain a tg://emoji URL")
	}
	id := u.Query().Get("id")
	if n, err := strconv.ParseInt(id, 10, 64); err != nil || n == 0 {
		return "", parseError("Invalid custom emoji identifier specified")
	}
	return id, nil
}
