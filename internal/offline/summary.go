package offline

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/points/model"
)

const summaryForm = "summarize <anything>"

// asksForSummary reports whether a text asks for a summary of the workspace.
func asksForSummary(text string) bool {
	verb, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	return verb == "summarize" || verb == "summarise"
}

// summary looks at the workspace in two steps, a list of it and its README, and then says what it saw.
func summary(items []*model.Item) answer {
	steps := stepsOfTurn(items)
	id := func() string { return fmt.Sprintf("call_%d", countCalls(items)+1) }
	switch {
	case len(steps) == 0:
		return answer{calls: []call{{id(), "list", "{}"}}}
	case len(steps) == 1 && steps[0].ok:
		if readme := readmeIn(steps[0].text); readme != "" {
			path, _ := json.Marshal(readme) // text is always encodable
			return answer{calls: []call{{id(), "read", fmt.Sprintf(`{"path":%s,"limit":40}`, path)}}}
		}
	case !steps[0].ok:
		return answer{text: results(items)}
	}
	var b strings.Builder
	b.WriteString("This is what the offline model can tell without a real model: a look at the workspace.\n\n")
	b.WriteString(contents(steps[0].text))
	if len(steps) > 1 && steps[1].ok {
		if about := about(steps[1].text); about != "" {
			b.WriteString("\n\nFrom its README:\n\n" + about)
		}
	}
	return answer{text: b.String()}
}

// look is a call of this turn with its result.
type look struct {
	text string
	ok   bool
}

func stepsOfTurn(items []*model.Item) (looks []look) {
	for i := len(items) - 1; i >= 0 && items[i].Role != model.User; i-- {
		if it := items[i]; it.Kind == model.ToolResult {
			looks = append([]look{{it.Text, it.Status == model.Success}}, looks...)
		}
	}
	return looks
}

// readmeIn finds the README in a listing.
func readmeIn(listing string) string {
	for line := range strings.Lines(listing) {
		if name := strings.TrimSpace(line); strings.HasPrefix(strings.ToLower(name), "readme") && !strings.HasSuffix(name, "/") {
			return name
		}
	}
	return ""
}

// contents counts and names what a listing holds.
func contents(listing string) string {
	var dirs, files []string
	for line := range strings.Lines(listing) {
		switch name := strings.TrimRight(line, "\r\n"); {
		case name == "" || strings.HasPrefix(name, " ") || strings.HasPrefix(name, "("):
		case strings.HasSuffix(name, "/"):
			dirs = append(dirs, name)
		default:
			files = append(files, name)
		}
	}
	if len(dirs)+len(files) == 0 {
		return "It is empty."
	}
	return fmt.Sprintf("It holds %d directories and %d files at its top: %s.", len(dirs), len(files), strings.Join(append(dirs, files...), ", "))
}

// about returns the first heading and the first paragraph of a file as the tool read shows it.
func about(shown string) string {
	var out []string
	for line := range strings.Lines(shown) {
		_, text, numbered := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		if !numbered {
			continue
		}
		text = strings.TrimSpace(text)
		switch {
		case text == "" && len(out) > 1:
			return strings.Join(out, "\n")
		case text == "" || strings.HasPrefix(text, "[!") || strings.HasPrefix(text, "```"):
		case strings.HasPrefix(text, "#") && len(out) > 0:
			return strings.Join(out, "\n")
		default:
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n")
}
