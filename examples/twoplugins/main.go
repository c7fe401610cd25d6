// Twoplugins runs two plugins, one of which uses a typed service of the other, and switches the provider off and on: its
// consumer stops before it and comes back after it, and the slash command of the consumer goes and comes with it.
//
//	go run ./examples/twoplugins
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/cmd/stock"
	"github.com/crystalkernel/crystal/examples/twoplugins/reviewcore"
	"github.com/crystalkernel/crystal/examples/twoplugins/reviewui"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/plugins"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "twoplugins:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var k *kernel.Kernel
	var running *plugins.Runtime
	app := fx.New(fx.NopLogger, kernel.Module, stock.Offline, fx.Replace(kernel.Config{Logger: slog.New(slog.DiscardHandler)}),
		plugins.Module(reviewui.Plugin, reviewcore.Plugin), fx.Populate(&k, &running))
	if err := app.Start(ctx); err != nil {
		return err
	}
	defer app.Stop(ctx)
	thread, err := k.Create(ctx, kernel.Options{Approval: kernel.ApprovalFull})
	if err != nil {
		return err
	}

	states(running)
	turn, err := thread.Run(ctx, kernel.Input{Text: `use review__add {"text":"the parser change"}`}, nil)
	if err != nil {
		return err
	}
	fmt.Println(turn.Text)
	triage(ctx, k)

	for _, on := range []bool{false, true} {
		if _, err := running.SetEnabled(ctx, reviewcore.ID, on, plugins.ScopeProcess); err != nil {
			return err
		}
		states(running)
		triage(ctx, k)
	}
	return nil
}

// triage shows what the consumer's command expands to now.
func triage(ctx context.Context, k *kernel.Kernel) {
	text, _, err := k.Expand(ctx, nil, "/triage")
	switch {
	case errors.Is(err, kernel.ErrUnknownCommand):
		fmt.Println("/triage: nobody answers")
	case err != nil:
		fmt.Println("/triage:", err)
	default:
		fmt.Println("/triage:", text)
	}
}

func states(running *plugins.Runtime) {
	for _, p := range running.Snapshot().Plugins {
		line := fmt.Sprintf("%s %s: not active", p.ID, p.Version)
		if p.State == plugins.Active {
			line = fmt.Sprintf("%s %s: active", p.ID, p.Version)
		}
		for _, b := range p.Blockers {
			line += fmt.Sprintf(" (%s %v)", b.Code, b.Params["reason"])
		}
		fmt.Println(line)
	}
}
