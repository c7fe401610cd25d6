package statusline_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/internal/statusline"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/status"
)

// host is a runtime of plugins with a store.
type host struct {
	t        *testing.T
	registry *contrib.Registry
	runtime  *plugins.Runtime
	store    *statusline.Store

	mu      sync.Mutex
	changes []statusline.Change
}

func start(t *testing.T, list ...plugins.Plugin) *host {
	t.Helper()
	registry, err := contrib.New(status.Fields)
	require.NoError(t, err)
	h := &host{t: t, registry: registry}
	// Tests keep what a plugin was given, which the last sweep would wait for.
	o := plugins.Options{Timeouts: plugins.Timeouts{Collection: time.Millisecond}}
	app := fx.New(fx.NopLogger, fx.Supply(registry, o), statusline.Module, plugins.Module(list...), fx.Populate(&h.runtime, &h.store))
	require.NoError(t, app.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, app.Stop(context.Background())) })
	return h
}

func (h *host) load() {
	h.store.Load(func(id, generation string) bool {
		s, ok := h.runtime.Snapshot().Find(id)
		return ok && s.State == plugins.Active && s.Generation == generation
	})
}

// watch collects the changes from now on.
func (h *host) watch() {
	h.t.Cleanup(h.store.Subscribe(func(c statusline.Change) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.changes = append(h.changes, c)
	}))
}

func (h *host) seen() []statusline.Change {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.changes)
}

func (h *host) enable(id string, on bool) {
	h.t.Helper()
	_, err := h.runtime.SetEnabled(h.t.Context(), id, on, plugins.ScopeProcess)
	require.NoError(h.t, err)
}

// notes are the diagnostics, as code, plugin, name and reason.
func (h *host) notes() (out []string) {
	for _, d := range h.registry.Diagnostics() {
		line := d.Code + " " + d.Origin.ID() + " " + d.Params["name"].(string)
		if r, ok := d.Params["reasonCode"]; ok {
			line += " " + r.(string)
		}
		out = append(out, line)
	}
	return out
}

// shown is the line of the fields, as name=text, and what is unavailable.
func (h *host) shown(names ...string) string {
	l := h.store.Line(names, func(name string) string { return "<" + name + ">" })
	var out []string
	for _, c := range l.Cells {
		out = append(out, c.Name+"="+c.Text)
	}
	for _, name := range l.Unavailable {
		out = append(out, name+"?")
	}
	return strings.Join(out, " ")
}

// field is a plugin with fields; do runs in its constructor.
func field(id string, do func(status.Updates) error, names ...string) plugins.Plugin {
	options := []fx.Option{fx.Invoke(do)}
	for _, n := range names {
		options = append(options, contrib.Supply(status.Fields, status.Field{Name: n, Description: "field\nof\x1b[1m " + id}))
	}
	return plugins.Plugin{ID: id, Version: "1.0.0", Module: fx.Options(options...)}
}

// keeps gives the test what a plugin keeps of its updates.
func keeps(all *[]status.Updates) func(status.Updates) error {
	return func(u status.Updates) error {
		*all = append(*all, u)
		return nil
	}
}

// FIELD-A17
func TestTextOfAConstructorIsThereAtTheFirstRead(t *testing.T) {
	h := start(t, field("acme.x", func(u status.Updates) error {
		u.Set("Build", "green")
		return nil
	}, "build"))
	assert.Equal(t, "build=green", h.shown("build"))
	h.load()
	h.watch()
	assert.Equal(t, "build=green", h.shown("build"))
	assert.Empty(t, h.seen(), "it is no change any more")
	assert.Empty(t, h.notes())
	assert.Equal(t, []statusline.Listed{{Name: "build", Description: "field of acme.x", Plugin: "acme.x"}}, h.store.Fields())
}

// STATUS-2
func TestEqualTextIsNotPublishedAgain(t *testing.T) {
	var all []status.Updates
	h := start(t, field("acme.x", keeps(&all), "build"))
	h.load()
	h.watch()
	long := strings.Repeat("x", 50) + "\n" + strings.Repeat("y", 49)
	all[0].Set("build", long)
	all[0].Set(" BUILD", long)
	all[0].Set("build", long+"z")
	want := strings.Repeat("x", 50) + " " + strings.Repeat("y", 13)
	assert.Equal(t, []statusline.Change{{Name: "build", Text: want}}, h.seen())
	all[0].Set("build", " \n ")
	all[0].Clear("build")
	assert.Equal(t, statusline.Change{Name: "build"}, h.seen()[1], "a blank text clears")
	assert.Len(t, h.seen(), 2)
	assert.Empty(t, h.shown("build"))
}

