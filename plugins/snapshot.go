package plugins

import (
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Snapshot is every plugin of a runtime at one instant. It is immutable: its slices and maps must not be changed.
type Snapshot struct {
	Revision uint64   `json:"revision"` // rises by one when the content differs from the last one, and only then
	Plugins  []Status `json:"plugins"`  // sorted by id
}

// Find returns the status of a plugin.
func (s *Snapshot) Find(id string) (Status, bool) {
	for _, p := range s.Plugins {
		if p.ID == id {
			return p, true
		}
	}
	return Status{}, false
}

// Status is one plugin in a snapshot.
type Status struct {
	ID         string `json:"id"`
	Version    string `json:"version"`
	Name       string `json:"name"`
	Source     Source `json:"source"`
	Directory  string `json:"directory,omitempty"`
	Enabled    bool   `json:"enabled"`
	State      State  `json:"state"`
	Generation string `json:"generationId,omitempty"`
	// Blockers are why the plugin is blocked, or how it faulted.
	Blockers           []Blocker    `json:"blockers,omitempty"`
	Tools              []string     `json:"tools,omitempty"` // while active; the host describes them
	Dependencies       []Dependency `json:"dependencies,omitempty"`
	LeakedGenerations  int          `json:"leakedGenerations"`
	RestartRecommended bool         `json:"restartRecommended"`
	Leaks              []Leak       `json:"leaks,omitempty"`
	Held               []HeldTarget `json:"held,omitempty"`
	Diagnostics        []Diagnostic `json:"diagnostics,omitempty"`
}

// Blocker is one reason why a plugin does not run.
type Blocker struct {
	Code   Code           `json:"code"`
	Phase  Phase          `json:"phase"`
	Text   string         `json:"text"`
	Params map[string]any `json:"params,omitempty"`
}

// Dependency is one requirement of a plugin in a snapshot.
type Dependency struct {
	ProviderID      string `json:"providerId"`
	RequiredVersion string `json:"requiredVersion"`
	ObservedVersion string `json:"observedVersion,omitempty"`
	Status          string `json:"status"` // a state, or missing, disabled, versionUnsatisfied, unavailable
}

// HeldTarget is a guarding target that is closed because this plugin, which had replaced it, was lost.
type HeldTarget struct {
	Point  string           `json:"point"`
	Target string           `json:"target"`
	Thread contrib.ThreadID `json:"threadId,omitempty"`
}

// Leak is one stopped generation that has not been reclaimed.
type Leak struct {
	Generation string      `json:"generationId"`
	StoppedAt  time.Time   `json:"stoppedAt"`
	RootGone   bool        `json:"rootGone"` // its memory is back; goroutines still carry its label
	Goroutines []Goroutine `json:"goroutines,omitempty"`
}

// Goroutine is one distinct stack of goroutines that carry the label of a stopped generation.
type Goroutine struct {
	Count int    `json:"count"`
	Stack string `json:"stack"`
}

// Diagnostic is one entry of a plugin's diagnostics, or of an operation's result.
type Diagnostic struct {
	Code       Code             `json:"code"`
	Severity   contrib.Severity `json:"severity"`
	Phase      Phase            `json:"phase"`
	Plugin     string           `json:"pluginId,omitempty"`
	Generation string           `json:"generationId,omitempty"`
	Text       string           `json:"text"` // fixed; text of plugin code goes to the log alone
	Params     map[string]any   `json:"params,omitempty"`
	Time       time.Time        `json:"time"`
}

// Event says that a new snapshot was published.
type Event struct {
	Revision uint64
	Changed  []string // ids of the plugins whose content changed, sorted
}
