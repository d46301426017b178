package text

import (
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"slices"
	"strings"

	"notifier/internal/orders"
)

// The built-in templates: a folder for each language, in it a file for each type, and the blocks
// that several of them share in details.html. html/template escapes each value where it stands.
//
//go:embed templates
var builtIn embed.FS

const (
	detailsFile = "details.html"
	extension   = ".html"
)

// orderTypes and replyTypes have a template each.
var (
	orderTypes = orders.Types()
	replyTypes = orders.ReplyTypes()
)

// templateTypes are the types that have a template.
func templateTypes() []string { return slices.Concat(orderTypes, replyTypes) }

// catalog holds the templates by language and type.
type catalog map[string]map[string]*template.Template

// loadCatalog reads the built-in templates; files of the same name in own (nil: none) replace
// them. A language may lack types: those fall back to the default language.
func loadCatalog(own fs.FS) (catalog, error) {
	base, err := fs.Sub(builtIn, "templates")
	if err != nil {
		return nil, err
	}
	sources := []fs.FS{base}
	if own != nil {
		sources = []fs.FS{own, base}
	}
	c := catalog{}
	for _, source := range sources {
		folders, err := fs.ReadDir(source, ".")
		if err != nil {
			return nil, fmt.Errorf("read the templates: %w", err)
		}
		for _, folder := range folders {
			if name := folder.Name(); folder.IsDir() && c[name] == nil && isLanguage(name) {
				if c[name], err = loadLanguage(sources, name); err != nil {
					return nil, err
				}
			}
		}
	}
	return c, nil
}

func isLanguage(name string) bool {
	return len(name) >= 2 && len(name) <= 3 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == ""
}

func loadLanguage(sources []fs.FS, language string) (map[string]*template.Template, error) {
	details, err := readFirst(sources, language+"/"+detailsFile)
	if err != nil {
		return nil, err
	}
	byType := map[string]*template.Template{}
	for _, t := range templateTypes() {
		file := language + "/" + t + extension
		body, err := readFirst(sources, file)
		if err != nil {
			return nil, err
		}
		if body == "" {
			continue
		}
		parsed, err := template.New(file).Funcs(functions(language)).Parse(body)
		if err == nil && details != "" {
			_, err = parsed.New(language + "/" + detailsFile).Parse(details)
		}
		if err != nil {
			return nil, fmt.Errorf("template %s: %w", file, err)
		}
		byType[t] = parsed
	}
	return byType, nil
}

// readFirst reads a file from the first source that has it, and gives "" where none does.
func readFirst(sources []fs.FS, file string) (string, error) {
	for _, source := range sources {
		body, err := fs.ReadFile(source, file)
		if err == nil {
			return string(body), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("read template %s: %w", file, err)
		}
	}
	return "", nil
}

// languages are the known ones, sorted.
func (c catalog) languages() []string {
	var names []string
	for name := range c {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// language is the first part of a locale: en of en-GB and of en_GB.
func language(locale string) string {
	locale = strings.ToLower(locale)
	if end := strings.IndexAny(locale, "-_"); end >= 0 {
		locale = locale[:end]
	}
	return locale
}
