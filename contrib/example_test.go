package contrib_test

import (
	"fmt"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
)

// Greeter is the contract of a point.
type Greeter interface{ Greet() string }

type hello string

func (h hello) Greet() string { return string(h) }

// Greeters is declared once, at package level.
var Greeters = contrib.Define(contrib.Spec[Greeter]{
	Name: "demo.greeter", Doc: "Says hello.",
	Tiers: contrib.TierA | contrib.TierB, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip,
	Targets: []contrib.Target{{Name: "default", Doc: "The greeting of the house."}},
})

func greetings(r *contrib.Registry, thread contrib.ThreadID) (out []string) {
	for _, g := range Greeters.In(r.View(), thread) {
		out = append(out, g.Greet())
	}
	return out
}

func Example() {
	registry, err := contrib.New(Greeters)
	if err != nil {
		fmt.Println(err)
		return
	}
	house := registry.Builtin()
	_, _ = Greeters.Add(house, hello("good day"), contrib.Named("default"))
	_, _ = Greeters.Add(house, hello("and welcome"), contrib.Order(10))
	fmt.Println(greetings(registry, ""))

	better, _ := Greeters.Add(house, hello("ahoy"), contrib.ReplaceTarget("default"))
	fmt.Println(greetings(registry, ""))

	better.Revoke()
	fmt.Println(greetings(registry, ""))
	// Output:
	// [good day and welcome]
	// [ahoy and welcome]
	// [good day and welcome]
}

func ExampleInThread() {
	registry, _ := contrib.New(Greeters)
	_, _ = Greeters.Add(registry.Builtin(), hello("good day"))
	_, _ = Greeters.Add(registry.Builtin(), hello("again"), contrib.InThread("thread-1"))
	fmt.Println(greetings(registry, "thread-1"), greetings(registry, "thread-2"))
	// Output: [good day again] [good day]
}

func ExampleRegistry_Batch() {
	registry, _ := contrib.New(Greeters)
	old, _ := Greeters.Add(registry.Builtin(), hello("good day"))
	registry.Subscribe("example", func(e contrib.Event) {
		fmt.Println("version", e.Version, greetings(registry, ""))
	})
	err := registry.Batch(func(b *contrib.Batch) error {
		b.Revoke(old)
		_, err := Greeters.Add(b.With(registry.Builtin()), hello("ahoy"))
		return err
	})
	fmt.Println(err)
	// Output:
	// version 2 [ahoy]
	// <nil>
}

func ExampleProvide() {
	registry, _ := contrib.New(Greeters)
	app := fx.New(
		fx.NopLogger,
		fx.Supply(registry, registry.Builtin(), "Ada"),
		contrib.Provide(Greeters, func(name string) Greeter { return hello("hello, " + name) }),
		contrib.InModule("sea", contrib.Supply(Greeters, Greeter(hello("ahoy")))),
	)
	fmt.Println(app.Err())
	for _, e := range Greeters.Entries(registry.View(), "") {
		fmt.Println(e.Origin, e.Value.Greet())
	}
	// Output:
	// <nil>
	// module:sea ahoy
	// builtin hello, Ada
}
