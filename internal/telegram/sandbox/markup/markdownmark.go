package markup

import "strings"

func (p *markdownV2) push(kind spanKind) {
	p.open = append(p.open, span{kind: kind, begin: p.pos, offset: p.out.utf16, position: p.out.Len()})
}

func (p *markdownV2) pop() span {
	s := p.innermost()
	p.open = p.open[:len(p.open)-1]
	return s
}

func (p *markdownV2) innermost() span { return p.open[len(p.open)-1] }

// at tells whether the source goes on with a text.
func (p *markdownV2) at(text string) bool { return strings.HasPrefix(p.source[p.pos:], text) }

// inside tells whether the innermost markup is of a kind.
func (p *markdownV2) inside(kind spanKind) bool { return len(p.open) > 0 && p.innermost().kind == kind }

func unended(s span) error {
	return parseErrorf("Can't find end of %s entity at byte offset %d", s.kind.name, s.begin)
}

// entity is what a span that ends now marks.
func (p *markdownV2) entity(s span) Entity {
	return Entity{Type: s.kind.entity, Offset: s.offset, Length: p.out.utf16 - s.offset, Language: s.language}
}

// mark adds the entity of a span that has ended; without a text it is nothing.
func (p *markdownV2) mark(s span) {
	if e := p.entity(s); e.Length > 0 {
		p.entities = append(p.entities, e)
	}
}

// endLink reads the address of a link; without one its text is the address.
func (p *markdownV2) endLink(s span) error {
	link := p.out.from(s.position)
	if p.at("(") {
		var err error
		if link, err = p.link(); err != nil {
			return err
		}
	}
	if e, usable := p.entity(s).linkTo(link); usable && e.Length > 0 {
		p.entities = append(p.entities, e)
	}
	return nil
}

// endEmoji reads what ![…] stands for: a custom emoji or a time.
func (p *markdownV2) endEmoji(s span) error {
	if !p.at("(") {
		return parseError("The entity must contain a tg://emoji or tg://time URL")
	}
	link, err := p.link()
	if err != nil {
		return err
	}
	e := p.entity(s)
	if id, isEmoji := emojiOfLink(link); isEmoji {
		e.CustomEmojiID = id
	} else if unix, format, isTime := timeOfLink(link); isTime {
		e.Type, e.UnixTime, e.DateFormat = kindNames[dateTime], unix, format
	} else {
		return parseError("Invalid tg://emoji or tg://time URL specified")
	}
	if e.Length > 0 {
		p.entities = append(p.entities, e)
	}
	return nil
}

// link reads what is in parentheses; a backslash takes the meaning from the
// character after it.
func (p *markdownV2) link() (string, error) {
	p.pos++
	begin := p.pos
	var link strings.Builder
	for p.pos < len(p.source) && !p.at(")") {
		if p.escaped() {
			p.pos++
		}
		link.WriteByte(p.source[p.pos])
		p.pos++
	}
	if !p.at(")") {
		return "", parseErrorf("Can't find end of a URL at byte offset %d", begin)
	}
	p.pos++
	return link.String(), nil
}
