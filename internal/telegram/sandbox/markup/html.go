package markup

import (
	"slices"
	"strings"
)

// htmlParser reads parse mode HTML. It is stricter than a browser and refuses
// with the byte offset of the tag that is wrong, in Telegram's words.
type htmlParser struct {
	source   string
	pos      int
	out      visible
	open     []htmlTag
	entities []Entity
	broken   bool // half of a surrogate pair was written as &#…;
}

// htmlTag is a tag that has been opened.
type htmlTag struct {
	name     string
	argument string // href, language, emoji id, time format, or whether expandable
	unix     int64  // of tg-time
	offset   int    // of its text, in UTF-16 units
	position int    // the same in bytes
}

var htmlTagNames = []string{
	"a", "b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "tg-spoiler", "span", "code", "pre",
	"blockquote", "tg-emoji", "tg-time",
}

// parseHTML gives the visible text and its entities. The error is Telegram's
// text after "can't parse entities: ".
func parseHTML(source string) (Text, error) {
	p := &htmlParser{source: source}
	for p.pos < len(source) {
		if err := p.step(); err != nil {
			return Text{}, err
		}
	}
	if len(p.open) > 0 {
		return Text{}, parseErrorf("Can't find end tag corresponding to start tag \"%s\"", p.innermost().name)
	}
	if p.broken {
		return Text{}, parseErrorf("Text contains invalid Unicode characters after decoding HTML entities, " +
			"check for unmatched surrogate code units")
	}
	sortEntities(p.entities)
	return Text{p.out.String(), withoutSpanLanguages(p.entities)}, nil
}

func (p *htmlParser) step() error {
	switch {
	case p.at(0) == '&':
		if r, size := characterReference(p.source[p.pos:]); size > 0 {
			p.putReference(r)
			p.pos += size
			return nil
		}
	case p.at(0) == '<' && p.at(1) == '/':
		return p.endTag()
	case p.at(0) == '<':
		return p.startTag()
	}
	p.pos += p.out.take(p.source[p.pos:])
	return nil
}

func (p *htmlParser) putReference(r rune) {
	if r >= 0xD800 && r <= 0xDFFF {
		p.broken = true
	}
	p.out.put(r)
}

func (p *htmlParser) startTag() error {
	begin := p.pos
	p.pos++
	name := strings.ToLower(p.until(func(c byte) bool { return isSpace(c) || c == '>' }))
	if p.ended() {
		return parseErrorf("Unclosed start tag at byte offset %d", begin)
	}
	if !slices.Contains(htmlTagNames, name) {
		return parseErrorf("Unsupported start tag \"%s\" at byte offset %d", name, begin)
	}
	tag := htmlTag{name: name}
	for {
		p.skipSpace()
		if p.at(0) == '>' {
			break
		}
		if err := p.attribute(&tag, begin); err != nil {
			return err
		}
	}
	p.pos++
	if name == "span" && tag.argument != "spoiler" {
		return parseErrorf("Tag \"span\" must have class \"tg-spoiler\" at byte offset %d", begin)
	}
	tag.offset, tag.position = p.out.utf16, p.out.Len()
	p.open = append(p.open, tag)
	return nil
}

// attribute reads one attribute of a tag that begins at an offset. One without
// a value is allowed.
func (p *htmlParser) attribute(tag *htmlTag, begin int) error {
	name := p.until(func(c byte) bool { return isSpace(c) || strings.IndexByte(`=>/"'`, c) >= 0 })
	if name == "" {
		return parseErrorf("Empty attribute name in the tag \"%s\" at byte offset %d", tag.name, begin)
	}
	p.skipSpace()
	value := ""
	if p.at(0) == '=' {
		p.pos++
		p.skipSpace()
		if p.ended() {
			return parseErrorf("Unclosed start tag \"%s\" at byte offset %d", tag.name, begin)
		}
		var err error
		if value, err = p.attributeValue(); err != nil {
			return err
		}
		if p.ended() {
			return parseErrorf("Unclosed start tag at byte offset %d", begin)
		}
	} else if p.ended() {
		return parseErrorf("Unclosed start tag \"%s\" at byte offset %d", tag.name, begin)
	}
	tag.take(name, value)
	return nil
}

// attributeValue reads a quoted string, or a name token: letters, digits, dots
// and hyphens, which are not case sensitive.
func (p *htmlParser) attributeValue() (string, error) {
	quote := p.at(0)
	if quote != '"' && quote != '\'' {
		begin := p.pos
		token := p.until(func(c byte) bool { return !isAlphanumeric(c) && c != '.' && c != '-' })
		if !isSpace(p.at(0)) && p.at(0) != '>' {
			return "", parseErrorf("Unexpected end of name token at byte offset %d", begin)
		}
		return strings.ToLower(token), nil
	}
	p.pos++
	var value strings.Builder
	for !p.ended() && p.at(0) != quote {
		if r, size := characterReference(p.source[p.pos:]); size > 0 {
			value.WriteRune(r)
			p.pos += size
			continue
		}
		value.WriteByte(p.at(0))
		p.pos++
	}
	if !p.ended() {
		p.pos++
	}
	return value.String(), nil
}

func (p *htmlParser) endTag() error {
	begin := p.pos
	if len(p.open) == 0 {
		return parseErrorf("Unexpected end tag at byte offset %d", begin)
	}
	p.pos += len("</")
	name := strings.ToLower(p.until(func(c byte) bool { return isSpace(c) || c == '>' }))
	p.skipSpace()
	if p.at(0) != '>' {
		return parseErrorf("Unclosed end tag at byte offset %d", begin)
	}
	p.pos++
	tag := p.innermost()
	if name != "" && name != tag.name { // </> ends whatever is open
		return parseErrorf("Unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", begin, tag.name, name)
	}
	p.open = p.open[:len(p.open)-1]
	if p.out.utf16 == tag.offset {
		return nil // an empty element marks nothing
	}
	return p.mark(tag)
}

func (p *htmlParser) innermost() htmlTag { return p.open[len(p.open)-1] }

// at is the byte so far ahead, 0 after the end.
func (p *htmlParser) at(ahead int) byte {
	if p.pos+ahead >= len(p.source) {
		return 0
	}
	return p.source[p.pos+ahead]
}

// ended is also true at a zero byte: inside a tag it ends the text.
func (p *htmlParser) ended() bool { return p.at(0) == 0 }

// until reads up to the first byte that stops it, or to the end.
func (p *htmlParser) until(stop func(byte) bool) string {
	begin := p.pos
	for !p.ended() && !stop(p.source[p.pos]) {
		p.pos++
	}
	return p.source[begin:p.pos]
}

func (p *htmlParser) skipSpace() { p.until(func(c byte) bool { return c == 0 || !isSpace(c) }) }

func isSpace(c byte) bool { return strings.IndexByte(" \t\r\n\v\x00", c) >= 0 }

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isAlphanumeric(c byte) bool { return isLetter(c) || isDigit(c) }
