package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// tags are the ones of Telegram's HTML (https://core.telegram.org/bots/api#html-style).
var tags = map[string]bool{
	"a": true, "b": true, "strong": true, "i": true, "em": true, "u": true, "ins": true,
	"s": true, "strike": true, "del": true, "code": true, "pre": true, "blockquote": true,
	"span": true, "tg-spoiler": true, "tg-emoji": true, "tg-time": true,
}

// visible reads Telegram's HTML as Telegram does and returns the text that is left without tags,
// with entities resolved. Its error is a *Error that says what Telegram would refuse; positions are
// bytes. The rules are those of parse_html in td/telegram/MessageEntity.cpp
// (github.com/tdlib/td): only the listed tags exist, a lone < begins a tag, unknown attributes are
// ignored, </> closes the innermost tag, and an unknown entity stays as it is written.
func visible(html string) (string, error) {
	p := &parser{src: html}
	for p.pos < len(p.src) {
		var err error
		switch {
		case strings.HasPrefix(p.rest(), "</"):
			err = p.endTag()
		case p.src[p.pos] == '<':
			err = p.startTag()
		case p.src[p.pos] == '&':
			err = p.entity()
		default:
			p.literal()
		}
		if err != nil {
			return "", err
		}
	}
	if n := len(p.open); n > 0 {
		return "", markupError(len(html), "the tag %q is not closed", p.open[n-1].name)
	}
	return p.finish()
}

// parser walks over the source once and collects the visible text in UTF-16 code units, as numeric
// entities may give the two halves of a character one by one.
type parser struct {
	src  string
	pos  int
	out  []uint16
	open []openTag
}

type openTag struct {
	name  string
	begin int // in the visible text
	valid bool
}

func markupError(pos int, format string, args ...any) *Error {
	return rejected(fmt.Sprintf("bad HTML at byte %d: ", pos) + fmt.Sprintf(format, args...))
}

func (p *parser) rest() string { return p.src[p.pos:] }

func (p *parser) literal() {
	c, size := utf8.DecodeRuneInString(p.rest())
	p.out = utf16.AppendRune(p.out, c)
	p.pos += size
}

func (p *parser) entity() error {
	c, size := decodeEntity(p.rest())
	if size == 0 {
		p.literal()
		return nil
	}
	if c >= 0xd800 && c <= 0xdfff {
		p.out = append(p.out, uint16(c))
	} else {
		p.out = utf16.AppendRune(p.out, c)
	}
	p.pos += size
	return nil
}

// decodeEntity reads the entity at the beginning of s; a size of 0 says that there is none.
func decodeEntity(s string) (c rune, size int) {
	end := 1
	if strings.HasPrefix(s, "&#") {
		base, digits := 10, 2
		if strings.HasPrefix(s, "&#x") {
			base, digits = 16, 3
		}
		for end = digits; end < len(s) && isDigit(s[end], base); end++ {
		}
		n, err := strconv.ParseUint(s[digits:end], base, 32)
		if err != nil || n == 0 || n >= 0x10ffff || end >= 10 {
			return 0, 0
		}
		c = rune(n)
	} else {
		for ; end < len(s) && isLetter(s[end]); end++ {
		}
		c = map[string]rune{"lt": '<', "gt": '>', "amp": '&', "quot": '"'}[s[1:end]]
		if c == 0 {
			return 0, 0
		}
	}
	if end < len(s) && s[end] == ';' {
		end++
	}
	return c, end
}

func (p *parser) startTag() error {
	begin := p.pos
	p.pos++
	name := strings.ToLower(p.take(func(c byte) bool { return !isSpace(c) && c != '>' }))
	if p.pos == len(p.src) {
		return markupError(begin, "a tag is not finished")
	}
	if !tags[name] {
		return markupError(begin, "Telegram knows no such tag")
	}
	tag := openTag{name: name, begin: len(p.out), valid: name != "span" && name != "tg-emoji" && name != "tg-time"}
	for {
		p.take(isSpace)
		if p.pos == len(p.src) {
			return markupError(begin, "the tag %q is not finished", name)
		}
		if p.src[p.pos] == '>' {
			break
		}
		attribute, value, err := p.attribute(begin, name)
		if err != nil {
			return err
		}
		tag.valid = tag.valid || fits(name, attribute, value)
	}
	p.pos++
	if name == "span" && !tag.valid {
		return markupError(begin, `the tag "span" must have the class "tg-spoiler"`)
	}
	p.open = append(p.open, tag)
	return nil
}

