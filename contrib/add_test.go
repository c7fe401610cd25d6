package contrib_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
)

// REG-5, REG-25
func TestNothingIsNoContribution(t *testing.T) {
	w := newWorld(t)
	for name, value := range map[string]thing{
		"nil":         nil,
		"nil pointer": (*empty)(nil),
		"nil map":     nameMap(nil),
		"nil func":    nameFunc(nil),
		"nil channel": nameChan(nil),
	} {
		h, err := pointP.Add(w.Builtin(), value)
		refused(t, err, contrib.ErrNilContribution, "nilContribution")
		assert.Nil(t, h, name)
	}
	assert.Empty(t, w.list())
	assert.Zero(t, pointP.Revision(w.View()))
	assert.Zero(t, w.View().Version())
	_, err := pointP.Add(w.Builtin(), &empty{})
	require.NoError(t, err)
	assert.Equal(t, []string{"empty"}, w.list())
}

// REG-12
func TestNobodyReplacesItself(t *testing.T) {
	w := newWorld(t)
	w.add("d", named("x"))
	_, err := pointP.Add(w.Builtin(), word("s"), named("x"), replaces("x"))
	refused(t, err, contrib.ErrOwnName, "ownName")
	assert.Equal(t, []string{"d"}, w.list())
}

// REG-14, and the other rows of the table of refusals that options decide.
func TestOptionsThatDoNotFit(t *testing.T) {
	type options = []contrib.Option
	for _, c := range []struct {
		name   string
		point  *contrib.Point[thing]
		value  thing
		opts   options
		kind   error
		reason string
	}{
		{"blank thread", pointP, nil, options{inThread("")}, contrib.ErrInvalidScope, "invalidScope"},
		{"two threads", pointP, nil, options{inThread(t1), inThread(t2)}, contrib.ErrInvalidScope, "invalidScope"},
		{"thread on a workspace point", plain, nil, options{inThread(t1)}, contrib.ErrScopeUnsupported, "scopeUnsupported"},
		{"replacement on tier A", plain, nil, options{replaces("x")}, contrib.ErrTierUnsupported, "tierUnsupported"},
		{"blank name", pointP, nil, options{named("")}, contrib.ErrInvalidName, "invalidName"},
		{"name with a space", pointP, nil, options{replaces(" x")}, contrib.ErrInvalidName, "invalidName"},
		{"long name", pointP, nil, options{named(strings.Repeat("x", 129))}, contrib.ErrInvalidName, "invalidName"},
		{"control character", pointP, nil, options{named("a\x07b")}, contrib.ErrInvalidName, "invalidName"},
		{"bad UTF-8", pointP, nil, options{named("\xff")}, contrib.ErrInvalidName, "invalidName"},
		{"short deadline", timed, nil, options{contrib.Deadline(time.Microsecond)}, contrib.ErrInvalidOption, "invalidOption"},
		{"long deadline", timed, nil, options{contrib.Deadline(time.Hour)}, contrib.ErrInvalidOption, "invalidOption"},
		{"blank label", pointP, nil, options{contrib.Label("")}, contrib.ErrInvalidOption, "invalidOption"},
		{"long label", pointP, nil, options{contrib.Label(strings.Repeat("ä", 65))}, contrib.ErrInvalidOption, "invalidOption"},
		{"owned without Close", pointP, nil, options{contrib.Owned()}, contrib.ErrInvalidOption, "invalidOption"},
		{"order twice", pointP, nil, options{order(1), order(2)}, contrib.ErrInvalidOption, "invalidOption"},
		{"name twice", pointP, nil, options{named("a"), named("b")}, contrib.ErrInvalidOption, "invalidOption"},
		{"nil option", pointP, nil, options{nil}, contrib.ErrInvalidOption, "invalidOption"},
		{"unknown point", unknown, nil, nil, contrib.ErrUnknownPoint, "unknownPoint"},
		{"undefined point", &contrib.Point[thing]{}, nil, nil, contrib.ErrUnknownPoint, "unknownPoint"},
		{"bad metadata", pointP, word("bad"), nil, contrib.ErrInvalidContribution, "invalidContribution"},
		{"panic in metadata", pointP, nameFunc(func() string { panic("no") }), nil, contrib.ErrInvalidContribution, "invalidContribution"},
		// The first failing row of the table decides.
		{"nil before option", pointP, (*empty)(nil), options{order(1), order(2)}, contrib.ErrNilContribution, "nilContribution"},
		{"option before name", pointP, nil, options{named(""), contrib.Label("")}, contrib.ErrInvalidOption, "invalidOption"},
		{"name before scope", pointP, nil, options{inThread(""), named("")}, contrib.ErrInvalidName, "invalidName"},
		{"scope before support", plain, nil, options{inThread("")}, contrib.ErrInvalidScope, "invalidScope"},
		{"scope before tier", plain, nil, options{inThread(t1), replaces("x")}, contrib.ErrScopeUnsupported, "scopeUnsupported"},
		{"metadata before own name", pointP, word("bad"), options{named("x"), replaces("x")}, contrib.ErrInvalidContribution, "invalidContribution"},
		{"unknown point before nil", unknown, (*empty)(nil), nil, contrib.ErrUnknownPoint, "unknownPoint"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			value := c.value
			if value == nil {
				value = word("v")
			}
			_, err := c.point.Add(w.Builtin(), value, c.opts...)
			refused(t, err, c.kind, c.reason)
			assert.Zero(t, w.View().Version())
			assert.Empty(t, w.Diagnostics(), "only staged activations report refusals")
		})
	}
}

