package toolset

import "strings"

// names finds tools by one kind of name.
type names struct {
	exact  map[string]*Tool
	folded map[string]*Tool // by the name in lower case; nil where several share it
}

func newNames(tools []*Tool, name func(*Tool) string) names {
	n := names{make(map[string]*Tool, len(tools)), make(map[string]*Tool, len(tools))}
	for _, t := range tools {
		own := name(t)
		n.exact[own] = t
		low := lower(own)
		if _, shared := n.folded[low]; shared {
			n.folded[low] = nil
		} else {
			n.folded[low] = t
		}
	}
	return n
}

func (n names) find(name string) (*Tool, bool) {
	if t := n.exact[name]; t != nil {
		return t, true
	}
	return n.folded[lower(name)], false
}

// lower folds the ASCII case.
func lower(s string) string {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			return strings.Map(func(r rune) rune {
				if r >= 'A' && r <= 'Z' {
					return r + 'a' - 'A'
				}
				return r
			}, s)
		}
	}
	return s
}

// Distance is the number of bytes to insert, remove or change to make one word of the other.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		corner := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			above := row[j]
			if a[i-1] == b[j-1] {
				row[j] = corner
			} else {
				row[j] = 1 + min(corner, above, row[j-1])
			}
			corner = above
		}
	}
	return row[len(b)]
}

func cut(s string, n int) string { return s[:min(len(s), n)] }
