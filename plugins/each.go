package plugins

import (
	"reflect"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/generations"
)

// Each makes a value of the host that every generation has of its own: it knows whose it is and when that generation ends.
// It runs at most once for a generation, when the first constructor asks for T, and an error fails the activation. What
// has to end with the generation is given to the lifetime (OnClose), whose context is done from the moment the
// generation is told to stop; a rollback counts as a stop. A value that keeps the lifetime is seen as a leak when plugin
// code keeps it too long, so the host gives up its own reference at the close.
type Each[T any] func(f Facts, l *generations.Lifetime) (T, error)

// Shared is [ShareEach] for a host that makes its runtime with [New].
func (e Each[T]) Shared() Shared {
	return Shared{
		shared: reflect.TypeFor[T](),
		option: fx.Provide(func(f Facts, l *generations.Lifetime) (T, error) { return e(f, l) }),
	}
}

// ShareEach is [Share] for a value that every generation has of its own. The host's graph has to hold an [Each] of T.
// [Plugin.AsModule] finds no such value: its module has the host's whole graph, and no generation.
func ShareEach[T any]() fx.Option {
	return fx.Provide(fx.Annotate(Each[T].Shared, fx.ResultTags(sharedGroup)))
}
