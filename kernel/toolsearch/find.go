package toolsearch

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/crystalkernel/crystal/kernel/toolset"
)

// What a word of the query is worth where it is found.
const (
	isName      = 16 // it is a whole word of the name
	inName      = 6  // it begins one
	isNamespace = 8
	inNamespace = 3
	isText      = 2 // of the search text or the description
	inText      = 1
)

// Find returns the tools that have at least one word of the query, those that fit best first, and among equals by name; at
// most limit of them. A namespace leaves only its tools. A blank query finds every tool of the namespace.
func Find(query, namespace string, tools []*toolset.Tool, limit int) []*toolset.Tool {
	asked := words(query)
	type hit struct {
		tool  *toolset.Tool
		score int
	}
	var hits []hit
	for _, t := range tools {
		if namespace != "" && t.Definition.Namespace != namespace {
			continue
		}
		score := worth(asked, t)
		if score > 0 || len(asked) == 0 {
			hits = append(hits, hit{t, score})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.tool.Canonical, b.tool.Canonical))
	})
	out := make([]*toolset.Tool, 0, min(limit, len(hits)))
	for _, h := range hits[:min(limit, len(hits))] {
		out = append(out, h.tool)
	}
	return out
}

// worth is what the words of the query are worth for a tool: for each the best of the places where it is found counts.
func worth(asked []string, t *toolset.Tool) (score int) {
	if len(asked) == 0 {
		return 0
	}
	d := t.Definition
	text := d.Description
	if d.Deferred != nil {
		text += " " + d.Deferred.SearchText
	}
	name, namespace, about := words(d.Name), words(d.Namespace), words(text)
	for _, w := range asked {
		score += max(found(w, name, isName, inName), found(w, namespace, isNamespace, inNamespace), found(w, about, isText, inText))
	}
	return score
}

// found returns whole when w is one of the words, part when one of them begins with it, and else nothing.
func found(w string, words []string, whole, part int) int {
	best := 0
	for _, own := range words {
		switch {
		case own == w:
			return whole
		case strings.HasPrefix(own, w):
			best = part
		}
	}
	return best
}

// words splits a text into words of letters and digits, in lower case; a capital in the middle of a word begins another.
func words(text string) []string {
	var out []string
	start, last := -1, rune(0)
	end := func(i int) {
		if start >= 0 {
			out = append(out, strings.ToLower(text[start:i]))
		}
		start = -1
	}
	for i, r := range text {
		switch letter := unicode.IsLetter(r) || unicode.IsDigit(r); {
		case !letter:
			end(i)
		case start < 0:
			start = i
		case unicode.IsUpper(r) && unicode.IsLower(last):
			end(i)
			start = i
		}
		last = r
	}
	end(len(text))
	return out
}
