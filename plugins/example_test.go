package plugins_test

import (
	"context"
	"fmt"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/plugins"
)

func ExampleRuntime() {
	registry, _ := contrib.New(greeters)
	hello := plugins.Plugin{
		ID: "acme.hello", Version: "1.0.0",
		Module: fx.Options(
			fx.Provide(func() string { return "hello" }),
			contrib.Provide(greeters, func(text string) Greeter {
				return greeterFunc(func(context.Context) (string, error) { return text, nil })
			}),
		),
	}
	ctx := context.Background()
	r, _ := plugins.New(registry, plugins.Options{HostVersion: "1.0.0"}, hello)
	_ = r.Start(ctx)
	guard := greeters.In(registry.View(), "")[0]
	fmt.Println(guard.Greet(ctx))

	result, _ := r.SetEnabled(ctx, "acme.hello", false, plugins.ScopeProcess)
	_, err := guard.Greet(ctx)
	fmt.Println(result.Outcome, err)
	_ = r.Shutdown(ctx)
	// Output:
	// hello <nil>
	// applied contrib: unavailable
}

func ExamplePlugin_AsModule() {
	registry, _ := contrib.New(greeters)
	hello := plugins.Plugin{
		ID: "acme.hello", Version: "1.0.0",
		Module: contrib.Provide(greeters, func(f plugins.Facts) Greeter {
			return greeterFunc(func(context.Context) (string, error) { return "hello from a " + f.Generation, nil })
		}),
	}
	app := fx.New(fx.NopLogger, fx.Supply(registry, registry.Builtin()), hello.AsModule())
	fmt.Println(app.Err())
	fmt.Println(greeters.In(registry.View(), "")[0].Greet(context.Background()))
	// Output:
	// <nil>
	// hello from a module <nil>
}
