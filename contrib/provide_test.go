package contrib_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/crystalkernel/crystal/contrib"
)

// build makes an app of a host.
func (w *world) build(opts ...fx.Option) *fx.App {
	return fx.New(fx.NopLogger, fx.Supply(w.Registry, w.Builtin()), fx.Options(opts...))
}

type prefix string

type params struct {
	fx.In
	Prefix prefix
	Suffix string `name:"suffix" optional:"true"`
}

func word1(name string) func() word { return func() word { return word(name) } }

func TestProvideRunsEachConstructorOnceWhileTheAppIsBuilt(t *testing.T) {
	w := newWorld(t)
	log := &journal{}
	type service struct{}
	app := w.build(
		fx.Supply(prefix("p-")),
		fx.Provide(func() *service { log.add("service"); return &service{} }),
		contrib.Provide(pointP, func(p prefix) word { log.add("plain"); return word(p) + "plain" }),
		contrib.Provide(pointP, func(in params) (thing, error) { return word(in.Prefix) + "in", nil }, order(-1), named("n")),
		contrib.Provide(pointP, func(*service, ...int) *empty { return &empty{} }),
		contrib.Provide(pointQ, func(*service) thing { return word("q") }),
		contrib.Supply(pointP, thing(word("supplied"))),
	)
	require.NoError(t, app.Err())
	assert.Equal(t, []string{"p-in", "p-plain", "empty", "supplied"}, w.list())
	assert.Equal(t, []string{"q"}, w.listOf(pointQ))
	assert.Equal(t, []string{"plain", "service"}, log.all())
	e := pointP.Entries(w.View(), "")[0]
	assert.Equal(t, "n", e.Name)
	assert.Equal(t, contrib.Builtin(), e.Origin)
}

func TestWrongConstructorsFailTheBuildWithTheNameOfThePoint(t *testing.T) {
	for name, constructor := range map[string]any{
		"nil":                 nil,
		"nil function":        (func() thing)(nil),
		"not a function":      word("v"),
		"no result":           func() {},
		"three results":       func() (thing, int, error) { return nil, 0, nil },
		"wrong result":        func() int { return 0 },
		"wrong second result": func() (thing, int) { return nil, 0 },
		"error":               func() (thing, error) { return nil, errNo },
		"panic":               func() thing { panic(errNo) },
		"nil value":           func() thing { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			err := w.build(contrib.Provide(pointP, constructor)).Err()
			require.ErrorContains(t, err, "test.p")
			assert.ErrorContains(t, err, "provide_test.go")
			assert.Zero(t, w.View().Version())
		})
	}
	w := newWorld(t)
	require.ErrorIs(t, w.build(contrib.Provide(pointP, func() (thing, error) { return nil, errNo })).Err(), errNo)
	require.ErrorIs(t, w.build(contrib.Provide(pointP, func() thing { return nil })).Err(), contrib.ErrNilContribution)
	require.ErrorContains(t, w.build(contrib.Supply(pointP, thing(word("bad")))).Err(), "test.p")
	require.Error(t, w.build(contrib.Provide(pointP, func(prefix) thing { return word("v") })).Err(), "no prefix in the graph")
}

func TestProvideSetAddsInTheOrderOfTheSet(t *testing.T) {
	w := newWorld(t)
	app := w.build(
		contrib.Supply(pointP, thing(word("first"))),
		contrib.ProvideSet(func() contrib.Set {
			return contrib.Set{
				contrib.Item(pointP, thing(word("a"))),
				contrib.Item(pointQ, thing(word("q")), named("x")),
				contrib.Item(pointP, thing(word("b"))),
			}
		}),
		contrib.ProvideSet(func() (contrib.Set, error) { return nil, nil }),
		contrib.Supply(pointP, thing(word("last"))),
	)
	require.NoError(t, app.Err())
	assert.Equal(t, []string{"first", "a", "b", "last"}, w.list())
	assert.Equal(t, "x", pointQ.Entries(w.View(), "")[0].Name)
	for name, constructor := range map[string]any{
		"shape": func() []contrib.SetItem { return nil }, // assignable, so fine
		"item":  func() contrib.Set { return contrib.Set{{}} },
		"error": func() (contrib.Set, error) { return nil, errNo },
		"thing": func() thing { return nil },
	} {
		err := newWorld(t).build(contrib.ProvideSet(constructor)).Err()
		assert.Equal(t, name == "shape", err == nil, name)
	}
}

