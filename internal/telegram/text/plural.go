package text

import (
	"fmt"
	"html/template"
)

// functions are what templates of a language can call.
func functions(language string) template.FuncMap {
	form := pluralForm[language]
	if form == nil {
		form = pluralForm[defaultLocale]
	}
	return template.FuncMap{
		// plural picks the form of a word that goes with a number: {{plural .More "order" "orders"}}.
		"plural": func(number any, forms ...string) (string, error) {
			n, ok := whole(number)
			if !ok || len(forms) == 0 {
				return "", fmt.Errorf("plural needs a whole number and forms")
			}
			return forms[min(form(n), len(forms)-1)], nil
		},
	}
}

// pluralForm says which form goes with a number, in the order in which a template lists them. The
// rules are those for whole numbers in https://cldr.unicode.org/index/cldr-spec/plural-rules; a
// language that is not here is taken for one with two forms, as English.
var pluralForm = map[string]func(n uint64) int{
	"en": func(n uint64) int { // one, other
		if n == 1 {
			return 0
		}
		return 1
	},
	"ru": func(n uint64) int { // one, few, many
		switch last, lastTwo := n%10, n%100; {
		case last == 1 && lastTwo != 11:
			return 0
		case last >= 2 && last <= 4 && (lastTwo < 12 || lastTwo > 14):
			return 1
		}
		return 2
	},
}

// whole is a number without its sign.
func whole(number any) (uint64, bool) {
	var n int64
	switch v := number.(type) {
	case int:
		n = int64(v)
	case int64:
		n = v
	default:
		return 0, false
	}
	if n < 0 {
		return -uint64(n), true
	}
	return uint64(n), true
}
