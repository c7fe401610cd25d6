package shellrisk

import "strings"

// options are the arguments of a command, sorted.
type options struct {
	short    string   // the letters of all groups
	long     []string // names without dashes and value
	operands []word
	loose    bool // some word is not known, and may be an option
}

// sortOptions splits groups of letters and takes options and operands in any order, up to "--".
func sortOptions(args []word) options {
	var o options
	for i, w := range args {
		switch {
		case !w.static && w.text == "":
			o.loose = true
			o.operands = append(o.operands, w)
		case w.text == "--" && w.static:
			o.operands = append(o.operands, args[i+1:]...)
			return o
		case strings.HasPrefix(w.text, "--"):
			name, _, _ := strings.Cut(w.text[2:], "=")
			o.long = append(o.long, name)
		case len(w.text) > 1 && w.text[0] == '-':
			o.short += w.text[1:]
		default:
			o.operands = append(o.operands, w)
		}
	}
	return o
}

// has reports whether one of the letters is among the short options.
func (o *options) has(letters string) bool { return strings.ContainsAny(o.short, letters) }

// named reports whether a long option is there, by its name.
func (o *options) named(names ...string) bool {
	for _, have := range o.long {
		for _, name := range names {
			if have == name {
				return true
			}
		}
	}
	return false
}

// like is named for options that programs also take abbreviated.
func (o *options) like(names ...string) bool {
	for _, have := range o.long {
		for _, name := range names {
			if have != "" && strings.HasPrefix(name, have) {
				return true
			}
		}
	}
	return false
}
