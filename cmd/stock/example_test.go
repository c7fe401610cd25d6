package stock_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/cmd/stock"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/points/generator"
)

// A program of its own runs one turn on the offline model.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello\n"), 0o600); err != nil {
		panic(err)
	}
	var k *kernel.Kernel
	app := fx.New(kernel.Module, stock.Host, fx.Populate(&k), fx.NopLogger)
	ctx := context.Background()
	if err := app.Start(ctx); err != nil {
		panic(err)
	}
	defer app.Stop(ctx)
	thread, err := k.Create(ctx, kernel.Options{Workspace: dir, Model: "offline/rules"})
	if err != nil {
		panic(err)
	}
	result, err := thread.Run(ctx, kernel.Input{Text: "list"}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Stop, result.ToolCalls)
	fmt.Println(result.Text)
	// Output:
	// completed 1
	// Done.
	// list: ok
	//   a.txt
}

// A holder of a generator sees whichever has authority at each request: here the built-in one.
func Example_welcome() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	var k *kernel.Kernel
	app := fx.New(kernel.Module, stock.Host, fx.Populate(&k), fx.NopLogger)
	ctx := context.Background()
	if err := app.Start(ctx); err != nil {
		panic(err)
	}
	defer app.Stop(ctx)
	list, err := generator.CurrentWelcome(k.Registry()).Suggest(ctx, generator.WelcomeRequest{Workspace: dir})
	if err != nil {
		panic(err)
	}
	fmt.Println(list[0].Text)
	// Output: Start a project here: say what it should do
}
