package kerneltest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/tool"
)

// Kernel is a kernel under test.
type Kernel struct {
	*kernel.Kernel
	Model    *Model           // nil without a Script
	Operator *Operator        // nil without Answers
	Plugins  *plugins.Runtime // nil without plugins

	t      testing.TB
	thread *kernel.Thread
}

// Plugins runs plugins, each in a generation of its own behind its gate, as a host does. All that are switched on have to
// become active: a test about one that does not uses plugins.Module.
func Plugins(list ...plugins.Plugin) fx.Option {
	return fx.Options(plugins.Module(list...), fx.Supply(&allActive{}))
}

// allActive says that plugins which are not active fail the test.
type allActive struct{}

// Tools adds tools of the host: they are trusted and reached without a gate.
func Tools(registrations ...tool.Registration) fx.Option {
	return contrib.Supply[tool.Source](tool.Sources, tool.Fixed("kerneltest", registrations...))
}

// Start starts a kernel, and stops it when the test ends. A kernel that cannot be built fails the test, and so does one of
// [Plugins] that is switched on and not active.
func Start(t testing.TB, opts ...fx.Option) *Kernel {
	t.Helper()
	k := &Kernel{t: t}
	var parts struct {
		fx.In
		Kernel   *kernel.Kernel
		Model    *Model           `optional:"true"`
		Operator *Operator        `optional:"true"`
		Plugins  *plugins.Runtime `optional:"true"`
		Active   *allActive       `optional:"true"`
	}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	app := fxtest.New(t,
		fx.NopLogger,
		kernel.Module,
		fx.Supply(quiet),
		fx.Options(opts...),
		fx.Populate(&parts),
	)
	app.RequireStart()
	t.Cleanup(app.RequireStop)
	k.Kernel, k.Model, k.Operator, k.Plugins = parts.Kernel, parts.Model, parts.Operator, parts.Plugins
	if k.Plugins != nil && parts.Active != nil {
		for _, p := range k.Plugins.Snapshot().Plugins {
			if p.Enabled && p.State != plugins.Active {
				t.Fatalf("kerneltest: the plugin %s is %s: %s", p.ID, p.State, blockers(p))
			}
		}
	}
	return k
}

// blockers says why a plugin is not active.
func blockers(p plugins.Status) string {
	var out []string
	for _, b := range p.Blockers {
		out = append(out, fmt.Sprintf("%s: %s %v", b.Code, b.Text, b.Params))
	}
	return strings.Join(out, "; ")
}

// NewThread makes a thread in a fresh workspace, with the approval mode full unless o names another one.
func (k *Kernel) NewThread(o kernel.Options) *kernel.Thread {
	k.t.Helper()
	if o.Workspace == "" {
		o.Workspace = k.t.TempDir()
	}
	if o.Approval == "" {
		o.Approval = kernel.ApprovalFull
	}
	th, err := k.Create(k.t.Context(), o)
	if err != nil {
		k.t.Fatalf("kerneltest: create a thread: %v", err)
	}
	return th
}

// Thread returns the thread that Run uses: it is made at the first call, in a fresh workspace, with approval mode full.
func (k *Kernel) Thread() *kernel.Thread {
	k.t.Helper()
	if k.thread == nil {
		k.thread = k.NewThread(kernel.Options{})
	}
	return k.thread
}

// Run runs one turn on the thread of [Kernel.Thread] and returns all that it did.
func (k *Kernel) Run(text string) Turn {
	k.t.Helper()
	return k.RunInput(k.t.Context(), kernel.Input{Text: text})
}

// RunInput is Run with a context and a whole input.
func (k *Kernel) RunInput(ctx context.Context, in kernel.Input) Turn {
	k.t.Helper()
	return k.RunOn(ctx, k.Thread(), in)
}

// RunOn is RunInput on a thread of the test's own.
func (k *Kernel) RunOn(ctx context.Context, th *kernel.Thread, in kernel.Input) Turn {
	k.t.Helper()
	turn := th.Start(ctx, in)
	var out Turn
	for e := range turn.Events() {
		out.Events = append(out.Events, e)
	}
	var err error
	if out.Result, err = turn.Wait(); err != nil {
		k.t.Fatalf("kerneltest: run a turn: %v", err)
	}
	return out
}

// Turn is a turn that has ended.
type Turn struct {
	Events []kernel.Event
	Result kernel.Result
}

// Calls returns how each call ended, in order.
func (t Turn) Calls() []kernel.CallEnded { return All[kernel.CallEnded](t) }

// Notes returns what the operator was told.
func (t Turn) Notes() []kernel.Noted { return All[kernel.Noted](t) }

// All returns the events of one type, in order.
func All[E kernel.Event](t Turn) []E {
	var out []E
	for _, e := range t.Events {
		if e, ok := e.(E); ok {
			out = append(out, e)
		}
	}
	return out
}
