package plugintest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/plugins"
)

// Setup is what the kit needs to know of the host that a plugin is made for. The zero value suits a plugin without
// contributions and without providers.
type Setup struct {
	Points    []contrib.AnyPoint // that the plugin contributes to
	Providers []plugins.Plugin   // that it requires
	Options   plugins.Options    // shared values, settings, host version; Switches and Timeouts belong to the kit
	Patience  time.Duration      // for a teardown, and for a collection; 5 s when zero
	Idle      time.Duration      // how long an active plugin is watched; 50 ms when zero
}

// Run holds a plugin to every check and reports each violation with t.Errorf. At most one Setup may be given. It runs
// the plugin's constructors, hooks and background work, and calls no contribution.
func Run(t testing.TB, p plugins.Plugin, setup ...Setup) {
	t.Helper()
	var s Setup
	if len(setup) > 0 {
		s = setup[0]
	}
	if s.Patience == 0 {
		s.Patience = 5 * time.Second
	}
	if s.Idle == 0 {
		s.Idle = 50 * time.Millisecond
	}
	for _, v := range verify(t.Context(), p, s) {
		check := find(v.id)
		t.Errorf("plugintest: %s: %s: %s\n%s\nresolution: %s", p.ID, v.id, v.detail, check.Description, check.Resolution)
	}
}

type violation struct{ id, detail string }

func find(id string) Check {
	all := Checks()
	return all[slices.IndexFunc(all, func(c Check) bool { return c.ID == id })]
}

// probe is one run of the kit.
type probe struct {
	setup      Setup
	id         string
	registry   *contrib.Registry
	runtime    *plugins.Runtime
	violations []violation
}

func (p *probe) violate(id, format string, args ...any) {
	p.violations = append(p.violations, violation{id, fmt.Sprintf(format, args...)})
}

func verify(ctx context.Context, plugin plugins.Plugin, s Setup) []violation {
	p := &probe{setup: s, id: plugin.ID}
	var err error
	if p.registry, err = contrib.New(s.Points...); err != nil {
		return []violation{{activates, err.Error()}}
	}
	o := s.Options
	o.Switches = map[string]bool{plugin.ID: false}
	o.Timeouts = plugins.Timeouts{Activation: s.Patience, Cleanup: s.Patience, Collection: s.Patience, PollFirst: time.Millisecond, PollHighest: 20 * time.Millisecond}
	list := append(slices.Clone(s.Providers), plugin)
	if p.runtime, err = plugins.New(p.registry, o, list...); err != nil {
		return []violation{{activates, err.Error()}}
	}
	defer p.shutdown(ctx)
	if err := p.runtime.Start(ctx); err != nil {
		return []violation{{activates, err.Error()}}
	}
	first, ok := p.generation(ctx, activates, nil)
	if ok {
		_, ok = p.generation(ctx, again, first)
	}
	if ok {
		p.watchReclaim(ctx)
	}
	return p.violations
}

// shutdown ends the run. A plugin that does not stop must not hang the test.
func (p *probe) shutdown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.setup.Patience)
	defer cancel()
	if err := p.runtime.Shutdown(ctx); err != nil && len(p.violations) == 0 {
		p.violate(stopsInTime, "%v", err)
	}
}

func (p *probe) status() plugins.Status {
	s, _ := p.runtime.Snapshot().Find(p.id)
	return s
}

// entries lists what the plugin contributes, as text that two generations have in common.
func (p *probe) entries() []string {
	var out []string
	view := p.registry.View()
	for _, point := range p.registry.Points() {
		for _, e := range point.Infos(view, "") {
			if e.Origin.ID() == p.id && !e.Held {
				out = append(out, fmt.Sprintf("%s: label %q, order %d, named %q, replaces %q", point.Name(), e.Label, e.Order, e.Name, e.Replaces))
			}
		}
	}
	return out
}

// generation switches the plugin on, watches it, and switches it off. before is what the generation before contributed.
func (p *probe) generation(ctx context.Context, id string, before []string) (entries []string, ok bool) {
	if _, err := p.runtime.SetEnabled(ctx, p.id, true, plugins.ScopeProcess); err != nil {
		p.violate(id, "%v", err)
		return nil, false
	}
	s := p.status()
	if s.State != plugins.Active {
		if pending(s) {
			id = withinStart
		}
		p.violate(id, "it is %s: %v", s.State, s.Blockers)
		return nil, false
	}
	entries = p.entries()
	for _, d := range s.Diagnostics {
		if d.Code == "ContributionRefused" && d.Generation == s.Generation {
			p.violate(admitted, "%v", d.Params)
		}
	}
	p.wait(ctx, p.setup.Idle)
	if later := p.entries(); !slices.Equal(entries, later) {
		p.violate(withinStart, "after the activation it contributed %s; later %s", strings.Join(entries, "; "), strings.Join(later, "; "))
	}
	if now := p.status(); now.State != plugins.Active {
		p.violate(id, "it did not stay active: it is %s: %v", now.State, now.Blockers)
		return nil, false
	}
	if id == again && !slices.Equal(before, entries) {
		p.violate(sameAgain, "first %s; then %s", strings.Join(before, "; "), strings.Join(entries, "; "))
	}
	return entries, p.stop(ctx, s.Generation)
}

// pending reports whether the activation failed because an add was still being prepared.
func pending(s plugins.Status) bool {
	return slices.ContainsFunc(s.Blockers, func(b plugins.Blocker) bool { return b.Params["reason"] == "registrationPending" })
}

func (p *probe) stop(ctx context.Context, generation string) bool {
	result, err := p.runtime.SetEnabled(ctx, p.id, false, plugins.ScopeProcess)
	if err != nil {
		p.violate(stopsInTime, "%v", err)
		return false
	}
	for _, d := range result.Diagnostics {
		switch d.Code {
		case plugins.PluginDrainTimeout:
			p.violate(stopsInTime, "generation %s was not torn down within %s", generation, p.setup.Patience)
		case plugins.PluginCleanupFailed:
			p.violate(stopsCleanly, "%v steps of the teardown of generation %s failed", d.Params["count"], generation)
		}
	}
	return p.status().State != plugins.Deactivating
}

// watchReclaim collects until nothing of the plugin is left or the patience is at its end.
func (p *probe) watchReclaim(ctx context.Context) {
	deadline := time.Now().Add(p.setup.Patience)
	for p.status().LeakedGenerations > 0 && time.Now().Before(deadline) && ctx.Err() == nil {
		runtime.GC()
		p.wait(ctx, 5*time.Millisecond)
	}
	for _, leak := range p.status().Leaks {
		if len(leak.Goroutines) > 0 {
			p.violate(noGoroutine, "generation %s left %d stacks; the first, %d times:\n%s",
				leak.Generation, len(leak.Goroutines), leak.Goroutines[0].Count, leak.Goroutines[0].Stack)
		} else if !leak.RootGone {
			p.violate(collectable, "something keeps generation %s", leak.Generation)
		}
	}
}

func (p *probe) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
