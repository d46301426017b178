package markup

import "strings"

// parseMarkdown reads the older parse mode Markdown, which has no nesting. The
// error is Telegram's text after "can't parse entities: ".
func parseMarkdown(source string) (Text, error) {
	var out visible
	var entities []Entity
	for pos := 0; pos < len(source); {
		c := source[pos]
		switch {
		case c == '\\' && pos+1 < len(source) && strings.IndexByte("_*`[", source[pos+1]) >= 0:
			out.put(rune(source[pos+1]))
			pos += 2
		case strings.IndexByte("_*`[", c) < 0:
			pos += out.take(source[pos:])
		default:
			e, after, err := markdownSpan(source, pos, &out)
			if err != nil {
				return Text{}, err
			}
			if e.Type != "" && e.Length > 0 {
				entities = append(entities, e)
			}
			pos = after
		}
	}
	sortEntities(entities)
	return Text{out.String(), entities}, nil
}

// markdownSpan reads the markup that begins at a position: its entity, which
// has no type if it marks nothing, and where the source goes on.
func markdownSpan(source string, begin int, out *visible) (e Entity, after int, err error) {
	kind, mark := map[byte]spanKind{'_': italicSpan, '*': boldSpan, '`': codeSpan, '[': linkSpan}[source[begin]], 1
	if strings.HasPrefix(source[begin:], preSpan.end) {
		kind, mark = preSpan, len(preSpan.end)
	}
	pos := begin + mark
	if kind == preSpan {
		e.Language, pos = codeLanguage(source, pos)
	}
	length := strings.Index(source[pos:], kind.end)
	if length < 0 {
		return e, 0, parseErrorf("Can't find end of the entity starting at byte offset %d", begin)
	}
	text := source[pos : pos+length]
	e.Type, e.Offset, e.Length = kind.entity, out.utf16, UTF16Length(text)
	out.WriteString(text)
	out.utf16 += e.Length
	after = pos + length + len(kind.end)
	if kind == linkSpan && e.Length > 0 {
		e, after = markdownLink(e, source, after, text)
	}
	return e, after, nil
}

// markdownLink reads the address after a link's text; without one the text is
// the address.
func markdownLink(e Entity, source string, pos int, text string) (Entity, int) {
	address := text
	if strings.HasPrefix(source[pos:], "(") {
		address, _, _ = strings.Cut(source[pos+1:], ")") // the end of the text ends it, too
		pos = min(pos+len("()")+len(address), len(source))
	}
	if linked, usable := e.linkTo(address); usable {
		return linked, pos
	}
	return Entity{}, pos
}
