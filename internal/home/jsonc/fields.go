package jsonc

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// ProblemKind sorts what can be wrong with a member of an object.
type ProblemKind uint8

// The kinds of problems.
const (
	UnknownKey ProblemKind = iota + 1 // nobody asked for the key
	BadValue                          // the value is not one of those allowed
	Repeated                          // the key appears twice; the last one counts
)

// Problem is one member that was not used as it stands.
type Problem struct {
	Kind    ProblemKind
	Path    string
	Found   string // BadValue: what was found, in words
	Allowed string // BadValue: what is allowed, in words
	Near    string // UnknownKey: the known key that was probably meant; may be blank
}

// String is one line of English about the problem.
func (p Problem) String() string {
	switch p.Kind {
	case UnknownKey:
		if p.Near != "" {
			return fmt.Sprintf("unknown key %q; did you mean %q?", p.Path, p.Near)
		}
		return fmt.Sprintf("unknown key %q", p.Path)
	case Repeated:
		return fmt.Sprintf("key %q appears twice; the last one counts", p.Path)
	default:
		return fmt.Sprintf("%q is %s; allowed: %s", p.Path, p.Found, p.Allowed)
	}
}

// Fields takes the members of one object and tells what is wrong with them. Each method that takes a key makes the key
// known; ok is false when the key is missing or its value is bad, and a bad value has been told then. It is for one
// goroutine.
type Fields struct {
	o      *Object
	report func(Problem)
	known  []string
}

// Fields begins to take members. Problems go to report, which must not be nil.
func (o *Object) Fields(report func(Problem)) *Fields {
	f := &Fields{o: o, report: report}
	for _, key := range o.twice {
		report(Problem{Kind: Repeated, Path: o.Path(key)})
	}
	return f
}

// Known makes keys known without taking them.
func (f *Fields) Known(keys ...string) { f.known = append(f.known, keys...) }

// Bad tells that the value of key is not allowed.
func (f *Fields) Bad(key, allowed string) {
	f.report(Problem{Kind: BadValue, Path: f.o.Path(key), Found: describe(f.o.values[key]), Allowed: allowed})
}

// Done tells the keys that nobody made known.
func (f *Fields) Done() {
	for _, key := range f.o.keys {
		if !slices.Contains(f.known, key) {
			f.report(Problem{Kind: UnknownKey, Path: f.o.Path(key), Near: Near(key, f.known)})
		}
	}
}

// take returns the value of key and makes the key known.
func (f *Fields) take(key string) (hujson.Value, bool) {
	f.Known(key)
	v, ok := f.o.values[key]
	return v, ok
}

// Bool takes a boolean.
func (f *Fields) Bool(key string) (value, ok bool) {
	v, ok := f.take(key)
	if !ok {
		return false, false
	}
	switch lit, _ := v.Value.(hujson.Literal); string(lit) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	f.Bad(key, "true or false")
	return false, false
}

// Text takes a string that is not blank.
func (f *Fields) Text(key string) (text string, ok bool) {
	v, ok := f.take(key)
	if !ok {
		return "", false
	}
	if lit, ok := literal(v, '"'); ok && strings.TrimSpace(lit.String()) != "" {
		return lit.String(), true
	}
	f.Bad(key, "a text in quotes")
	return "", false
}

// Secret takes a string that no message may show.
func (f *Fields) Secret(key string) (text string, ok bool) {
	v, ok := f.take(key)
	if !ok {
		return "", false
	}
	if lit, ok := literal(v, '"'); ok {
		return lit.String(), true
	}
	f.report(Problem{Kind: BadValue, Path: f.o.Path(key), Found: "not a text", Allowed: "a text in quotes"})
	return "", false
}

// OneOf takes one of the given words, in exactly that spelling.
func (f *Fields) OneOf(key string, words ...string) (word string, ok bool) {
	v, ok := f.take(key)
	if !ok {
		return "", false
	}
	if lit, ok := literal(v, '"'); ok && slices.Contains(words, lit.String()) {
		return lit.String(), true
	}
	f.Bad(key, quoted(words))
	return "", false
}

// Integer takes a whole number from low to high.
func (f *Fields) Integer(key string, low, high int) (n int, ok bool) {
	v, ok := f.take(key)
	if !ok {
		return 0, false
	}
	if n, ok := integer(v, low, high); ok {
		return n, true
	}
	f.Bad(key, bounds(low, high))
	return 0, false
}

// Count takes a whole number of at least low, or "unlimited", which gives -1.
func (f *Fields) Count(key string, low int) (n int, ok bool) {
	v, ok := f.take(key)
	if !ok {
		return 0, false
	}
	if lit, ok := literal(v, '"'); ok && lit.String() == Unlimited {
		return -1, true
	}
	if n, ok := integer(v, low, math.MaxInt); ok {
		return n, true
	}
	f.Bad(key, bounds(low, math.MaxInt)+`, or "unlimited"`)
	return 0, false
}