func TestOptionsThatFit(t *testing.T) {
	w := newWorld(t)
	h, err := timed.Add(w.Builtin(), word("v"), contrib.Deadline(time.Millisecond), contrib.Label(strings.Repeat("ä", 64)),
		order(4), order(4), inThread(t1), inThread(t1), named(strings.Repeat("x", 128)))
	require.NoError(t, err)
	e := timed.Entries(w.View(), t1)[0]
	assert.Equal(t, h.ID(), e.ID)
	assert.Equal(t, time.Millisecond, e.Deadline)
	assert.Equal(t, strings.Repeat("ä", 64), e.Label)
	assert.Equal(t, t1, e.Thread)
	_, err = timed.Add(w.Builtin(), word("v"))
	require.NoError(t, err)
	assert.Equal(t, 10*time.Second, timed.Entries(w.View(), "")[0].Deadline)
	_, err = pointP.Add(w.Builtin(), word("v"), contrib.Deadline(time.Second))
	require.NoError(t, err)
	assert.Zero(t, pointP.Entries(w.View(), "")[0].Deadline, "the point has none")
}

func TestOptionsPrint(t *testing.T) {
	for want, o := range map[string]contrib.Option{
		"Order(-3)":            order(-3),
		`Named("x")`:           named("x"),
		`ReplaceTarget("y")`:   replaces("y"),
		`InThread("T1")`:       inThread(t1),
		"Owned()":              contrib.Owned(),
		"Deadline(1.5s)":       contrib.Deadline(1500 * time.Millisecond),
		`Label("a \"label\"")`: contrib.Label(`a "label"`),
	} {
		assert.Equal(t, want, o.String())
	}
}

func TestCyclesAreRefusedAndNamed(t *testing.T) {
	type add struct{ name, replaces, thread string }
	for _, c := range []struct {
		name  string
		adds  []add
		last  add
		cycle string
	}{
		{"of two", []add{{"a", "b", ""}}, add{"b", "a", ""}, "a -> b -> a"},
		{"of three, from its smallest name", []add{{"m", "z", ""}, {"b", "m", ""}}, add{"z", "b", ""}, "b -> z -> m -> b"},
		{"a loser counts", []add{{"a", "b", ""}, {"", "b", ""}}, add{"b", "a", ""}, "a -> b -> a"},
		{"of the workspace and a thread", []add{{"a", "b", "T1"}}, add{"b", "a", ""}, "a -> b -> a"},
		{"of a thread and the workspace", []add{{"a", "b", ""}}, add{"b", "a", "T1"}, "a -> b -> a"},
		{"not of two threads", []add{{"a", "b", "T1"}}, add{"b", "a", "T2"}, ""},
		{"not of a chain", []add{{"a", "b", ""}, {"c", "a", ""}}, add{"d", "c", ""}, ""},
		{"not twice the same arc", []add{{"a", "b", ""}}, add{"a", "b", ""}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			opts := func(a add) (o []contrib.Option) {
				if a.name != "" {
					o = append(o, named(a.name))
				}
				if a.replaces != "" {
					o = append(o, replaces(a.replaces))
				}
				if a.thread != "" {
					o = append(o, inThread(contrib.ThreadID(a.thread)))
				}
				return o
			}
			for _, a := range c.adds {
				w.add("e", opts(a)...)
			}
			before := w.View()
			_, err := pointP.Add(w.Builtin(), word("last"), opts(c.last)...)
			if c.cycle == "" {
				require.NoError(t, err)
				return
			}
			refused(t, err, contrib.ErrReplaceCycle, "replaceCycle")
			require.EqualError(t, err, "contrib: replace cycle (replaceCycle) at test.p: "+c.cycle)
			var r *contrib.RefusedError
			require.ErrorAs(t, err, &r)
			assert.Equal(t, c.cycle, strings.Join(r.Names, " -> "))
			assert.Same(t, before, w.View())
		})
	}
}

