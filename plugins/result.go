package plugins

// Outcome says what became of an operation.
type Outcome string

// The outcomes.
const (
	Applied    Outcome = "applied"    // the intent was carried out; the plugin may still be blocked or faulted afterwards
	NoChange   Outcome = "noChange"   // it was so already
	NotApplied Outcome = "notApplied" // refused or incomplete; the diagnostics say why
)

// Result is the answer of an operation of a [Runtime].
type Result struct {
	Outcome     Outcome      `json:"outcome"`
	Affected    []string     `json:"affected"` // the plugins named and their transitive dependants, sorted
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
	Revision    uint64       `json:"revision"` // of the snapshot after the operation
}

// Scope says how long a switch lasts.
type Scope string

// The scopes of a switch.
const (
	ScopePersistent Scope = "persistent" // written before it takes effect
	ScopeProcess    Scope = "process"    // of this process alone
)