// STATUS-4
func TestActivationThatFailsLeavesNoText(t *testing.T) {
	var all []status.Updates
	h := start(t, field("acme.x", func(u status.Updates) error {
		u.Set("build", "green")
		all = append(all, u)
		return errors.New("no")
	}, "build"), field("acme.y", keeps(&all), "tests"))
	h.load()
	h.watch()
	assert.Equal(t, "build?", h.shown("build"))
	all[0].Set("build", "red")
	all[0].Set("tests", "red")
	assert.Equal(t, "build?", h.shown("build", "tests"))
	assert.Empty(t, h.notes())
	assert.Empty(t, h.seen())
}

// STATUS-1, as far as notes go: the rest is held where the names are judged.
func TestFieldsThatAreLeftOutCostANoteEach(t *testing.T) {
	var all []status.Updates
	h := start(t, field("acme.x", keeps(&all), "Build--x", "on", "model", "9a", "Build"), field("acme.y", keeps(&all), "build"))
	h.load()
	h.load()
	assert.Equal(t, []string{
		"PluginContributionInvalid acme.x build--x invalid", "PluginContributionInvalid acme.x on reserved",
		"PluginContributionInvalid acme.x model reserved", "PluginContributionInvalid acme.x 9a invalid",
		"PluginContributionInvalid acme.y build duplicate",
	}, h.notes())
	all[1].Set("build", "red")
	all[0].Set("on", "red")
	assert.Equal(t, []string{"StatusFieldUnknown acme.y build", "StatusFieldUnknown acme.x on"}, h.notes()[5:])
	assert.Empty(t, h.shown("build"))
	all[0].Set("build", "green")
	assert.Equal(t, "build=green", h.shown("build"))

	h.enable("acme.x", false)
	assert.Empty(t, h.shown("build"), "the name is free, and the next one has it")
	all[1].Set("build", "blue")
	assert.Equal(t, "build=blue", h.shown("build"))
}

func TestNameThatAPluginDoesNotOwnCostsOneNote(t *testing.T) {
	var all []status.Updates
	h := start(t, field("acme.x", keeps(&all), "build"), field("acme.y", func(u status.Updates) error {
		all = append(all, u)
		u.Set("build", "early")
		return nil
	}))
	assert.Empty(t, h.notes(), "what a plugin without fields owns shows when all are loaded")
	h.load()
	assert.Equal(t, []string{"StatusFieldUnknown acme.y build"}, h.notes())
	all[1].Set("build", "later")
	all[1].Clear("build")
	all[0].Set("tests\x1b[31m", "x")
	all[0].Set("tests\x1b[31m", "y")
	assert.Equal(t, []string{"StatusFieldUnknown acme.y build", "StatusFieldUnknown acme.x tests"}, h.notes())
	assert.Empty(t, h.shown("build"))
	for i := range 1000 {
		all[0].Set(strings.Repeat("x", i+1), "x")
	}
	assert.Len(t, h.notes(), 65, "one plugin cannot flood the notes")
}

func TestTextsVanishWithTheGeneration(t *testing.T) {
	var all []status.Updates
	var inside func()
	p := field("acme.x", keeps(&all), "build")
	p.Module = fx.Options(p.Module, fx.Invoke(func(l *generations.Lifetime, u status.Updates) error {
		return l.OnClose("late", func(context.Context) error {
			inside()
			u.Set("build", "late")
			return nil
		})
	}))
	h := start(t, p, field("acme.y", keeps(&all), "tests"))
	h.load()
	h.watch()
	all[0].Set("build", "green")
	all[1].Set("tests", "ok")
	inside = func() {
		assert.Equal(t, "tests=ok build?", h.shown("build", "tests"), "gone before the teardown closes anything")
	}
	h.enable("acme.x", false)
	inside = func() {}
	all[0].Set("build", "red")
	all[0].Set("other", "red")
	assert.Equal(t, "tests=ok build?", h.shown("build", "tests"))
	assert.Equal(t, []statusline.Change{{Name: "build", Text: "green"}, {Name: "tests", Text: "ok"}, {Name: "build"}}, h.seen())

	h.enable("acme.x", true)
	all[0].Set("build", "red")
	assert.Equal(t, "tests=ok", h.shown("build", "tests"), "the old generation has nothing to say in the name of the new one")
	all[2].Set("build", "new")
	assert.Equal(t, "build=new tests=ok", h.shown("build", "tests"))
	assert.Empty(t, h.notes())
}