func TestOrderOfRegistration(t *testing.T) {
	w := newWorld(t)
	app := w.build(
		contrib.Supply(pointP, thing(word("3"))),
		fx.Module("m",
			contrib.Provide(pointP, word1("2")),
			fx.Module("deep", contrib.Supply(pointP, thing(word("1")))),
		),
		fx.Options(contrib.Provide(pointP, word1("4")), contrib.Supply(pointP, thing(word("5")))),
		contrib.Provide(pointP, word1("6")),
	)
	require.NoError(t, app.Err())
	assert.Equal(t, []string{"1", "2", "3", "4", "5", "6"}, w.list())
}

func TestInModuleGivesItsOriginAndClosesAtTheStop(t *testing.T) {
	w := newWorld(t)
	log := &journal{}
	give := func(name string) fx.Option {
		return contrib.Provide(pointP, func() *owned { return &owned{name: name, log: log} }, contrib.Owned())
	}
	app := fxtest.New(t, fx.NopLogger, fx.Supply(w.Registry, w.Builtin()),
		give("host"),
		contrib.InModule("outer",
			fx.Invoke(func(l fx.Lifecycle) { l.Append(fx.StopHook(func() { log.add("stopped " + w.list()[0]) })) }),
			give("o"),
			contrib.InModule("inner", give("i")),
			fx.Module("plain", give("p")),
		),
	)
	app.RequireStart()
	var origins []string
	for _, e := range pointP.Entries(w.View(), "") {
		origins = append(origins, e.Origin.String())
	}
	assert.Equal(t, []string{"module:inner", "module:outer", "module:outer", "builtin"}, origins)
	before := len(w.seen())
	app.RequireStop()
	assert.Equal(t, []string{"o", "p", "i", "stopped host"}, log.all(), "revoked before what they are made of stops")
	assert.Equal(t, []string{"host"}, w.list())
	assert.Len(t, w.seen(), before+1, "one publication for the module with those inside it")
	require.Error(t, w.build(contrib.InModule("", give("x"))).Err())
}

func TestReplaceReachesWhatTheConstructorAsksFor(t *testing.T) {
	w := newWorld(t)
	app := w.build(
		fx.Supply(prefix("real")),
		fx.Replace(prefix("fake")),
		contrib.Provide(pointP, func(p prefix) word { return word(p) }),
	)
	require.NoError(t, app.Err())
	assert.Equal(t, []string{"fake"}, w.list())
}

// In a generation the same options stage, and a refusal does not fail the app.
func TestProvideInAGeneration(t *testing.T) {
	w := newWorld(t)
	s := w.Stage(plugin(t, "acme.a", "g1"), nil)
	app := fx.New(fx.NopLogger, fx.Supply(s.Registrar()),
		contrib.Provide(pointP, word1("a")),
		contrib.Provide(unguarded, word1("refused")),
		contrib.Supply(unknown, thing(word("refused"))),
		contrib.ProvideSet(func() contrib.Set {
			return contrib.Set{contrib.Item(pointP, thing(nil)), contrib.Item(pointP, thing(word("b")))}
		}),
		contrib.InModule("part", contrib.Supply(pointP, thing(word("c")))),
	)
	require.NoError(t, app.Err())
	require.NoError(t, s.Commit())
	assert.Equal(t, []string{"guard of c", "guard of a", "guard of b"}, w.list())
	assert.Equal(t, []any{"unguarded", "unknownPoint", "nilContribution"}, reasons(s.Refused()))
	require.NoError(t, errors.Join(s.Release(nil)...))
}
