package sandbox

import (
	_ "embed" // the published methods
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// publishedMethods are the methods of the Bot API 10.1 (11 June 2026), one a
// line, each followed by its parameters as name:type, with an exclamation mark
// if it is required. The types are text, integer, number, flag, file, array and
// object; the last two are JSON.
//
//go:embed published.txt
var publishedMethods string

// publishedVersion is the version of the Bot API that publishedMethods has.
const publishedVersion = "10.1"

// published is one published method.
type published struct {
	name       string
	parameters []publishedParameter
}

type publishedParameter struct {
	name, kind string
	required   bool
}

// publishedIndex finds published methods by lower-case name.
var publishedIndex = sync.OnceValue(func() map[string]published {
	index := map[string]published{}
	for line := range strings.Lines(publishedMethods) {
		words := strings.Fields(line)
		p := published{name: words[0]}
		for _, word := range words[1:] {
			word, required := strings.CutSuffix(word, "!")
			name, kind, _ := strings.Cut(word, ":")
			p.parameters = append(p.parameters, publishedParameter{name, kind, required})
		}
		index[strings.ToLower(p.name)] = p
	}
	return index
})

// lookUp finds a method by its name in any case: one of ours, else a published
// one that the sandbox does not imitate, else one that is unknown.
func lookUp(name string) method {
	if m, known := methods[strings.ToLower(name)]; known {
		return m
	}
	if p, known := publishedIndex()[strings.ToLower(name)]; known {
		return method{name: p.name, run: p.refuse}
	}
	return method{name: name, run: unknownMethod}
}

// knownMethod tells whether a method is imitated or at least published.
func knownMethod(name string) bool {
	_, isPublished := publishedIndex()[strings.ToLower(name)]
	_, isOurs := methods[strings.ToLower(name)]
	return isPublished || isOurs
}

// refuse checks the parameters of a call by their types and says that the method
// is not imitated, so that nobody takes the gap for a wrong token or a typing
// mistake. A fault can answer in its place.
func (p published) refuse(c *call) (any, *apiError) {
	for _, parameter := range p.parameters {
		if err := parameter.check(c.params); err != nil {
			return nil, err
		}
	}
	return nil, &apiError{
		code: http.StatusNotImplemented,
		description: "Not Implemented: the sandbox does not imitate " + p.name +
			"; POST /sandbox/faults with respond.body gives it an answer",
	}
}

func (p publishedParameter) check(given params) *apiError {
	text := given.values[p.name]
	_, isFile := given.files[p.name]
	if text == "" {
		if p.required && !isFile {
			return badRequest("parameter \"%s\" is required", p.name)
		}
		return nil
	}
	if !p.fits(text) {
		return badRequest("parameter \"%s\" must be %s", p.name, map[string]string{
			"integer": "a whole number", "number": "a number", "flag": "true or false",
			"array": "a JSON array", "object": "a JSON object",
		}[p.kind])
	}
	return nil
}

func (p publishedParameter) fits(text string) bool {
	var err error
	switch p.kind {
	case "integer":
		_, err = strconv.ParseInt(text, 10, 64)
	case "number":
		_, err = strconv.ParseFloat(text, 64)
	case "flag":
		_, err = strconv.ParseBool(strings.ToLower(text))
	case "array":
		return json.Valid([]byte(text)) && kindOfJSON([]byte(text)) == "Array"
	case "object":
		return json.Valid([]byte(text)) && kindOfJSON([]byte(text)) == "Object"
	}
	return err == nil
}
