package plugins

import (
	"fmt"
	"log/slog"
	"reflect"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/export"
	"github.com/crystalkernel/crystal/generations"
)

// Shared is one value of the host that generations may ask for by its type. Make it with [ShareValue], [Share] or [Each].
type Shared struct {
	shared reflect.Type
	option fx.Option
}

const sharedGroup = `group:"crystal.plugins.shared"`

// Share names a type of the host's graph that generations may ask for. It is an option of the host's own fx app, beside
// [Module]. A generation never closes a shared value. Sharing what would open the host itself (the registry, the fx app
// with its lifecycle and shutdowner, the runtime), or what each generation has of its own, is an error that matches
// [ErrShared] when the runtime is made.
func Share[T any]() fx.Option {
	return fx.Provide(fx.Annotate(ShareValue[T], fx.ResultTags(sharedGroup)))
}

// ShareValue is [Share] for a host that makes its runtime with [New].
func ShareValue[T any](value T) Shared {
	return Shared{
		shared: reflect.TypeFor[T](),
		option: fx.Provide(func() T { return value }),
	}
}

// never lists what no host may share: what opens the host, and what each generation has of its own.
var never = []reflect.Type{
	reflect.TypeFor[*contrib.Registry](), reflect.TypeFor[*contrib.Registrar](), reflect.TypeFor[*contrib.View](),
	reflect.TypeFor[*fx.App](), reflect.TypeFor[fx.Lifecycle](), reflect.TypeFor[fx.Shutdowner](), reflect.TypeFor[fx.DotGraph](),
	reflect.TypeFor[*Runtime](), reflect.TypeFor[Options](),
	reflect.TypeFor[Facts](), reflect.TypeFor[Environment](), reflect.TypeFor[Settings](), reflect.TypeFor[DataDirs](),
	reflect.TypeFor[*generations.Lifetime](), reflect.TypeFor[*slog.Logger](),
	reflect.TypeFor[*export.Exports](), reflect.TypeFor[*export.Imports](),
}

func checkShared(shared []Shared, private []reflect.Type) error {
	seen := map[reflect.Type]bool{}
	for _, t := range never {
		seen[t] = true
	}
	for _, t := range private {
		seen[t] = true
	}
	for _, s := range shared {
		if s.shared == nil {
			return fmt.Errorf("%w: a Shared without a value; make it with ShareValue", ErrShared)
		}
		if seen[s.shared] {
			return fmt.Errorf("%w: %s belongs to the host, to each generation, or is shared twice", ErrShared, s.shared)
		}
		seen[s.shared] = true
	}
	return nil
}
