package offline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/crystalkernel/crystal/points/model"
)

// word matches something in quotes, or the shortest text that lets the rest match.
const word = `("[^"]*"|'[^']*'|.+?)`

// rule is one sentence that the model understands.
type rule struct {
	form    string // as the help shows it
	pattern string
	tool    string
	keys    []string // names of the arguments that the groups are
}

var sentences = []rule{
	{"list, ls, list files [in <path>]", `(?:list files|list|ls)(?: in ` + word + `)?`, "list", []string{"path"}},
	{"read, show or cat <path>", `(?:read|show|cat) ` + word, "read", []string{"path"}},
	{"find or glob <pattern>", `(?:find|glob) ` + word, "glob", []string{"pattern"}},
	{
		"search, search for or grep <text> [in <path>]", `(?:search for|search|grep) ` + word + `(?: in ` + word + `)?`, "grep",
		[]string{"pattern", "path"},
	},
	{"write <path>: <text>", `write ` + word + `: ?(.*)`, "write", []string{"path", "content"}},
	{
		"replace <old> with <new> in <path>", `replace ` + word + ` with ` + word + ` in ` + word, "edit",
		[]string{"oldText", "newText", "path"},
	},
	{"run <command>, $ <command>", `(?:run|\$) (.+)`, "bash", []string{"command"}},
	{"ask <question>", `ask (.+)`, "question", []string{"question"}},
	{"use <tool> <JSON object>", `use (\S+) (\{.*\})`, "", nil},
	{"think <text>", `think (.+)`, "", nil},
}

// patterns are compiled at the first request: most processes never talk to this model.
var patterns = sync.OnceValue(func() []*regexp.Regexp {
	compiled := make([]*regexp.Regexp, len(sentences))
	for i, s := range sentences {
		compiled[i] = regexp.MustCompile(`(?is)^` + s.pattern + `$`)
	}
	return compiled
})

// rules answers as the model rules does.
func rules(r *model.Request) (answer, error) {
	if asksForSummary(lastUser(r.Items)) {
		return summary(r.Items), nil
	}
	if report := results(r.Items); report != "" {
		return answer{text: report}, nil
	}
	text := strings.TrimSpace(lastUser(r.Items))
	for i, p := range patterns() {
		m := p.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		id := fmt.Sprintf("call_%d", countCalls(r.Items)+1)
		switch s := sentences[i]; {
		case s.tool != "":
			return answer{calls: []call{{id, s.tool, arguments(s.keys, m[1:])}}}, nil
		case len(m) == 3:
			return answer{calls: []call{{id, m[1], m[2]}}}, nil
		default:
			return answer{reasoning: m[1], text: "Thought about it."}, nil
		}
	}
	return answer{text: help()}, nil
}

// arguments writes the values that are there in the order of keys.
func arguments(keys, values []string) string {
	var b strings.Builder
	for i, k := range keys {
		v := unquote(values[i])
		if v == "" && k == "path" {
			continue
		}
		quoted, _ := json.Marshal(v) // text is always encodable
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", k, quoted)
	}
	return "{" + b.String() + "}"
}

// unquote takes the quotes off a text that is in quotes as a whole.
func unquote(text string) string {
	text = strings.TrimSpace(text)
	if n := len(text); n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] &&
		!strings.Contains(text[1:n-1], text[:1]) {
		return text[1 : n-1]
	}
	return text
}

func help() string {
	var b strings.Builder
	b.WriteString("This is the offline model. It needs no network and understands these forms:\n")
	b.WriteString("\n- " + summaryForm)
	for _, s := range sentences {
		b.WriteString("\n- " + s.form)
	}
	return b.String()
}

// results reports on the tool results that the items end with; blank when they end otherwise.
func results(items []*model.Item) string {
	first := len(items)
	for first > 0 && items[first-1].Kind == model.ToolResult {
		first--
	}
	if first == len(items) {
		return ""
	}
	names := map[string]string{}
	for i := first - 1; i >= 0 && items[i].Kind != model.ToolResult; i-- {
		if items[i].Kind == model.ToolCall {
			names[items[i].CallID] = items[i].Name
		}
	}
	var b strings.Builder
	b.WriteString("Done.")
	for _, i := range items[first:] {
		outcome := "failed"
		if i.Status == model.Success {
			outcome = "ok"
		}
		fmt.Fprintf(&b, "\n%s: %s", names[i.CallID], outcome)
		n := 0
		for line := range strings.Lines(i.Text) {
			if n++; n > 5 {
				break
			}
			b.WriteString("\n  " + strings.TrimRight(line, "\r\n"))
		}
	}
	return b.String()
}

func lastUser(items []*model.Item) string {
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Kind == model.Message && items[i].Role == model.User {
			return items[i].Text
		}
	}
	return ""
}

func lastResult(items []*model.Item) string {
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Kind == model.ToolResult {
			return items[i].Text
		}
	}
	return ""
}

func countCalls(items []*model.Item) (n int) {
	for _, i := range items {
		if i.Kind == model.ToolCall {
			n++
		}
	}
	return n
}