func TestTextsVanishWhenAGenerationFaults(t *testing.T) {
	fail := make(chan struct{})
	p := field("acme.x", func(u status.Updates) error {
		u.Set("build", "green")
		return nil
	}, "build")
	p.Module = fx.Options(p.Module, fx.Invoke(func(l *generations.Lifetime) error {
		return l.Go("work", func(context.Context) error {
			<-fail
			return errors.New("no")
		})
	}))
	h := start(t, p)
	gone := make(chan struct{})
	t.Cleanup(h.store.Subscribe(func(c statusline.Change) {
		if c == (statusline.Change{Name: "build"}) {
			close(gone)
		}
	}))
	assert.Equal(t, "build=green", h.shown("build"))
	close(fail)
	<-gone
	assert.Equal(t, "build?", h.shown("build"))
}

// Between the withdrawal of the fields and the signal to stop nothing costs a note, and neither does what a plugin without
// fields says while it stops.
func TestCallsWhileAGenerationStopsDoNothing(t *testing.T) {
	var all []status.Updates
	silent := plugins.Plugin{ID: "acme.y", Version: "1.0.0", Module: fx.Invoke(func(u status.Updates, l *generations.Lifetime) error {
		return l.OnClose("late", func(context.Context) error {
			u.Set("other", "late")
			return nil
		})
	})}
	h := start(t, field("acme.x", keeps(&all), "build"), silent)
	h.load()
	all[0].Set("build", "green")
	told := 0
	defer h.store.Subscribe(func(statusline.Change) {
		told++
		all[0].Set("build", "red")
		all[0].Set("other", "red")
	})()
	h.enable("acme.x", false)
	h.enable("acme.y", false)
	assert.Equal(t, 1, told)
	assert.Empty(t, h.notes())
}

// STATUS-5
func TestLineHoldsWhatIsThere(t *testing.T) {
	var all []status.Updates
	h := start(t, field("acme.x", keeps(&all), "build"))
	h.enable("acme.x", false)
	h.load()
	saved := []string{"model", "build", "Model"}
	assert.Equal(t, "model=<model> build?", h.shown(saved...))
	h.enable("acme.x", true)
	h.load()
	assert.Equal(t, "model=<model>", h.shown(saved...), "it has no text yet")
	all[1].Set("build", "green")
	assert.Equal(t, "model=<model> build=green", h.shown(saved...))
	assert.Empty(t, h.store.Line([]string{"model"}, nil))
}

func TestSubscribers(t *testing.T) {
	var all []status.Updates
	h := start(t, field("acme.x", keeps(&all), "a", "b"))
	h.load()
	var order []string
	var cancel func()
	cancel = h.store.Subscribe(func(c statusline.Change) {
		order = append(order, "first "+c.Name)
		all[0].Set("b", "from a reader") // told after this one, to everybody
		cancel()
	})
	defer h.store.Subscribe(func(c statusline.Change) { order = append(order, "second "+c.Name) })()
	all[0].Set("a", "x")
	assert.Equal(t, []string{"first a", "second a", "second b"}, order)
}

func TestManyGoroutines(t *testing.T) {
	var all []status.Updates
	h := start(t, field("acme.x", keeps(&all), "a", "b"))
	h.load()
	h.watch()
	var group, half sync.WaitGroup
	half.Add(2)
	for _, name := range []string{"a", "b"} {
		group.Go(func() {
			for i := range 200 {
				all[0].Set(name, strings.Repeat("x", i%7))
				h.shown("a", "b")
				if i == 100 {
					half.Done()
				}
			}
		})
	}
	half.Wait()
	h.enable("acme.x", false)
	group.Wait()
	assert.Equal(t, "a? b?", h.shown("a", "b"))
	last := map[string]string{}
	for _, c := range h.seen() {
		assert.NotEqual(t, last[c.Name], c.Text, "an equal text is not published again")
		last[c.Name] = c.Text
	}
	assert.Equal(t, map[string]string{"a": "", "b": ""}, last)
}
