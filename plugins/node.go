package plugins

import (
	"sync"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/deps"
	"github.com/crystalkernel/crystal/export"
	"github.com/crystalkernel/crystal/generations"
)

// node is one plugin of a runtime. Fields are written under the mutation lock; those that a snapshot shows are written
// under the runtime's mu too.
type node struct {
	plugin    Plugin
	absent    bool // a directory names it, but the host has no code for it
	source    Source
	directory string
	manifest  map[string]any // the manifest's layer of settings
	saved     bool           // what the files say about the switch
	enabled   bool           // the operator's intent

	state      State // without regard to reclaim; see shown
	generation string
	blockers   []Blocker
	tools      []string
	diagnosed  []Diagnostic

	live     *live       // the current generation, or the one that is leaving or rolled back
	stopped  bool        // its last generation was active before it was torn down
	quiesced bool        // down until Reconcile
	retry    bool        // activate again when the pending teardown has settled
	stop     *stopReason // a stop that waits for a dependant

	leaked      int    // stopped generations that are not reclaimed
	recommended bool   // to restart the process
	leaks       []Leak // of those; shared with snapshots

	checkOnce sync.Once
	checked   error // of the module's graph
}

// live is a generation that has not been torn down completely.
type live struct {
	id         string
	generation *generations.Generation // nil for a pending rollback
	exports    *export.Exports
	teardown   *generations.Teardown // nil until it stops
	late       bool                  // its teardown outlasted the cleanup timeout: somebody waits for it
}

// stopReason is why a node stops.
type stopReason struct {
	cause contrib.StopCause
	fault bool // its background work failed
}

func (n *node) id() string { return n.plugin.ID }

// serving reports whether the node's generation is published.
func (n *node) serving() bool { return n.live != nil && n.live.teardown == nil }

func (n *node) depsNode() deps.Node {
	return deps.Node{
		ID: n.plugin.ID, Version: n.plugin.Version, Directory: n.directory, Requires: n.plugin.Requires,
		Enabled: n.enabled, Absent: n.absent,
	}
}
