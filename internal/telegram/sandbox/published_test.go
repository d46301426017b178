package sandbox

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// What is published and not imitated is checked by the types of its parameters
// and answered 501; a fault can answer in its place.
func TestPublishedMethods(t *testing.T) {
	r := newRig(t, Options{})
	r.refused(r.call("BanChatMember", fields{"chat_id": -7, "user_id": 5}), 501,
		"Not Implemented: the sandbox does not imitate banChatMember; POST /sandbox/faults with respond.body gives it an answer")
	r.runCases([]methodCase{
		{"banChatMember", fields{"chat_id": -7}, `parameter "user_id" is required`, ""},
		{"banChatMember", fields{"chat_id": -7, "user_id": "x"}, `parameter "user_id" must be a whole number`, ""},
		{"banChatMember", fields{"chat_id": -7, "user_id": 5, "revoke_messages": "maybe"}, `parameter "revoke_messages" must be true or false`, ""},
		{"setChatPermissions", fields{"chat_id": -7, "permissions": "[]"}, `parameter "permissions" must be a JSON object`, ""},
	})
	r.refused(r.call("banChatMembers", nil), 404, "Not Found: method not found")
	r.fault(Fault{Method: "banChatMember", Respond: Respond{Body: text(`{"ok":true,"result":true}`)}})
	r.accepted(r.call("banChatMember", nil), nil)
}

// Every method that is imitated is a published one, with the same spelling.
func TestMethodsArePublished(t *testing.T) {
	for _, m := range methods {
		if p, known := publishedIndex()[strings.ToLower(m.name)]; !known || p.name != m.name {
			t.Errorf("%s is not published", m.name)
		}
	}
}

var writeGuide = flag.Bool("write-guide", false, "write the table of methods into docs/sandbox.md")

// The guide's table of methods is made from the code; -write-guide makes it.
func TestGuideListsTheMethods(t *testing.T) {
	const path = "../../../docs/sandbox.md"
	const begin, end = "<!-- methods: made by a test -->\n", "<!-- end of methods -->\n"
	guide, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(guide), begin)
	table, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("the guide has no place for the table")
	}
	want := guideTable()
	if table == want {
		return
	}
	if !*writeGuide {
		t.Fatal("the table of methods is not that of the code; run go test -run TestGuideListsTheMethods -write-guide .")
	}
	if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

func guideTable() string {
	var names []string
	for _, m := range methods {
		names = append(names, m.name)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	var table strings.Builder
	fmt.Fprintf(&table, "Of the %d methods of the Bot API %s, %d are imitated:\n\n| methods | |\n| --- | --- |\n",
		len(publishedIndex()), publishedVersion, len(names))
	for group, of := range methodGroups(names) {
		fmt.Fprintf(&table, "| %s | `%s` |\n", group, strings.Join(of, "`, `"))
	}
	return table.String()
}

// methodGroups parts names by their first word, in the order of the groups.
func methodGroups(names []string) func(yield func(string, []string) bool) {
	groups := []struct{ title, prefixes string }{
		{"send", "send"}, {"edit and delete", "edit stop delete"}, {"forward and copy", "forward copy"},
		{"answer", "answer"}, {"read", "get"}, {"set", "set create close reopen pin unpin leave log"},
	}
	return func(yield func(string, []string) bool) {
		for _, g := range groups {
			var of []string
			for _, name := range names {
				if slices.ContainsFunc(strings.Fields(g.prefixes), func(p string) bool { return strings.HasPrefix(name, p) }) {
					of = append(of, name)
				}
			}
			if !yield(g.title, of) {
				return
			}
		}
	}
}
