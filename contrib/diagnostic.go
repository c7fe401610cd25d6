package contrib

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// Severity of a diagnostic: info, warning, error.
type Severity string

// The severities.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Codes of the registry's own diagnostics.
const (
	// CodeReplaceConflict says that an entry lost its target to another replacement.
	CodeReplaceConflict = "ReplaceConflict"
	// CodeRefused says that an add was refused inside a staged activation.
	CodeRefused = "ContributionRefused"
	// CodeTeardownFailed says that closing an owned value failed.
	CodeTeardownFailed = "ContributionTeardownFailed"
	// CodeObserverFailed says that a subscriber panicked.
	CodeObserverFailed = "ContributionObserverFailed"
	// CodeCallFailed says that an entry of a skip or keep point failed. Readers of points record it.
	CodeCallFailed = "ContributionCallFailed"
	// CodeTargetHeld says that a hold was placed on a guarding target.
	CodeTargetHeld = "GuardingTargetHeld"
)

// maxDiagnostics is how many diagnostics the registry keeps.
const maxDiagnostics = 256

// Diagnostic is one entry of the registry's diagnostics. Its message is fixed for its code.
type Diagnostic struct {
	Code     string         `json:"code"`
	Severity Severity       `json:"severity"`
	Point    string         `json:"point,omitempty"`
	Target   string         `json:"target,omitempty"`
	EntryID  uint64         `json:"entryId,omitempty"`
	Origin   Origin         `json:"-"`
	Message  string         `json:"message"`
	Params   map[string]any `json:"params,omitempty"`
	Time     time.Time      `json:"time"`
	Seq      uint64         `json:"seq"` // rises by one with each diagnostic
}

// clone copies what a reader could change.
func (d Diagnostic) clone() Diagnostic {
	d.Params = maps.Clone(d.Params)
	return d
}

// Diagnostics returns the newest 256, oldest first. The caller owns the result.
func (r *Registry) Diagnostics() []Diagnostic {
	r.notices.mu.Lock()
	defer r.notices.mu.Unlock()
	out := slices.Clone(r.notices.kept)
	for i := range out {
		out[i] = out[i].clone()
	}
	return out
}

// Record adds a diagnostic and offers it to the subscribers. Seq and Time are set here.
func (r *Registry) Record(d Diagnostic) {
	r.notices.record(d)
	r.notices.deliver(r)
}

func (l loss) diagnostic() Diagnostic {
	loser, winner := &l.loser.info, &l.winner.info
	return Diagnostic{
		Code: CodeReplaceConflict, Severity: Warning, Point: l.loser.point.info.Name, Target: loser.Replaces,
		EntryID: loser.ID, Origin: loser.Origin,
		Message: "A contribution lost its target to another replacement.",
		Params: map[string]any{
			"point": l.loser.point.info.Name, "target": loser.Replaces,
			"entryId": loser.ID, "origin": loser.Origin.String(),
			"winnerEntryId": winner.ID, "winnerOrigin": winner.Origin.String(),
			"threadId": string(l.thread),
		},
	}
}

func (h *hold) diagnostic() Diagnostic {
	return Diagnostic{
		Code: CodeTargetHeld, Severity: Error, Point: h.Point, Target: h.Target, EntryID: h.EntryID,
		Origin:  h.standIn.info.Origin,
		Message: "A guarding target is closed because the plugin that replaced it was lost.",
		Params: map[string]any{
			"point": h.Point, "target": h.Target, "pluginId": h.PluginID, "generationId": h.GenerationID,
			"threadId": string(h.Thread),
		},
	}
}

func (e *RefusedError) diagnostic(origin Origin) Diagnostic {
	d := Diagnostic{
		Code: CodeRefused, Severity: Error, Point: e.Point, Origin: origin,
		Message: "A contribution was refused.",
		Params:  map[string]any{},
	}
	var detailed interface{ Params() map[string]any }
	if e.cause != nil && errors.As(e.cause, &detailed) {
		maps.Copy(d.Params, detailed.Params())
	}
	d.Params["point"], d.Params["reason"] = e.Point, e.Reason
	if len(e.Names) > 0 {
		d.Params["names"] = slices.Clone(e.Names)
	}
	return d
}

func (e *entry) teardownDiagnostic() Diagnostic {
	return Diagnostic{
		Code: CodeTeardownFailed, Severity: Warning, Point: e.point.info.Name, EntryID: e.info.ID, Origin: e.info.Origin,
		Message: "Closing the value of a contribution failed.",
		Params: map[string]any{
			"point": e.point.info.Name, "entryId": e.info.ID, "origin": e.info.Origin.String(),
		},
	}
}

func observerDiagnostic(name string) Diagnostic {
	return Diagnostic{
		Code: CodeObserverFailed, Severity: Warning,
		Message: "A subscriber of the registry failed.",
		Params:  map[string]any{"subscriber": name},
	}
}