// REG-22
func TestOrigins(t *testing.T) {
	module, err := contrib.Module("m")
	require.NoError(t, err)
	assert.Equal(t, "builtin", contrib.Builtin().String())
	assert.Equal(t, "module:m", module.String())
	p := plugin(t, "acme.a", "g1-00")
	assert.Equal(t, "plugin:acme.a@g1-00", p.String())
	assert.Equal(t, []string{"plugin", "acme.a", "g1-00"}, []string{p.Kind(), p.ID(), p.Generation()})
	_, err = contrib.Module(" ")
	require.Error(t, err)
	_, err = contrib.Plugin("", "g1")
	require.Error(t, err)
	_, err = contrib.Plugin("acme.a", "")
	require.Error(t, err)
}

func TestErrorsOfRevocationAreRevoked(t *testing.T) {
	for _, err := range []error{contrib.ErrClosed, contrib.ErrUnavailable} {
		require.ErrorIs(t, err, contrib.ErrRevoked)
	}
	require.NotErrorIs(t, contrib.ErrSealed, contrib.ErrRevoked)
	assert.False(t, errors.Is(contrib.ErrClosed, contrib.ErrUnavailable))
}

func TestDefinePanicsWhenAFieldIsMissing(t *testing.T) {
	for name, edit := range map[string]func(*contrib.Spec[thing]){
		"name":                func(s *contrib.Spec[thing]) { s.Name = "Test" },
		"name without a dot":  func(s *contrib.Spec[thing]) { s.Name = "test" },
		"long name":           func(s *contrib.Spec[thing]) { s.Name = "test." + strings.Repeat("x", 60) },
		"doc":                 func(s *contrib.Spec[thing]) { s.Doc = " " },
		"tiers":               func(s *contrib.Spec[thing]) { s.Tiers = 0 },
		"unknown tier":        func(s *contrib.Spec[thing]) { s.Tiers = 8 },
		"scopes":              func(s *contrib.Spec[thing]) { s.Scopes = 0 },
		"evaluation":          func(s *contrib.Spec[thing]) { s.Evaluation = 0 },
		"failure":             func(s *contrib.Spec[thing]) { s.Failure = 0 },
		"deadline":            func(s *contrib.Spec[thing]) { s.Deadline = -1 },
		"targets with tier B": func(s *contrib.Spec[thing]) { s.Targets = nil },
		"target name":         func(s *contrib.Spec[thing]) { s.Targets = []contrib.Target{{Name: " "}} },
		"target twice":        func(s *contrib.Spec[thing]) { s.Targets = []contrib.Target{{Name: "x"}, {Name: "x"}} },
		"stand-in of a guarding target": func(s *contrib.Spec[thing]) {
			s.Targets = []contrib.Target{{Name: "x", Guarding: true}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec("test.missing")
			edit(&s)
			defer func() {
				text, ok := recover().(string)
				require.True(t, ok, "it panics")
				assert.Contains(t, text, s.Name)
				assert.Contains(t, text, "add_test.go")
			}()
			contrib.Define(s)
		})
	}
}

func TestRegistryRefusesTwoPointsWithOneName(t *testing.T) {
	_, err := contrib.New(pointP, define("test.p", nil))
	require.ErrorContains(t, err, "test.p")
	_, err = contrib.New(pointP, nil)
	require.Error(t, err)
	_, err = contrib.New(&contrib.Point[thing]{})
	require.Error(t, err)
	r, err := contrib.New(pointQ, pointP)
	require.NoError(t, err)
	assert.Equal(t, []contrib.AnyPoint{pointP, pointQ}, r.Points())
}

func TestInfoOfAPoint(t *testing.T) {
	info := pointHeld.Info()
	assert.Equal(t, "test.held", info.Name)
	assert.Equal(t, "contrib_test.thing", info.Contract)
	assert.True(t, info.Guarded)
	assert.Equal(t, "A B", info.Tiers.String())
	assert.Equal(t, "workspace, thread", info.Scopes.String())
	assert.Equal(t, "per call", info.Evaluation.String())
	assert.Equal(t, "skip", info.Failure.String())
	info.Targets[0].Name = "changed"
	assert.Equal(t, "g", pointHeld.Info().Targets[0].Name)
	assert.False(t, unguarded.Info().Guarded)
	assert.Equal(t, contrib.PointInfo{}, new(contrib.Point[thing]).Info())
}
