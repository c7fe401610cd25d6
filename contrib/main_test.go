package contrib_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/contrib"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// thing is the contract of the points of these tests.
type thing interface{ Name() string }

type word string

func (w word) Name() string { return string(w) }

type nameFunc func() string

func (f nameFunc) Name() string { return f() }

type nameMap map[string]string

func (m nameMap) Name() string { return m["name"] }

type nameChan chan string

func (c nameChan) Name() string { return <-c }

type empty struct{}

func (*empty) Name() string { return "empty" }

// owned is a value with a Close that tells when it was closed.
type owned struct {
	name string
	log  *journal
	err  error
}

func (o *owned) Name() string { return o.name }
func (o *owned) Close() error { o.log.add(o.name); return o.err }

// journal notes what happened, from any goroutine.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

// proxy is the guard of a thing: it knows the metadata alone.
type proxy struct {
	name string
	ref  contrib.Ref
}

func (p *proxy) Name() string { return "guard of " + p.name }

// denial is the stand-in of a held target.
type denial struct{ hold contrib.Hold }

func (d denial) Name() string { return "denied " + d.hold.Target }

func spec(name string) contrib.Spec[thing] {
	return contrib.Spec[thing]{
		Name: name, Doc: "Holds things.", Tiers: contrib.TierA | contrib.TierB, Scopes: contrib.WorkspaceAndThread,
		Evaluation: contrib.PerCall, Failure: contrib.Skip,
		Targets: []contrib.Target{{Name: "x", Doc: "The default thing."}},
		Describe: func(v thing) (any, error) {
			name := v.Name()
			if name == "bad" {
				return nil, errors.New("the name is bad")
			}
			return name, nil
		},
		Guard: func(_ thing, meta any, ref contrib.Ref) thing { return &proxy{meta.(string), ref} },
	}
}

func define(name string, edit func(*contrib.Spec[thing])) *contrib.Point[thing] {
	s := spec(name)
	if edit != nil {
		edit(&s)
	}
	return contrib.Define(s)
}

func guarding(s *contrib.Spec[thing]) {
	s.Targets = []contrib.Target{
		{Name: "g", Guarding: true, Doc: "A guarding target."},
		{Name: "family:*", Guarding: true, Doc: "A family of guarding targets."},
		{Name: "x", Doc: "Not guarding."},
	}
	s.StandIn = func(h contrib.Hold) thing { return denial{h} }
}

var (
	pointP    = define("test.p", nil)
	pointQ    = define("test.q", nil)
	pointHeld = define("test.held", guarding)
	plain     = define("test.plain", func(s *contrib.Spec[thing]) {
		s.Tiers, s.Scopes, s.Targets = contrib.TierA, contrib.WorkspaceOnly, nil
	})
	unguarded = define("test.unguarded", func(s *contrib.Spec[thing]) { s.Guard = nil })
	unknown   = define("test.unknown", nil)
	timed     = define("test.timed", func(s *contrib.Spec[thing]) { s.Deadline = 10_000_000_000 })
)

// world is a registry with the points of the tests and what it told.
type world struct {
	t *testing.T
	*contrib.Registry
	mu     sync.Mutex
	events []contrib.Event
}

func newWorld(t *testing.T) *world {
	t.Helper()
	r, err := contrib.New(pointP, pointQ, pointHeld, plain, unguarded, timed)
	require.NoError(t, err)
	w := &world{t: t, Registry: r}
	t.Cleanup(r.Subscribe("world", func(e contrib.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, e)
	}))
	return w
}

func (w *world) seen() []contrib.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

// add adds a word to P.
func (w *world) add(name string, opts ...contrib.Option) *contrib.Handle {
	w.t.Helper()
	return w.addTo(pointP, name, opts...)
}

func (w *world) addTo(p *contrib.Point[thing], name string, opts ...contrib.Option) *contrib.Handle {
	w.t.Helper()
	h, err := p.Add(w.Builtin(), word(name), opts...)
	require.NoError(w.t, err)
	return h
}

// own adds an owned value.
func (w *world) own(r *contrib.Registrar, p *contrib.Point[thing], log *journal, name string, opts ...contrib.Option) *contrib.Handle {
	w.t.Helper()
	h, err := p.Add(r, &owned{name: name, log: log}, append(opts, contrib.Owned())...)
	require.NoError(w.t, err)
	return h
}

func (w *world) list(threads ...contrib.ThreadID) []string { return w.listOf(pointP, threads...) }

func (w *world) listOf(p *contrib.Point[thing], threads ...contrib.ThreadID) []string {
	return namesIn(w.t, p, w.View(), threads...)
}

// namesIn reads a list, and checks that all ways of reading agree on it.
func namesIn(t testing.TB, p *contrib.Point[thing], v *contrib.View, threads ...contrib.ThreadID) []string {
	t.Helper()
	thread := contrib.ThreadID("")
	if len(threads) > 0 {
		thread = threads[0]
	}
	values, entries, infos := p.In(v, thread), p.Entries(v, thread), p.Infos(v, thread)
	require.Len(t, entries, len(values))
	require.GreaterOrEqual(t, len(infos), len(values))
	names := []string{}
	for i, value := range values {
		require.Equal(t, value, entries[i].Value)
		require.Equal(t, infos[i], entries[i].EntryInfo)
		names = append(names, value.Name())
	}
	for _, info := range infos[len(values):] {
		require.NotZero(t, info.ShadowedBy)
	}
	return names
}

func (w *world) diagnostics(code string) []contrib.Diagnostic {
	return slices.DeleteFunc(w.Diagnostics(), func(d contrib.Diagnostic) bool { return d.Code != code })
}

func plugin(t testing.TB, id, generation string) contrib.Origin {
	t.Helper()
	o, err := contrib.Plugin(id, generation)
	require.NoError(t, err)
	return o
}

// activate commits a staging with what fill adds.
func (w *world) activate(id, generation string, fill func(r *contrib.Registrar)) *contrib.Staging {
	w.t.Helper()
	s := w.Stage(plugin(w.t, id, generation), nil)
	fill(s.Registrar())
	s.Seal()
	require.NoError(w.t, s.Commit())
	return s
}

// refused asserts that an add is refused with a reason, an error and no effect.
func refused(t testing.TB, err error, kind error, reason string) {
	t.Helper()
	require.ErrorIs(t, err, kind)
	var r *contrib.RefusedError
	require.ErrorAs(t, err, &r)
	assert.Equal(t, reason, r.Reason)
	assert.Contains(t, err.Error(), r.Point)
	assert.Contains(t, err.Error(), reason)
}

func numbered(i int) string { return fmt.Sprintf("n%05d", i) }
