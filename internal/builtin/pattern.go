package builtin

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxAlternatives is how many patterns one pattern with braces may stand for.
const maxAlternatives = 64

// checkPattern says what is wrong with a pattern of glob.
func checkPattern(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("it is blank")
	case len(pattern) > 4096:
		return errors.New("it is longer than 4096 bytes")
	case strings.HasPrefix(pattern, "/"):
		return errors.New("it is matched against paths below path, so it can't begin with a slash")
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if part == ".." {
			return errors.New("it can't go up with ..; use path")
		}
	}
	// The braces are counted first: only a pattern with few of them is looked at by the matcher.
	n, _, ok := alternatives(pattern, 0)
	if !ok || n > maxAlternatives {
		return fmt.Errorf("its braces stand for more than %d alternatives", maxAlternatives)
	}
	if !doublestar.ValidatePattern(pattern) {
		return errors.New("it has a bracket or brace without its partner")
	}
	return nil
}

// alternatives counts the patterns that p, from i on, stands for: up to the end, or at depth the comma or brace that ends
// this alternative. It stops counting, and reports false, beyond the limit.
func alternatives(p string, depth int) (n, size int, ok bool) {
	if depth > maxAlternatives {
		return 0, 0, false
	}
	n = 1
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			if end := strings.IndexByte(p[i:], ']'); end > 0 {
				i += end
			}
		case '{':
			sum := 0
			i++
			for {
				m, used, ok := alternatives(p[min(i, len(p)):], depth+1)
				if !ok {
					return 0, 0, false
				}
				sum += m
				i += used
				if i >= len(p) || p[i] == '}' {
					break
				}
				i++ // the comma
			}
			if n *= sum; n > maxAlternatives {
				return 0, 0, false
			}
		case ',', '}':
			if depth > 0 {
				return n, i, true
			}
		}
	}
	return n, len(p), true
}

// staticPrefix splits a pattern into the directories that it names from its start and the rest.
func staticPrefix(pattern string) (dir, rest string) {
	dir, rest = ".", pattern
	for {
		part, more, found := strings.Cut(rest, "/")
		if !found || strings.ContainsAny(part, `*?[{\`) {
			return dir, rest
		}
		dir, rest = path.Join(dir, part), more
	}
}

func hasMeta(pattern string) bool { return strings.ContainsAny(pattern, `*?[{\`) }
