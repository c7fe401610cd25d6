package ignore

import (
	"regexp"
	"strings"
)

// rule is one line of a .gitignore.
type rule struct {
	dir     string // where the file lies; blank: at the start
	negated bool
	dirOnly bool
	rooted  bool // it is matched from dir on; otherwise against the last part alone
	literal string
	suffix  string // of a rule like *.o
	pattern *regexp.Regexp
}

// parse reads one line. It reports false for blank lines, comments and patterns that can match nothing.
func parse(line, dir string) (rule, bool) {
	line = trimBlanks(line)
	if line == "" || line[0] == '#' {
		return rule{}, false
	}
	r := rule{dir: dir}
	if line[0] == '!' {
		r.negated = true
		line = line[1:]
	}
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		r.dirOnly = true
		line = rest
	}
	if strings.Contains(line, "/") {
		r.rooted = true
		line = strings.TrimPrefix(line, "/")
	}
	if line == "" {
		return rule{}, false
	}
	switch {
	case !strings.ContainsAny(line, `*?[\`):
		r.literal = line
	case !r.rooted && line[0] == '*' && len(line) > 1 && !strings.ContainsAny(line[1:], `*?[\`):
		r.suffix = line[1:]
	default:
		expression, ok := translate(line)
		if !ok {
			return rule{}, false
		}
		compiled, err := regexp.Compile(expression)
		if err != nil {
			return rule{}, false
		}
		r.pattern = compiled
	}
	return r, true
}

// trimBlanks cuts spaces at the end, unless the last is escaped.
func trimBlanks(line string) string {
	for strings.HasSuffix(line, " ") {
		slashes := 0
		for i := len(line) - 2; i >= 0 && line[i] == '\\'; i-- {
			slashes++
		}
		if slashes%2 == 1 {
			break
		}
		line = line[:len(line)-1]
	}
	return line
}

func (r *rule) matches(path string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	if r.dir != "" {
		rest, ok := strings.CutPrefix(path, r.dir)
		if !ok || len(rest) < 2 || rest[0] != '/' {
			return false
		}
		path = rest[1:]
	}
	if !r.rooted {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	switch {
	case r.literal != "":
		return path == r.literal
	case r.suffix != "":
		return strings.HasSuffix(path, r.suffix)
	}
	return r.pattern.MatchString(path)
}

// translate turns a pattern into an expression for the whole path.
func translate(p string) (string, bool) {
	var b strings.Builder
	b.WriteString(`^(?s:`)
	for i := 0; i < len(p); {
		switch c := p[i]; c {
		case '*':
			n := 1
			for i+n < len(p) && p[i+n] == '*' {
				n++
			}
			starts := i == 0 || p[i-1] == '/'
			ends := i+n == len(p)
			switch {
			case n == 2 && starts && ends:
				b.WriteString(`.+`) // everything below
			case n == 2 && starts && p[i+n] == '/':
				b.WriteString(`(?:.*/)?`) // any number of directories
				i++
			default:
				b.WriteString(`[^/]*`)
			}
			i += n
		case '?':
			b.WriteString(`[^/]`)
			i++
		case '[':
			class, size, ok := translateClass(p[i:])
			if !ok {
				return "", false
			}
			b.WriteString(class)
			i += size
		case '\\':
			if i+1 == len(p) {
				return "", false
			}
			// What is escaped may be longer than a byte; the bytes that follow are literals anyway.
			b.WriteString(regexp.QuoteMeta(p[i+1 : i+2]))
			i += 2
		default:
			n := 1
			for i+n < len(p) && !strings.ContainsRune(`*?[\`, rune(p[i+n])) {
				n++
			}
			b.WriteString(regexp.QuoteMeta(p[i : i+n]))
			i += n
		}
	}
	b.WriteString(`)$`)
	return b.String(), true
}

// translateClass turns a bracket expression at the start of p into one of package regexp, and returns its length in p.
func translateClass(p string) (class string, size int, ok bool) {
	i := 1
	var b strings.Builder
	b.WriteByte('[')
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		b.WriteString(`^/`)
		i++
	}
	for first := true; i < len(p); first = false {
		c := p[i]
		switch {
		case c == ']' && !first:
			b.WriteByte(']')
			return b.String(), i + 1, true
		case c == '[' && i+1 < len(p) && p[i+1] == ':':
			end := strings.Index(p[i:], ":]")
			if end < 0 {
				return "", 0, false
			}
			b.WriteString(p[i : i+end+2])
			i += end + 2
			continue
		case c == '\\':
			i++
			if i == len(p) {
				return "", 0, false
			}
			b.WriteByte('\\')
			b.WriteByte(p[i])
		case c == '-':
			b.WriteByte('-')
		case c == '[' || c == ']' || c == '^' || c == '&' || c == '~':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
		i++
	}
	return "", 0, false
}
