package contrib

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// ThreadID names a thread. The blank id stands for the workspace.
type ThreadID string

// Tiers is a set of tiers.
type Tiers uint8

// The tiers of a point.
const (
	TierA Tiers = 1 << iota // contribute beside others, in order
	TierB                   // replace a named entry while the replacement lives
	TierC                   // take over the assembled output
)

// String lists the letters of the tiers: "A B".
func (t Tiers) String() string {
	var letters []string
	for i, letter := range []string{"A", "B", "C"} {
		if t&(1<<i) != 0 {
			letters = append(letters, letter)
		}
	}
	return strings.Join(letters, " ")
}

// Scopes says which scopes the entries of a point may have.
type Scopes uint8

// The scopes of a point.
const (
	WorkspaceOnly      Scopes = iota + 1 // workspace scope only
	WorkspaceAndThread                   // workspace scope, or the scope of one thread
)

// String returns "workspace" or "workspace, thread".
func (s Scopes) String() string { return word(s, "workspace", "workspace, thread") }

// Evaluation says when the host reads a point.
type Evaluation uint8

// The kinds of evaluation.
const (
	PerCall      Evaluation = iota + 1 // resolved from the newest view at each use
	PerPrompt                          // resolved from the newest view each time a prompt is built
	Materialised                       // resolved from the view that the turn pinned at its start
	Pumped                             // a value is queued for each entry that is live when it is published
	Admitted                           // read when the catalogs are loaded, and again when the point changes
)

// String returns the name of the kind in listings.
func (e Evaluation) String() string {
	return word(e, "per call", "per prompt", "materialised", "pumped", "admitted")
}

// FailurePolicy says what a failing entry does to the operation.
type FailurePolicy uint8

// The failure policies.
const (
	Skip FailurePolicy = iota + 1 // the entry is reported and left out
	Keep                          // the entry is reported; the state before it stands
	Deny                          // the operation is refused
	Fail                          // the operation fails
)

// String returns the name of the policy in listings.
func (f FailurePolicy) String() string { return word(f, "skip", "keep", "deny", "fail") }

// word is the name of the constant n, which counts from 1.
func word[N ~uint8](n N, names ...string) string {
	if n == 0 || int(n) > len(names) {
		return fmt.Sprintf("unknown(%d)", uint8(n))
	}
	return names[n-1]
}

// Target is the published name of a built-in entry. A name that ends in "*" publishes every name with that prefix: for
// families such as one policy for each built-in tool.
type Target struct {
	Name     string
	Order    int
	Guarding bool   // fails closed when the plugin that replaced it is lost
	Doc      string // one sentence
}

// covers reports whether the target publishes name.
func (t *Target) covers(name string) bool {
	if prefix, ok := strings.CutSuffix(t.Name, "*"); ok {
		return len(name) > len(prefix) && strings.HasPrefix(name, prefix)
	}
	return t.Name == name
}

// Spec declares a point.
type Spec[T any] struct {
	Name       string        // lower-case words joined by dots, at most 64 bytes
	Doc        string        // one sentence for listings
	Tiers      Tiers         // at least one
	Scopes     Scopes        // required
	Evaluation Evaluation    // required
	Failure    FailurePolicy // required
	Deadline   time.Duration // of one call of one entry; zero: the caller's own deadline alone counts
	Targets    []Target      // required with tier B

	// Describe reads stable metadata of a value once, at the add, checks it and returns a copy. An error or a panic
	// refuses the add. An error with a method Params() map[string]any adds these parameters to the diagnostic.
	Describe func(value T) (meta any, err error)
	// Reserved refuses a value that claims what belongs to the host: it is asked after Describe at every add but those
	// with origin builtin. An error or a panic refuses the add.
	Reserved func(value T) error
	// Guard builds the host-owned proxy that stands for a plugin's value. meta is what Describe returned. The guard
	// must not keep value: it binds it to ref and keeps the bound reference. Without Guard no plugin can contribute.
	Guard func(value T, meta any, ref Ref) T
	// StandIn builds the value that occupies a held target. It is required when a target is guarding. It runs while the
	// registry is locked, so it must do nothing but build the value.
	StandIn func(hold Hold) T
}

var pointName = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$`)

// fault returns what is wrong with the declaration, or nothing.
func (s *Spec[T]) fault() string {
	switch {
	case len(s.Name) > 64 || !pointName.MatchString(s.Name):
		return "the name must be lower-case words joined by dots, at most 64 bytes"
	case strings.TrimSpace(s.Doc) == "":
		return "Doc is missing"
	case s.Tiers == 0 || s.Tiers&^(TierA|TierB|TierC) != 0:
		return "Tiers must be a non-empty set of TierA, TierB and TierC"
	case s.Scopes < WorkspaceOnly || s.Scopes > WorkspaceAndThread:
		return "Scopes is missing"
	case s.Evaluation < PerCall || s.Evaluation > Admitted:
		return "Evaluation is missing"
	case s.Failure < Skip || s.Failure > Fail:
		return "Failure is missing"
	case s.Deadline < 0:
		return "Deadline is negative"
	case s.Tiers&TierB != 0 && len(s.Targets) == 0:
		return "a point with tier B needs Targets"
	}
	seen := map[string]bool{}
	for _, t := range s.Targets {
		switch {
		case nameFault(t.Name) != "":
			return fmt.Sprintf("target %q: %s", t.Name, nameFault(t.Name))
		case seen[t.Name]:
			return fmt.Sprintf("target %q is listed twice", t.Name)
		case t.Guarding && s.StandIn == nil:
			return fmt.Sprintf("target %q is guarding, so StandIn is needed", t.Name)
		}
		seen[t.Name] = true
	}
	return ""
}