// attribute reads name=value; the value of an attribute without one is empty.
func (p *parser) attribute(begin int, tag string) (name, value string, err error) {
	name = p.take(func(c byte) bool { return !isSpace(c) && c != '=' && c != '>' })
	if name == "" {
		return "", "", markupError(begin, "an attribute of the tag %q has no name", tag)
	}
	p.take(isSpace)
	if p.pos == len(p.src) || p.src[p.pos] != '=' {
		// Newer servers take a bare name, such as in <blockquote expandable>; others want a value.
		if tag == "blockquote" {
			return name, "", nil
		}
		return "", "", markupError(begin, "an attribute of the tag %q has no value", tag)
	}
	p.pos++
	p.take(isSpace)
	if p.pos == len(p.src) {
		return "", "", markupError(begin, "the tag %q is not finished", tag)
	}
	if quote := p.src[p.pos]; quote == '"' || quote == '\'' {
		p.pos++
		value = p.take(func(c byte) bool { return c != quote })
		if p.pos == len(p.src) {
			return "", "", markupError(begin, "the tag %q is not finished", tag)
		}
		p.pos++
		return name, value, nil
	}
	value = p.take(func(c byte) bool { return isLetter(c) || isDigit(c, 10) || c == '.' || c == '-' })
	if p.pos < len(p.src) && !isSpace(p.src[p.pos]) && p.src[p.pos] != '>' {
		return "", "", markupError(begin, "a value in the tag %q needs quotes", tag)
	}
	return name, value, nil
}

// fits says that this is the attribute without which the tag is not taken.
func fits(tag, attribute, value string) bool {
	switch {
	case tag == "span" && attribute == "class":
		return value == "tg-spoiler"
	case tag == "tg-emoji" && attribute == "emoji-id", tag == "tg-time" && attribute == "unix":
		n, err := strconv.ParseInt(value, 10, 64)
		return err == nil && n != 0
	}
	return false
}

func (p *parser) endTag() error {
	begin := p.pos
	if len(p.open) == 0 {
		return markupError(begin, "an end tag without a beginning")
	}
	p.pos += len("</")
	name := strings.ToLower(p.take(func(c byte) bool { return !isSpace(c) && c != '>' }))
	p.take(isSpace)
	if p.pos == len(p.src) || p.src[p.pos] != '>' {
		return markupError(begin, "an end tag is not finished")
	}
	p.pos++
	tag := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	if name != "" && name != tag.name {
		return markupError(begin, "the tag %q is open and another one is closed", tag.name)
	}
	if !tag.valid && len(p.out) > tag.begin {
		return markupError(begin, "the tag %q needs a number", tag.name)
	}
	return nil
}

// finish refuses half characters, which no text may hold.
func (p *parser) finish() (string, error) {
	for i := 0; i < len(p.out); i++ {
		if !utf16.IsSurrogate(rune(p.out[i])) {
			continue
		}
		if i+1 == len(p.out) || utf16.DecodeRune(rune(p.out[i]), rune(p.out[i+1])) == utf8.RuneError {
			return "", rejected("half a character (a lone surrogate) in the HTML")
		}
		i++
	}
	return string(utf16.Decode(p.out)), nil
}

// take moves over the bytes that fit and returns them.
func (p *parser) take(fits func(byte) bool) string {
	begin := p.pos
	for p.pos < len(p.src) && fits(p.src[p.pos]) {
		p.pos++
	}
	return p.src[begin:p.pos]
}

func isSpace(c byte) bool  { return c == ' ' || c >= '\t' && c <= '\r' && c != '\f' || c == 0 }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte, base int) bool {
	return c >= '0' && c <= '9' || base == 16 && c|0x20 >= 'a' && c|0x20 <= 'f'
}
