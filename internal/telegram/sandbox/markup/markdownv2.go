package markup

import (
	"strings"
)

// markdownV2 reads parse mode MarkdownV2. Every reserved character that is not
// markup must be escaped.
type markdownV2 struct {
	source   string
	pos      int
	out      visible
	open     []span
	entities []Entity
}

// span is markup that has been opened.
type span struct {
	kind       spanKind
	language   string // of a block of code
	expandable bool   // of a quotation
	begin      int    // of the markup in the source, in bytes
	offset     int    // of its text, in UTF-16 units
	position   int    // the same in bytes
}

// spanKind is a kind of markup: its name in Telegram's errors, its entity and
// the mark that ends it.
type spanKind struct{ name, entity, end string }

var (
	boldSpan      = spanKind{"Bold", "bold", "*"}
	italicSpan    = spanKind{"Italic", "italic", "_"}
	underlineSpan = spanKind{"Underline", "underline", "__"}
	strikeSpan    = spanKind{"Strikethrough", "strikethrough", "~"}
	spoilerSpan   = spanKind{"Spoiler", "spoiler", "||"}
	codeSpan      = spanKind{"Code", "code", "`"}
	preSpan       = spanKind{"Pre", "pre", "```"}
	preCodeSpan   = spanKind{"PreCode", "pre", "```"}
	linkSpan      = spanKind{"TextUrl", "text_link", "]"}
	emojiSpan     = spanKind{"CustomEmoji", "custom_emoji", "]"}
	quoteSpan     = spanKind{"BlockQuote", "blockquote", "\n"}
)

// openings are the marks that begin markup; a longer one comes before its
// beginning.
var openings = []struct {
	mark string
	kind spanKind
}{
	{"__", underlineSpan}, {"_", italicSpan}, {"*", boldSpan}, {"~", strikeSpan}, {"||", spoilerSpan},
	{"```", preSpan}, {"`", codeSpan}, {"![", emojiSpan}, {"[", linkSpan},
}

// parseMarkdownV2 gives the visible text and its entities. The error is
// Telegram's text after "can't parse entities: ".
func parseMarkdownV2(source string) (Text, error) {
	p := &markdownV2{source: source}
	for p.pos < len(source) {
		if err := p.step(); err != nil {
			return Text{}, err
		}
	}
	if p.inside(quoteSpan) {
		p.mark(p.pop()) // the end of the text ends a quotation
	}
	if len(p.open) > 0 {
		return Text{}, p.unended()
	}
	sortEntities(p.entities)
	return Text{p.out.String(), p.entities}, nil
}

func (p *markdownV2) step() error {
	if p.escaped() {
		p.pos++
		p.pos += p.out.take(p.source[p.pos:])
		return nil
	}
	reserved := "_*[]()~`>#+-=|{}.!\n"
	if p.inside(codeSpan) || p.inside(preSpan) || p.inside(preCodeSpan) {
		reserved = "`"
	}
	if strings.IndexByte(reserved, p.source[p.pos]) < 0 {
		p.pos += p.out.take(p.source[p.pos:])
		return nil
	}
	switch {
	case p.quoting() && p.at("\n") && !p.at("\n>"):
		return p.endQuote()
	case p.ends():
		return p.end()
	case p.at("\n"):
		return p.newline()
	default:
		return p.begin()
	}
}

// escaped tells whether a backslash takes the meaning from what follows.
func (p *markdownV2) escaped() bool {
	return p.at(`\`) && p.pos+1 < len(p.source) && p.source[p.pos+1] > 0 && p.source[p.pos+1] <= 126
}

// newline goes to the next line, where a quotation may begin or go on.
func (p *markdownV2) newline() error {
	p.pos += p.out.take("\n")
	if p.at(">") {
		p.pos++
		if !p.quoting() {
			p.push(quoteSpan, p.pos-1)
		}
	}
	return nil
}

// begin opens the markup that begins here.
func (p *markdownV2) begin() error {
	lineBegins := p.pos == 0 || p.source[p.pos-1] == '\n'
	if lineBegins && p.at("**>") { // divides two quotations
		if p.quoting() {
			p.mark(p.pop())
		}
		p.push(quoteSpan, p.pos)
		p.pos += len("**>")
		return nil
	}
	if p.pos == 0 && p.at(">") {
		p.push(quoteSpan, p.pos)
		p.pos++
		return nil
	}
	if p.inside(quoteSpan) && p.at("||") && (p.pos+2 == len(p.source) || p.source[p.pos+2] == '\n') {
		p.open[len(p.open)-1].expandable = true
		p.pos += len("||")
		return nil
	}
	for _, opening := range openings {
		if !p.at(opening.mark) {
			continue
		}
		p.push(opening.kind, p.pos)
		p.pos += len(opening.mark)
		if opening.kind == preSpan {
			p.language()
		}
		return nil
	}
	return parseErrorf("Character '%c' is reserved and must be escaped with the preceding '\\'", p.source[p.pos])
}

// language reads the language of a block of code and skips one line break.
func (p *markdownV2) language() {
	end := p.pos
	for end < len(p.source) && !isSpace(p.source[end]) && p.source[end] != '`' {
		end++
	}
	if end > p.pos && end < len(p.source) && p.source[end] != '`' {
		top := &p.open[len(p.open)-1]
		top.kind, top.language = preCodeSpan, p.source[p.pos:end]
		p.pos = end
	}
	switch {
	case p.at("\r\n"), p.at("\n\r"):
		p.pos += 2
	case p.at("\n"), p.at("\r"):
		p.pos++
	}
}

// ends tells whether the innermost markup ends here.
func (p *markdownV2) ends() bool {
	if len(p.open) == 0 || p.inside(quoteSpan) {
		return false
	}
	if p.inside(italicSpan) && p.at("__") {
		return false
	}
	return p.at(p.open[len(p.open)-1].kind.end)
}

// end closes the innermost markup; a link or an emoji has an address after it.
func (p *markdownV2) end() error {
	s := p.pop()
	p.pos += len(s.kind.end)
	switch s.kind {
	case linkSpan:
		return p.endLink(s)
	case emojiSpan:
		return p.endEmoji(s)
	default:
		p.mark(s)
		return nil
	}
}

func (p *markdownV2) endQuote() error {
	if !p.inside(quoteSpan) {
		return p.unended()
	}
	s := p.pop()
	p.pos += p.out.take("\n")
	p.mark(s)
	return nil
}

func (p *markdownV2) push(kind spanKind, begin int) {
	p.open = append(p.open, span{kind: kind, begin: begin, offset: p.out.utf16, position: p.out.Len()})
}

func (p *markdownV2) pop() span {
	s := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	return s
}

// at tells whether the source goes on with a text.
func (p *markdownV2) at(text string) bool { return strings.HasPrefix(p.source[p.pos:], text) }

// inside tells whether the innermost markup is of a kind.
func (p *markdownV2) inside(kind spanKind) bool {
	return len(p.open) > 0 && p.open[len(p.open)-1].kind == kind
}

// quoting tells whether a quotation is open, however deep.
func (p *markdownV2) quoting() bool {
	for _, s := range p.open {
		if s.kind == quoteSpan {
			return true
		}
	}
	return false
}

func (p *markdownV2) unended() error {
	s := p.open[len(p.open)-1]
	return parseErrorf("Can't find end of %s entity at byte offset %d", s.kind.name, s.begin)
}
