package deps

import (
	"maps"
	"slices"
)

// Reason says why a provider is not usable, or, in a listing of dependencies, how it stands.
type Reason string

// The reasons. Those from Blocked on are states of a provider that is known, fits and is enabled.
const (
	Missing            Reason = "missing"            // not known at all
	VersionUnsatisfied Reason = "versionUnsatisfied" // known, but too old or on another line
	Disabled           Reason = "disabled"           // known, fits, and switched off
	Unavailable        Reason = "unavailable"        // a directory names it, but this host has no code for it
	Blocked            Reason = "blocked"
	Activating         Reason = "activating"
	Active             Reason = "active" // usable; never a blocker
	Deactivating       Reason = "deactivating"
	Faulted            Reason = "faulted"
	Stopped            Reason = "stopped"
	Reclaiming         Reason = "reclaiming"
)

// Dependency is one requirement of a plugin and how its provider stands.
type Dependency struct {
	Provider string
	Required string // lowest version that serves
	Observed string // blank when the provider is not known
	Status   Reason // Active when usable
}

// Dependencies returns every requirement of a plugin, sorted by provider, with the status of its provider. state is
// asked only about providers that are known, fit and are enabled; it must answer one of the reasons from Blocked on.
func (g *Graph) Dependencies(id string, state func(provider string) Reason) []Dependency {
	i, known := g.index[id]
	if !known {
		return nil
	}
	requires := g.nodes[i].Requires
	out := make([]Dependency, 0, len(requires))
	for _, provider := range slices.Sorted(maps.Keys(requires)) {
		out = append(out, g.dependency(provider, requires[provider], state))
	}
	return out
}

// Unmet returns the requirements of a plugin that block it.
func (g *Graph) Unmet(id string, state func(provider string) Reason) []Dependency {
	return slices.DeleteFunc(g.Dependencies(id, state), func(d Dependency) bool { return d.Status == Active })
}

func (g *Graph) dependency(provider, required string, state func(string) Reason) Dependency {
	d := Dependency{Provider: provider, Required: required, Status: Missing}
	p, known := g.index[provider]
	if !known {
		return d
	}
	n := g.nodes[p]
	d.Observed = n.Version
	switch {
	case n.Absent && !n.Enabled:
		d.Status = Disabled
	case n.Absent:
		// Without code there is no version to test.
		d.Status = Unavailable
	case !Satisfied(required, n.Version):
		d.Status = VersionUnsatisfied
	case !n.Enabled:
		d.Status = Disabled
	default:
		d.Status = state(provider)
	}
	return d
}
