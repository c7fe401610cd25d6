package plugins

// State is the state of a plugin.
type State string

// The states of a plugin.
const (
	Stopped      State = "stopped"      // disabled, or quiesced; nothing is live
	Blocked      State = "blocked"      // not tried; the blockers give the reasons
	Activating   State = "activating"   // a new generation is under construction and invisible
	Active       State = "active"       // its generation is published and serves calls
	Deactivating State = "deactivating" // takes no new call and waits for those inside
	Faulted      State = "faulted"      // tried, and something broke
	Reclaiming   State = "reclaiming"   // torn down, while something still keeps its root or a goroutine of it
)

// Phase says during what a diagnostic or a blocker came up.
type Phase string

// The phases.
const (
	PhaseAdmission      Phase = "admission"
	PhaseTrust          Phase = "trust"
	PhaseDependency     Phase = "dependency"
	PhaseSettings       Phase = "settings"
	PhaseActivation     Phase = "activation"
	PhaseBackgroundWork Phase = "backgroundWork"
	PhaseDrain          Phase = "drain"
	PhaseCleanup        Phase = "cleanup"
	PhaseOperation      Phase = "operation"
)

// Source says where a plugin comes from.
type Source string

// The sources.
const (
	SourceHost    Source = "host"    // compiled in, no directory
	SourceHome    Source = "home"    // named by a directory of the home tree
	SourceProject Source = "project" // named by a directory of the workspace
)
