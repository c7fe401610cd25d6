package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/tool"
)

// isDeferred reports whether a model can find the tool by a search.
func isDeferred(t *toolset.Tool) bool {
	d := t.Definition
	return d.Exposure == tool.DeferredTool && !t.Binding.Unavailable && d.Audiences&tool.AudienceModel != 0
}

// deferredText is what the prompt says about the tools that a search finds; blank when there are none. namespaces are
// theirs, sorted.
func deferredText(s *toolset.Snapshot) (text string, namespaces []string) {
	count, about := map[string]int{}, map[string]string{}
	for _, t := range s.Tools() {
		if isDeferred(t) {
			ns := t.Definition.Namespace
			if count[ns]++; count[ns] == 1 {
				namespaces = append(namespaces, ns)
			}
			if about[ns] == "" {
				about[ns] = brief(t.Definition.NamespaceDescription)
			}
		}
	}
	if len(namespaces) == 0 {
		return "", nil
	}
	slices.Sort(namespaces)
	var b strings.Builder
	b.WriteString("# More tools\n\nThere are more tools than those in the list. `" + SearchTool + "` finds them by words about what they do; what it finds " +
		"can be called from then on. They belong to:\n")
	for _, ns := range namespaces {
		name := ns
		if name == "" {
			name = "(no namespace)"
		}
		fmt.Fprintf(&b, "\n- %s, %d", name, count[ns])
		if about[ns] != "" {
			b.WriteString(": " + about[ns])
		}
	}
	return b.String(), namespaces
}

// briefText is the most that is said about a tool or a namespace, in characters.
const briefText = 200

// brief is the first line of a text, cut.
func brief(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if letters := []rune(line); len(letters) > briefText {
		return string(letters[:briefText]) + "…"
	}
	return line
}
