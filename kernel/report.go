package kernel

import (
	"sync"

	"github.com/crystalkernel/crystal/contrib"
)

// failures keeps what was reported: one note for each plugin, point and cause.
type failures struct {
	mu   sync.Mutex
	seen map[failureKey]bool
}

type failureKey struct {
	origin, label, point string
	cause                contrib.Cause
}

// first reports whether this failure was not seen before.
func (f *failures) first(e *contrib.EntryInfo, c *contrib.CallError) bool {
	key := failureKey{label: e.Label, point: c.Point, cause: c.Cause}
	if id := e.Origin.ID(); id != "" {
		key.origin = id
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[key] {
		return false
	}
	if f.seen == nil {
		f.seen = map[failureKey]bool{}
	}
	f.seen[key] = true
	return true
}

// callFailed is the note about an entry that failed and was skipped.
func callFailed(e *contrib.EntryInfo, c *contrib.CallError) Noted {
	label, plugin := e.Label, ""
	if e.Origin.Kind() == "plugin" {
		plugin = e.Origin.ID()
	}
	if id := e.Origin.ID(); id != "" {
		label = id + "/" + label
	}
	message := "a contribution failed and was skipped"
	switch c.Cause {
	case contrib.CausePanic:
		message = "a contribution panicked and was skipped"
	case contrib.CauseDeadline:
		message = "a contribution passed its deadline and was skipped"
	case contrib.CauseRefused:
		message = "what a contribution returned was refused"
		if c.Rule != "" {
			message += ": " + c.Rule
		}
	}
	return Noted{
		Code: "ContributionCallFailed", Severity: contrib.Warning, Plugin: plugin, Point: c.Point, Label: label, Message: message,
		Params: map[string]any{"point": c.Point, "origin": e.Origin.String(), "cause": string(c.Cause), "label": label},
	}
}
