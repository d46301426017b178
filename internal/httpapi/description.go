package httpapi

import (
	"bytes"
	_ "embed" // the page's template
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed docs.gohtml
var docsTemplate string

// docsPolicy lets the page load nothing, from nowhere: its style is part of it.
const docsPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// registerDescription serves what the API says of itself: for programs, and for people.
func (a *API) registerDescription() {
	openapi := sync.OnceValues(func() ([]byte, error) { return json.Marshal(a.huma.OpenAPI()) })
	docs := sync.OnceValues(func() ([]byte, error) { return renderDocs(a.huma.OpenAPI()) })
	serve := func(contentType string, write func() ([]byte, error)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, err := write()
			if err != nil {
				a.failureOf(r.Context(), huma.Operation{Method: r.Method, Path: r.URL.Path}, err).write(w)
				return
			}
			w.Header().Set("Content-Type", contentType)
			w.Header().Set("Content-Security-Policy", docsPolicy)
			_, _ = w.Write(body) // the client is gone: nobody is left to be told
		}
	}
	a.mux.HandleFunc("GET /openapi.json", serve("application/vnd.oai.openapi+json;version=3.1", openapi))
	a.mux.HandleFunc("GET /docs", serve("text/html; charset=utf-8", docs))
}

// docsPage is what the template shows.
type docsPage struct {
	Version  string
	Chapters []docsChapter
}

type docsChapter struct {
	Name  string
	Calls []docsCall
}

type docsCall struct {
	ID, Method, Path, Summary string
	Parameters                []docsField
	Body, Answer              []docsField
	Status                    string
}

// docsField is one line of a table of fields; those inside others follow them, deeper.
type docsField struct {
	Name, Type, Doc string
	Required        bool
	Depth           int
}

func renderDocs(api *huma.OpenAPI) ([]byte, error) {
	page := docsPage{Version: api.Info.Version}
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		item := api.Paths[path]
		for _, o := range []struct {
			method string
			op     *huma.Operation
		}{{http.MethodGet, item.Get}, {http.MethodPost, item.Post}} {
			if o.op != nil {
				page.add(describeCall(api.Components.Schemas, o.method, path, o.op), o.op.Tags[0])
			}
		}
	}
	t, err := template.New("docs").Parse(docsTemplate)
	if err != nil {
		return nil, fmt.Errorf("read the docs page's template: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, page); err != nil {
		return nil, fmt.Errorf("write the docs page: %w", err)
	}
	return b.Bytes(), nil
}

func (p *docsPage) add(c docsCall, chapter string) {
	for i := range p.Chapters {
		if p.Chapters[i].Name == chapter {
			p.Chapters[i].Calls = append(p.Chapters[i].Calls, c)
			return
		}
	}
	p.Chapters = append(p.Chapters, docsChapter{chapter, []docsCall{c}})
}

func describeCall(known huma.Registry, method, path string, op *huma.Operation) docsCall {
	c := docsCall{ID: op.OperationID, Method: method, Path: path, Summary: op.Summary}
	for _, p := range op.Parameters {
		doc := p.Description
		if doc == "" && p.Schema != nil {
			doc = p.Schema.Description
		}
		c.Parameters = append(c.Parameters, docsField{Name: p.Name + " (" + p.In + ")", Type: typeOf(known, p.Schema), Doc: doc, Required: p.Required})
	}
	if op.RequestBody != nil {
		c.Body = describeSchema(known, op.RequestBody.Content["application/json"], 0)
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		if strings.HasPrefix(status, "2") {
			c.Status = status
			c.Answer = describeSchema(known, op.Responses[status].Content["application/json"], 0)
			break
		}
	}
	return c
}

func describeSchema(known huma.Registry, m *huma.MediaType, depth int) []docsField {
	if m == nil {
		return nil
	}
	return fieldsOf(known, m.Schema, depth)
}

// deepest keeps a schema that holds itself from going on for ever.
const deepest = 4

func fieldsOf(known huma.Registry, s *huma.Schema, depth int) (fields []docsField) {
	s = resolve(known, s)
	if s != nil && s.Type == huma.TypeArray {
		s = resolve(known, s.Items)
	}
	if s == nil || depth > deepest {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if name == "$schema" {
			continue
		}
		inner := s.Properties[name]
		doc := inner.Description
		if doc == "" {
			doc = resolve(known, inner).Description
		}
		fields = append(fields, docsField{
			Name: name, Type: typeOf(known, inner), Doc: doc, Depth: depth, Required: slices.Contains(s.Required, name),
		})
		fields = append(fields, fieldsOf(known, inner, depth+1)...)
	}
	return fields
}

func resolve(known huma.Registry, s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return known.SchemaFromRef(s.Ref)
	}
	return s
}

// typeOf is a type in few words.
func typeOf(known huma.Registry, s *huma.Schema) string {
	s = resolve(known, s)
	switch {
	case s == nil:
		return ""
	case len(s.Enum) > 0:
		var words []string
		for _, v := range s.Enum {
			words = append(words, fmt.Sprint(v))
		}
		return strings.Join(words, " | ")
	case s.Type == huma.TypeArray:
		return "list of " + typeOf(known, s.Items)
	case s.Format == "date-time":
		return "time (RFC 3339)"
	}
	return s.Type
}
