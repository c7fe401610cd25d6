// Embed is a program that uses the kernel as a library: it builds an fx app of the kernel and the parts that it wants, runs
// one turn, and ranges over its events.
//
//	go run ./examples/embed
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/cmd/stock"
	"github.com/crystalkernel/crystal/examples/twoplugins/reviewcore"
	"github.com/crystalkernel/crystal/kernel"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	workspace, err := os.MkdirTemp("", "embed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(workspace)
	if err := os.WriteFile(filepath.Join(workspace, "notes.txt"), []byte("buy milk\n"), 0o600); err != nil {
		return err
	}

	var k *kernel.Kernel
	app := fx.New(fx.NopLogger,
		kernel.Module,              // threads, turns, dispatch; everything in memory
		stock.Offline, stock.Tools, // a model without a network, and the built-in tools
		reviewcore.Plugin.AsModule(), // a plugin as a trusted module of this program
		fx.Populate(&k),
	)
	if err := app.Start(ctx); err != nil {
		return err
	}
	defer app.Stop(ctx)

	thread, err := k.Create(ctx, kernel.Options{Workspace: workspace})
	if err != nil {
		return err
	}
	turn := thread.Start(ctx, kernel.Input{Text: "read notes.txt"})
	for e := range turn.Events() {
		switch e := e.(type) {
		case kernel.CallStarted:
			fmt.Println("running", e.Name)
		case kernel.CallEnded:
			fmt.Println(e.Name, e.Status)
		case kernel.TextDelta:
			fmt.Print(e.Text)
		}
	}
	result, err := turn.Wait()
	fmt.Println()
	fmt.Println(result.Stop)
	return err
}
