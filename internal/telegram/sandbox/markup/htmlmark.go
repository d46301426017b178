package markup

import (
	"strconv"
	"strings"
)

// take lets a tag have an attribute; those it does not know are ignored.
func (t *htmlTag) take(name, value string) {
	switch t.name + " " + name {
	case "a href", "tg-emoji emoji-id", "tg-time format":
		t.argument = value
	case "tg-time unix":
		t.unix = looseInteger(value) // a broken one marks nothing
	case "code class":
		if language, found := strings.CutPrefix(value, "language-"); found {
			t.argument = language
		}
	case "span class":
		if class, found := strings.CutPrefix(value, "tg-"); found {
			t.argument = class
		}
	case "blockquote expandable":
		t.argument = "expandable"
	}
}

// simpleTags are those whose entity needs nothing but its place.
var simpleTags = map[string]string{
	"b": "bold", "strong": "bold",
	"i": "italic", "em": "italic",
	"u": "underline", "ins": "underline",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough",
	"tg-spoiler": "spoiler", "span": "spoiler",
}

// mark adds the entity of a tag that has just ended.
func (p *htmlParser) mark(tag htmlTag) error {
	e := Entity{Type: simpleTags[tag.name], Offset: tag.offset, Length: p.out.utf16 - tag.offset}
	switch tag.name {
	case "a":
		p.markLink(tag, e)
		return nil
	case "pre", "code":
		p.markCode(tag, e)
		return nil
	case "blockquote":
		e.Type = "blockquote"
		if tag.argument != "" {
			e.Type = "expandable_blockquote"
		}
	case "tg-emoji":
		if id, whole := canonicalInteger(tag.argument, 64); !whole || id == 0 {
			return parseError("Invalid custom emoji identifier specified")
		}
		e.Type, e.CustomEmojiID = "custom_emoji", tag.argument
	case "tg-time":
		format, err := DateFormat(tag.argument)
		if err != nil || tag.unix <= 0 {
			return err
		}
		e.Type, e.UnixTime, e.DateFormat = "date_time", tag.unix, format
	}
	p.entities = append(p.entities, e)
	return nil
}

// markLink adds a link; without a usable address only its text stays.
func (p *htmlParser) markLink(tag htmlTag, e Entity) {
	address := tag.argument
	if address == "" {
		address = p.out.from(tag.position)
	}
	if e, usable := e.linkTo(address); usable {
		p.entities = append(p.entities, e)
	}
}

// markCode adds a block or a span of code. Where one tag covers the same text
// as the other inside it, both make one block, and the code tag names its
// language.
func (p *htmlParser) markCode(tag htmlTag, e Entity) {
	e.Type, e.Language = tag.name, tag.argument
	if n := len(p.entities); n > 0 {
		inner := p.entities[n-1]
		pair := e.Type == "pre" && inner.Type == "code" && inner.Language != "" ||
			e.Type == "code" && inner.kind() == pre && e.Language != ""
		if pair && inner.Offset == e.Offset && inner.Length == e.Length {
			e.Type, e.Language = "pre", e.Language+inner.Language // only the code tag can have one
			p.entities[n-1] = e
			return
		}
	}
	p.entities = append(p.entities, e)
}

// withoutSpanLanguages takes the language from code that no pre has claimed.
func withoutSpanLanguages(list []Entity) []Entity {
	for i := range list {
		if list[i].Type == "code" {
			list[i].Language = ""
		}
	}
	return list
}

// characterReference decodes what begins with &, if it is a reference that
// Telegram knows; the final semicolon is optional. Its size is 0 otherwise.
func characterReference(source string) (r rune, size int) {
	if !strings.HasPrefix(source, "&") {
		return 0, 0
	}
	if strings.HasPrefix(source, "&#") {
		return numericReference(source)
	}
	end := 1
	for end < len(source) && isLetter(source[end]) {
		end++
	}
	switch source[1:end] {
	case "lt":
		r = '<'
	case "gt":
		r = '>'
	case "amp":
		r = '&'
	case "quot":
		r = '"'
	default:
		return 0, 0
	}
	return r, semicolon(source, end)
}

// maxReference is the longest numeric reference, without the semicolon.
const maxReference = 9

func numericReference(source string) (r rune, size int) {
	base, begin := 10, len("&#")
	if strings.HasPrefix(source, "&#x") {
		base, begin = 16, len("&#x")
	}
	end := begin
	for end < len(source) && (isDigit(source[end]) || base == 16 && isHexLetter(source[end])) {
		end++
	}
	code, err := strconv.ParseUint(source[begin:end], base, 32)
	if err != nil || code == 0 || code >= 0x10FFFF || end > maxReference {
		return 0, 0
	}
	return rune(code), semicolon(source, end)
}

func isHexLetter(c byte) bool { return c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// semicolon is where a reference that ends at an index really ends.
func semicolon(source string, end int) int {
	if end < len(source) && source[end] == ';' {
		return end + 1
	}
	return end
}
