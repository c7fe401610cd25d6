package contrib

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of options.
const (
	maxName     = 128 // bytes
	maxLabel    = 64  // characters
	minDeadline = time.Millisecond
	maxDeadline = 10 * time.Minute
)

// Option is an option of an add. Options print as they are written: Order(10).
type Option interface {
	String() string
	apply(*options)
}

// options is what the options of one add come to. A value that was given twice is noted in clash.
type options struct {
	order    setting[int]
	named    setting[string]
	replaces setting[string]
	thread   setting[ThreadID]
	owned    bool
	deadline setting[time.Duration]
	label    setting[string]
	clash    string // an option that was given twice with different values
	threads  bool   // two different threads were given
}

type setting[V comparable] struct {
	value V
	given bool
}

// put stores v and reports whether another value was there.
func (s *setting[V]) put(v V) (clash bool) {
	clash = s.given && s.value != v
	s.value, s.given = v, true
	return clash
}

func collect(opts []Option) *options {
	o := &options{}
	for _, opt := range opts {
		if opt == nil {
			o.clash = "a nil option"
			continue
		}
		opt.apply(o)
	}
	return o
}

type option struct {
	text string
	set  func(*options)
}

func (o option) String() string    { return o.text }
func (o option) apply(to *options) { o.set(to) }

func twice[V comparable](o *options, s *setting[V], v V, name string) {
	if s.put(v) {
		o.clash = name + " is given twice with different values"
	}
}

// Order places the entry; lower comes first; 0 without it.
func Order(n int) Option {
	return option{fmt.Sprintf("Order(%d)", n), func(o *options) { twice(o, &o.order, n, "Order") }}
}

// Named gives the entry the name under which others may replace it.
func Named(target string) Option {
	return option{fmt.Sprintf("Named(%q)", target), func(o *options) { twice(o, &o.named, target, "Named") }}
}

// ReplaceTarget shadows the entries of that name while this entry lives.
func ReplaceTarget(target string) Option {
	return option{
		fmt.Sprintf("ReplaceTarget(%q)", target),
		func(o *options) { twice(o, &o.replaces, target, "ReplaceTarget") },
	}
}

// InThread limits the entry to one thread. Without it the entry has workspace scope.
func InThread(id ThreadID) Option {
	return option{fmt.Sprintf("InThread(%q)", string(id)), func(o *options) {
		if o.thread.put(id) {
			o.threads = true
		}
	}}
}

// Owned has the value closed when its entry is revoked. The value needs a method Close() error or
// Close(context.Context) error.
func Owned() Option { return option{"Owned()", func(o *options) { o.owned = true }} }

// Deadline overrides the point's deadline, from 1 ms to 10 min. It is ignored on points without a deadline.
func Deadline(d time.Duration) Option {
	return option{fmt.Sprintf("Deadline(%s)", d), func(o *options) { twice(o, &o.deadline, d, "Deadline") }}
}

// Label is shown in notes; 1 to 64 characters. Without it the short name of the value's type is used.
func Label(text string) Option {
	return option{fmt.Sprintf("Label(%q)", text), func(o *options) { twice(o, &o.label, text, "Label") }}
}

// nameFault returns what is wrong with a target name, or nothing.
func nameFault(name string) string {
	switch {
	case name == "":
		return "a target name must not be blank"
	case len(name) > maxName:
		return "a target name has at most 128 bytes"
	case !utf8.ValidString(name):
		return "a target name must be valid UTF-8"
	case strings.IndexFunc(name, unicode.IsControl) >= 0:
		return "a target name must not hold control characters"
	case strings.TrimSpace(name) != name:
		return "a target name must not start or end with a space"
	}
	return ""
}

// labelFault returns what is wrong with a label, or nothing.
func labelFault(label string) string {
	switch n := utf8.RuneCountInString(label); {
	case n < 1 || n > maxLabel:
		return "a label has 1 to 64 characters"
	case !utf8.ValidString(label) || strings.IndexFunc(label, unicode.IsControl) >= 0:
		return "a label must be valid UTF-8 without control characters"
	}
	return ""
}
