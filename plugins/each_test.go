package plugins_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/plugins"
)

// ownStore makes stores that know whose they are, and notes when their generations end.
func ownStore(j *journal) plugins.Each[Store] {
	return func(f plugins.Facts, l *generations.Lifetime) (Store, error) {
		j.write("made for " + f.ID)
		return &store{f.ID + "@" + f.Generation}, l.OnClose("store", func(context.Context) error {
			j.write("ended for " + f.ID)
			return nil
		})
	}
}

func TestEachGenerationHasAValueOfItsOwn(t *testing.T) {
	t.Parallel()
	j := &journal{}
	got := map[string][]Store{}
	asks := fx.Invoke(func(f plugins.Facts, a, b Store) { got[f.ID] = append(got[f.ID], a, b) })
	h := start(t, plugins.Options{Shared: []plugins.Shared{ownStore(j).Shared()}},
		plugin("acme.a", asks), plugin("acme.b", asks), plugin("acme.c"))
	for _, id := range []string{"acme.a", "acme.b"} {
		require.Len(t, got[id], 2)
		assert.Same(t, got[id][0], got[id][1], "one value for all constructors")
		assert.Equal(t, id+"@"+h.status(t, id).Generation, got[id][0].Read())
	}
	assert.Equal(t, []string{"made for acme.a", "made for acme.b"}, j.read(), "nobody asked in acme.c")
	h.enable(t, "acme.a", false)
	assert.Equal(t, "ended for acme.a", j.read()[2])
	h.enable(t, "acme.a", true)
	require.Len(t, got["acme.a"], 4)
	assert.NotEqual(t, got["acme.a"][0].Read(), got["acme.a"][2].Read(), "the next generation has the next value")
}

func TestValueOfAGenerationThatFailsEnds(t *testing.T) {
	t.Parallel()
	j := &journal{}
	h := start(t, plugins.Options{Shared: []plugins.Shared{ownStore(j).Shared()}},
		plugin("acme.x", fx.Invoke(func(Store) error { return errors.New("no") })))
	assert.Equal(t, plugins.Faulted, h.status(t, "acme.x").State)
	assert.Equal(t, []string{"made for acme.x", "ended for acme.x"}, j.read())
}

func TestValueOfAGenerationThatCannotBeMadeFailsIt(t *testing.T) {
	t.Parallel()
	each := plugins.Each[Store](func(plugins.Facts, *generations.Lifetime) (Store, error) { return nil, errors.New("no") })
	h := start(t, plugins.Options{Shared: []plugins.Shared{each.Shared()}},
		plugin("acme.x", fx.Invoke(func(Store) {})), plugin("acme.y", greet()))
	assert.Equal(t, plugins.Faulted, h.status(t, "acme.x").State)
	assert.Equal(t, plugins.Active, h.status(t, "acme.y").State)
}

func TestShareEachTakesItsMakerFromTheHost(t *testing.T) {
	t.Parallel()
	registry, j := newRegistry(t), &journal{}
	var got Store
	app := fx.New(fx.NopLogger, fx.Supply(registry, ownStore(j)), plugins.ShareEach[Store](),
		plugins.Module(plugin("acme.x", fx.Invoke(func(s Store) { got = s }))))
	require.NoError(t, app.Start(t.Context()))
	require.NotNil(t, got)
	require.NoError(t, app.Stop(t.Context()))
	assert.Equal(t, []string{"made for acme.x", "ended for acme.x"}, j.read())

	app = fx.New(fx.NopLogger, fx.Supply(registry, ownStore(j)), plugins.ShareEach[Store](), plugins.ShareEach[Store](), plugins.Module())
	require.ErrorIs(t, app.Err(), plugins.ErrShared, "one type is shared once")
}
