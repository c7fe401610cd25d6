package generations_test

import (
	"context"
	"fmt"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

// Greeter is a contract, and greeterGuard the proxy that stands for a plugin's Greeter.
type Greeter interface {
	Greet(ctx context.Context, name string) (string, error)
}

type english struct{}

func (english) Greet(_ context.Context, name string) (string, error) { return "Hello, " + name, nil }

type greeterGuard struct{ ref *generations.Ref[Greeter] }

func (g greeterGuard) Greet(ctx context.Context, name string) (string, error) {
	return generations.CallHere(ctx, g.ref, func(ctx context.Context, v Greeter) (string, error) {
		return v.Greet(ctx, name)
	})
}

var greeters = contrib.Define(contrib.Spec[Greeter]{
	Name: "example.greeter", Doc: "Greets.", Tiers: contrib.TierA, Scopes: contrib.WorkspaceOnly,
	Evaluation: contrib.PerCall, Failure: contrib.Skip,
	Guard: func(v Greeter, _ any, ref contrib.Ref) Greeter { return greeterGuard{generations.Bind(ref, v)} },
})

func ExampleActivate() {
	registry, err := contrib.New(greeters)
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := generations.Activate(context.Background(), generations.Config{
		Plugin: "acme.greeter", ID: "g1", Registry: registry,
		Build: func(_ context.Context, s *generations.Scope) (generations.App, error) {
			_, err := greeters.Add(s.Registrar, Greeter(english{}))
			return nil, err
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	greeter := greeters.In(registry.View(), "")[0]
	fmt.Println(greeter.Greet(context.Background(), "Ada"))

	<-g.Stop(contrib.StopOperator).Done()
	_, err = greeter.Greet(context.Background(), "Ada")
	fmt.Println(err)
	fmt.Println(len(greeters.In(registry.View(), "")))
	// Output:
	// Hello, Ada <nil>
	// contrib: unavailable
	// 0
}
