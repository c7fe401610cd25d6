package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxErrors is how many violations a fault lists.
const maxErrors = 20

// fail writes a violation down when that is asked for. It returns false.
func (r *run) fail(n *node, i int32, keyword, rule string) bool {
	if !r.collect || len(r.found) >= maxFound {
		return false
	}
	f := finding{offset: r.t.tok[i].start, value: i, pointer: pointer(r.path), at: n.at, keyword: keyword, rule: rule}
	if keyword == "" { // the schema false: it stands where a keyword put it, and no value would do
		f.keyword, f.value = keywordOf(n.at), -1
	} else {
		f.at += "/" + keyword
	}
	r.found = append(r.found, f)
	return false
}

// pointer writes the path to an instance as a JSON pointer.
func pointer(path []step) string {
	var b strings.Builder
	for _, s := range path {
		b.WriteByte('/')
		if s.index < 0 {
			b.WriteString(escapePointer(s.name))
		} else {
			b.WriteString(strconv.Itoa(s.index))
		}
	}
	return b.String()
}

// words puts the findings into words, in document order.
func (r *run) words() []Violation {
	slices.SortStableFunc(r.found, func(a, b finding) int { return cmp.Compare(a.offset, b.offset) })
	if len(r.found) > maxErrors {
		r.found = r.found[:maxErrors]
	}
	// Places come first: half of what may be quoted is for them, and what they leave is for values.
	places := quoter{left: quoteAll / 2}
	out := make([]Violation, 0, len(r.found))
	for _, f := range r.found {
		out = append(out, Violation{Pointer: places.quote(f.pointer), Schema: f.at, Keyword: f.keyword, Text: f.rule})
	}
	q := quoter{left: quoteAll/2 + places.left}
	for i, f := range r.found {
		v := &out[i]
		if f.value >= 0 && scalar(r.t.tok[f.value].kind) {
			if shown := q.quote(r.t.raw(f.value)); shown != "" {
				v.Text += ", not " + shown
			}
		}
	}
	r.found = nil
	return out
}

// scalar reports whether showing a value helps: an object or an array would only repeat the call.
func scalar(k kind) bool { return k != object && k != array }

// maxFaultText is how long the text about a fault may be, in characters.
const maxFaultText = 4_000

// Text tells a model what is wrong with the arguments of the named tool: the faults, then the schema as far as it fits
// in 4,000 characters.
func (f *Fault) Text(name string, s *Schema) string {
	var b strings.Builder
	b.WriteString(quote(name, 130))
	switch f.Reason {
	case Unsatisfied:
		b.WriteString(": the arguments do not fit the schema.")
		for _, v := range f.Errors {
			at := v.Pointer
			if at == "" {
				at = "(root)"
			}
			fmt.Fprintf(&b, "\n- %s %s (%s)", at, v.Text, quote(v.Keyword, 40))
		}
	case NotObject:
		b.WriteString(": the arguments have to be one JSON object.")
	case TooLarge:
		b.WriteString(": the arguments are over 16 MiB.")
	case TooDeep:
		fmt.Fprintf(&b, ": the arguments are nested over %d deep, at byte %d.", maxDepth, f.Offset)
	case DuplicateKey:
		fmt.Fprintf(&b, ": the arguments name a key twice, at byte %d.", f.Offset)
	case TrailingText:
		fmt.Fprintf(&b, ": something follows the arguments at byte %d.", f.Offset)
	default:
		fmt.Fprintf(&b, ": the arguments are not valid JSON at byte %d.", f.Offset)
	}
	head := firstRunes(b.String(), maxFaultText)
	left := maxFaultText - utf8.RuneCountInString(head) - len("\nSchema: …")
	if s == nil || left < 40 {
		return head
	}
	if shown := string(s.JSON()); utf8.RuneCountInString(shown) <= left {
		return head + "\nSchema: " + shown
	} else {
		return head + "\nSchema: " + firstRunes(shown, left) + "…"
	}
}
