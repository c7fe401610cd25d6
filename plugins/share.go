package plugins

import "go.uber.org/fx"

// Shared is one value of the host that generations may ask for by its type. Make it with [ShareValue] or [Share].
type Shared struct {
	name   string
	option fx.Option
	err    error
}

// Share names a type of the host's graph that generations may ask for. It is an option of the host's own fx app, beside
// [Module]. A generation never closes a shared value. Sharing what would open the host itself (the registry, the fx app
// or its lifecycle and shutdowner, the runtime) fails the build of the app.
func Share[T any]() fx.Option {
	return fx.Provide(fx.Annotate(ShareValue[T], fx.ResultTags(`group:"crystal.plugins.shared"`)))
}

// ShareValue is [Share] for a host that makes its runtime with [New].
func ShareValue[T any](value T) Shared { panic("stub") }