// Number takes a number that test accepts; allowed says in words which those are.
func (f *Fields) Number(key string, test func(float64) bool, allowed string) (n float64, ok bool) {
	v, ok := f.take(key)
	if !ok {
		return 0, false
	}
	if lit, ok := literal(v, '0'); ok {
		if n, err := strconv.ParseFloat(string(lit), 64); err == nil && test(n) {
			return n, true
		}
	}
	f.Bad(key, allowed)
	return 0, false
}

// Unlimited is the word that stands for no limit.
const Unlimited = "unlimited"

// Duration takes a duration above zero, as a string with units.
func (f *Fields) Duration(key string) (d time.Duration, ok bool) {
	return f.duration(key, false)
}

// DurationOrUnlimited takes a duration above zero, or "unlimited", which gives -1.
func (f *Fields) DurationOrUnlimited(key string) (d time.Duration, ok bool) {
	return f.duration(key, true)
}

func (f *Fields) duration(key string, unlimited bool) (time.Duration, bool) {
	v, ok := f.take(key)
	if !ok {
		return 0, false
	}
	allowed := `a duration with a unit, such as "90s" or "1h30m"`
	if unlimited {
		allowed += `, or "unlimited"`
	}
	if lit, ok := literal(v, '"'); ok {
		if unlimited && lit.String() == Unlimited {
			return -1, true
		}
		if d, err := time.ParseDuration(lit.String()); err == nil && d > 0 {
			return d, true
		}
	}
	if lit, ok := literal(v, '0'); ok {
		allowed += fmt.Sprintf(`; add a unit, as in "%ss"`, lit)
	}
	f.Bad(key, allowed)
	return 0, false
}

// Texts takes an array of strings.
func (f *Fields) Texts(key string) (texts []string, ok bool) {
	v, ok := f.take(key)
	if !ok {
		return nil, false
	}
	if arr, ok := v.Value.(*hujson.Array); ok {
		texts = make([]string, 0, len(arr.Elements))
		for _, e := range arr.Elements {
			if lit, ok := literal(e, '"'); ok {
				texts = append(texts, lit.String())
			}
		}
		if len(texts) == len(arr.Elements) {
			return texts, true
		}
	}
	f.Bad(key, "an array of texts")
	return nil, false
}

// TextsThat takes an array of strings element by element: a bad element costs itself alone, so that one slip does not
// undo a list that restricts something. allowed says in words which strings test accepts.
func (f *Fields) TextsThat(key string, test func(string) bool, allowed string) (texts []string, ok bool) {
	v, ok := f.take(key)
	if !ok {
		return nil, false
	}
	arr, ok := v.Value.(*hujson.Array)
	if !ok {
		f.Bad(key, "an array of texts")
		return nil, false
	}
	for i, e := range arr.Elements {
		if lit, ok := literal(e, '"'); ok && test(lit.String()) {
			texts = append(texts, lit.String())
			continue
		}
		path := f.o.Path(key) + "[" + strconv.Itoa(i) + "]"
		f.report(Problem{Kind: BadValue, Path: path, Found: describe(e), Allowed: allowed})
	}
	return texts, true
}

// Object takes an object.
func (f *Fields) Object(key string) (o *Object, ok bool) {
	if _, ok := f.take(key); !ok {
		return nil, false
	}
	if o, ok := f.o.Object(key); ok {
		return o, true
	}
	f.Bad(key, "an object, { … }")
	return nil, false
}

// Objects takes an array of objects.
func (f *Fields) Objects(key string) (list []*Object, ok bool) {
	v, ok := f.take(key)
	if !ok {
		return nil, false
	}
	list = f.o.Objects(key)
	if arr, ok := v.Value.(*hujson.Array); !ok || len(list) != len(arr.Elements) {
		f.Bad(key, "an array of objects")
		return nil, false
	}
	return list, true
}

// Reporter returns where the problems of this object go.
func (f *Fields) Reporter() func(Problem) { return f.report }

func integer(v hujson.Value, low, high int) (int, bool) {
	lit, ok := literal(v, '0')
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(string(lit))
	if err != nil {
		x, err := strconv.ParseFloat(string(lit), 64)
		if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
			return 0, false
		}
		n = int(x)
	}
	return n, n >= low && n <= high
}

func bounds(low, high int) string {
	if high == math.MaxInt {
		return fmt.Sprintf("a whole number of %d or more", low)
	}
	return fmt.Sprintf("a whole number from %d to %d", low, high)
}

func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strconv.Quote(w)
	}
	return strings.Join(out, ", ")
}

// describe says what was found, short scalars in their own spelling.
func describe(v hujson.Value) string {
	switch x := v.Value.(type) {
	case *hujson.Object:
		return "an object"
	case *hujson.Array:
		return "an array"
	case hujson.Literal:
		if len(x) > 60 {
			return "a long text"
		}
		return string(x)
	}
	return "missing"
}
