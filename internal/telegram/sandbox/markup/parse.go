// Package markup reads texts as Telegram's servers do: it parses the parse
// modes HTML, MarkdownV2 and Markdown and cleans what is left of them.
//
// It knows nothing of calls, chats or bots and imports nothing but the standard
// library. Its caller is the sandbox.
package markup

import (
	"fmt"
	"strings"
)

// modes read the parse modes, by lower-case name.
var modes = map[string]struct {
	name  string
	parse func(string) (Text, error)
}{
	"html":       {"HTML", parseHTML},
	"markdown":   {"Markdown", parseMarkdown},
	"markdownv2": {"MarkdownV2", parseMarkdownV2},
}

// Mode gives a parse mode as Telegram spells it. It is false for an unknown one.
func Mode(name string) (spelled string, known bool) {
	m, known := modes[strings.ToLower(name)]
	return m.name, known
}

// Parse reads a text in a parse mode that Mode knows. Its error is Telegram's
// text after "can't parse entities: ".
func Parse(mode, source string) (Text, error) {
	return modes[strings.ToLower(mode)].parse(source)
}

// parseError is an error in Telegram's own words, which begin with a capital
// letter.
type parseError string

func (e parseError) Error() string { return string(e) }

func parseErrorf(format string, args ...any) error {
	return parseError(fmt.Sprintf(format, args...))
}
