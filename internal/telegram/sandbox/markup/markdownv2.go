package markup

import "strings"

// markdownV2 reads parse mode MarkdownV2. Every reserved character that is not
// markup must be escaped.
type markdownV2 struct {
	source     string
	pos        int
	out        visible
	open       []span
	entities   []Entity
	quoting    bool // a quotation is open, however deep
	lineBegins bool // nothing but markup stands before this on its line
}

// span is markup that has been opened.
type span struct {
	kind     spanKind
	language string // of a block of code
	begin    int    // of the markup in the source, in bytes
	offset   int    // of its text, in UTF-16 units
	position int    // the same in bytes
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
	quoteSpan     = spanKind{"BlockQuote", "blockquote", ""}
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
	p := &markdownV2{source: source, lineBegins: true}
	for p.pos < len(source) {
		if err := p.step(); err != nil {
			return Text{}, err
		}
	}
	if p.quoting {
		p.endLastQuote()
	}
	if len(p.open) > 0 {
		return Text{}, unended(p.innermost())
	}
	sortEntities(p.entities)
	return Text{p.out.String(), p.entities}, nil
}

func (p *markdownV2) step() error {
	if p.escaped() {
		p.pos++
		p.take()
		return nil
	}
	reserved := "_*[]()~`>#+-=|{}.!\n"
	if p.inside(codeSpan) || p.inside(preSpan) || p.inside(preCodeSpan) {
		reserved = "`"
	}
	switch {
	case strings.IndexByte(reserved, p.source[p.pos]) < 0:
		p.take()
		return nil
	case p.quoting && p.at("\n") && !p.at("\n>"):
		return p.endQuote()
	case p.ends():
		return p.end()
	default:
		return p.begin()
	}
}

// take copies a character that is no markup. A carriage return does not change
// whether a line begins.
func (p *markdownV2) take() {
	if c := p.source[p.pos]; c != '\r' {
		p.lineBegins = c == '\n'
	}
	p.pos += p.out.take(p.source[p.pos:])
}

// escaped tells whether a backslash takes the meaning from what follows.
func (p *markdownV2) escaped() bool {
	return p.at(`\`) && p.pos+1 < len(p.source) && p.source[p.pos+1] > 0 && p.source[p.pos+1] <= 126
}

// begin opens the markup that begins here.
func (p *markdownV2) begin() error {
	switch {
	case p.at("\n"):
		p.take()
		return nil
	case p.at(">") && p.lineBegins:
		if !p.quoting { // else the quotation goes on
			p.push(quoteSpan)
			p.quoting = true
		}
		p.pos++
		return nil
	}
	for _, opening := range openings {
		if !p.at(opening.mark) {
			continue
		}
		p.push(opening.kind)
		p.pos += len(opening.mark)
		if opening.kind == preSpan {
			p.language()
		}
		p.open[len(p.open)-1].offset, p.open[len(p.open)-1].position = p.out.utf16, p.out.Len()
		return nil
	}
	return parseErrorf("Character '%c' is reserved and must be escaped with the preceding '\\'", p.source[p.pos])
}

// language reads the language of a block of code and skips one line break.
func (p *markdownV2) language() {
	language, after := codeLanguage(p.source, p.pos)
	if language != "" {
		top := &p.open[len(p.open)-1]
		top.kind, top.language = preCodeSpan, language
	}
	p.pos = after
}

// codeLanguage reads the language of a block of code, if white space follows
// it, and one line break.
func codeLanguage(source string, begin int) (language string, after int) {
	end := begin
	for end < len(source) && !isSpace(source[end]) && source[end] != '`' {
		end++
	}
	after = begin
	if end > begin && end < len(source) && source[end] != '`' {
		language, after = source[begin:end], end
	}
	switch rest := source[after:]; {
	case strings.HasPrefix(rest, "\r\n"), strings.HasPrefix(rest, "\n\r"):
		after += 2
	case strings.HasPrefix(rest, "\n"), strings.HasPrefix(rest, "\r"):
		after++
	}
	return language, after
}

// ends tells whether the innermost markup ends here.
func (p *markdownV2) ends() bool {
	if len(p.open) == 0 || p.inside(quoteSpan) || p.inside(italicSpan) && p.at("__") {
		return false
	}
	return p.at(p.innermost().kind.end)
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

// endQuote closes the quotation at a line break that another line of it does
// not follow. The break belongs to it.
func (p *markdownV2) endQuote() error {
	s := p.pop()
	if s.kind != quoteSpan {
		// A spoiler that begins right before the break makes it expandable.
		if s.kind != spoilerSpan || !p.justBegun(s) {
			return unended(s)
		}
		if s = p.pop(); s.kind != quoteSpan {
			return unended(s)
		}
		s.kind.entity = kindNames[expandable]
	}
	p.quoting = false
	p.take()
	p.mark(s)
	return nil
}

// justBegun tells whether a spoiler began right before this, but for a carriage
// return.
func (p *markdownV2) justBegun(s span) bool {
	between := p.source[s.begin+len(spoilerSpan.end) : p.pos]
	return between == "" || len(between) == 1 && strings.HasSuffix(p.out.String(), "\r")
}

// endLastQuote closes the quotation that the end of the text ends.
func (p *markdownV2) endLastQuote() {
	name := kindNames[blockquote]
	if p.inside(spoilerSpan) && p.innermost().begin == len(p.source)-len(spoilerSpan.end) {
		p.pop()
		name = kindNames[expandable]
	}
	if p.inside(quoteSpan) {
		s := p.pop()
		s.kind.entity = name
		p.mark(s)
	}
}
