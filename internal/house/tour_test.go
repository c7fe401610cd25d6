package house_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/generators"
	"github.com/crystalkernel/crystal/internal/modelaccess"
	"github.com/crystalkernel/crystal/internal/statusline"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/generator"
	"github.com/crystalkernel/crystal/points/host"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
	"github.com/crystalkernel/crystal/points/tool"
)

// tour is a host that is taken past every point: two threads with turns of every kind, commands, a compaction, a fork, a
// deletion, and what there is beside turns.
type tour struct {
	t     *testing.T
	k     *kerneltest.Kernel
	model *kerneltest.Model
	line  *statusline.Store

	failed []string          // what did not come to a good end, in order
	codes  map[string]string // of the calls of the main agent that failed
	prompt string            // the last system text
}

// start starts a host with plugins.
func (w *tour) start(t *testing.T, list ...plugins.Plugin) {
	t.Helper()
	w.t, w.model, w.codes = t, &kerneltest.Model{}, map[string]string{}
	w.k = kerneltest.Start(t,
		contrib.Supply[model.ClientFactory](model.Protocols, w),
		fx.Decorate(func(kernel.Models) kernel.Models {
			return kernel.ModelsFunc(func(_ context.Context, ref string) (model.ClientRequest, error) {
				r := model.ClientRequest{Protocol: "house", Provider: "house", Model: "m", ContextWindow: 1 << 20}
				if ref == "probe/m" {
					r.Protocol, r.Provider = "probe", "probe"
				}
				return r, nil
			})
		}),
		kerneltest.Tools(changing("change", "changed"), changing("large", strings.Repeat("y", 90_000))),
		kerneltest.Answers(approval.Once, approval.Once, approval.Once, approval.Once, approval.Once),
		contrib.Supply(prompt.Sections, prompt.SectionFunc("template", func(context.Context, prompt.Context) (string, error) {
			return "bound: {{probe}}", nil
		})),
		kernel.Subagents, modelaccess.Module, generators.Module, statusline.Module, fx.Populate(&w.line),
		kerneltest.Plugins(list...))
}

func (w *tour) CanCreate(protocol string) bool { return protocol == "house" }
func (w *tour) Create(context.Context, model.ClientRequest) (model.Client, error) {
	return w.model, nil
}

func (w *tour) CreateMultimodal(context.Context, model.ClientRequest) (model.Client, error) {
	return nil, nil
}

// changing is a tool that has to be approved.
func changing(name, answer string) tool.Registration {
	return tool.Registration{
		Definition: tool.Definition{
			ID: name, Name: name, Description: "A tool of a test.", Catalogs: tool.CatalogBoth, Hints: &tool.Hints{},
			InputSchema: json.RawMessage(`{"type":"object"}`),
		},
		Binding: tool.Binding{Runtime: tool.RuntimeFunc(func(context.Context, tool.Invocation) (tool.Result, error) { return tool.Text(answer), nil })},
	}
}

// done writes down an operation that failed.
func (w *tour) done(what string, err error) {
	if err != nil {
		w.failed = append(w.failed, what)
	}
}

// calls is a step of the model.
func calls(names ...string) kerneltest.Step {
	var s kerneltest.Step
	for _, n := range names {
		s.Calls = append(s.Calls, kerneltest.Call{Name: n, Arguments: `{}`})
	}
	return s
}

// turn runs one turn.
func (w *tour) turn(what string, th *kernel.Thread, in kernel.Input, steps ...kerneltest.Step) {
	w.model.Then(steps...)
	r, err := th.Run(w.t.Context(), in, func(e kernel.Event) {
		if e, ok := e.(kernel.CallEnded); ok && e.Code != "" {
			w.codes[e.Name] = e.Code
		}
	})
	w.done(what, err)
	if err == nil && r.Stop != kernel.Completed {
		w.failed = append(w.failed, what)
	}
}

// run takes the host past every point. It is called inside a bubble of synctest.
func (w *tour) run() {
	ctx, k := w.t.Context(), w.k
	_, err := k.Attach(ctx, host.Environment{Skills: []host.Skill{{Name: "s"}}})
	w.done("attach", err)
	th, err := k.Create(ctx, kernel.Options{Workspace: w.t.TempDir(), Approval: kernel.ApprovalDefault})
	require.NoError(w.t, err)

	w.turn("turn", th, kernel.Input{Text: "one"}, calls("change", "probed"), calls("large", "large", "large"),
		kerneltest.Step{Calls: []kerneltest.Call{{Name: "task", Arguments: `{"profile":"probe","task":"x"}`}}}, kerneltest.Step{Text: "done"})
	if last, ok := th.Log().System(kernel.ModeWork); ok {
		w.prompt = last
	}
	w.turn("turn", th, kernel.Input{Text: "two"}, kerneltest.Step{Text: "done"})
	w.turn("turn", th, kernel.Input{Text: "three"}, kerneltest.Step{Text: "done"})

	_, _, err = k.Expand(ctx, th, "/probe")
	w.done("command", err)
	_, _, err = k.Execute(ctx, th, "/act", func(n kernel.Noted) {
		if n.Severity != contrib.Info {
			w.failed = append(w.failed, "action")
		}
	})
	w.done("action", err)
	w.turn("turn of another protocol", th, kernel.Input{Text: "four", Model: "probe/m"})

	w.model.Then(kerneltest.Step{Text: "a summary"})
	outcome, err := th.Compact(ctx, "", nil)
	w.done("compaction", err)
	w.done("compaction", outcome.Failure)

	w.model.Then(kerneltest.Step{Text: "a title"})
	_, err = generator.CurrentCommitMessage(k.Registry()).Suggest(ctx, generator.CommitRequest{Diff: "+x"})
	w.done("commit message", err)
	_, err = generator.CurrentWelcome(k.Registry()).Suggest(ctx, generator.WelcomeRequest{Workspace: th.Workspace()})
	w.done("welcome", err)

	child, err := k.Fork(ctx, th.ID(), "")
	w.done("fork", err)
	w.done("close", th.Close(ctx))
	again, err := k.Open(ctx, child, kernel.Options{})
	w.done("resume", err)
	if err == nil {
		w.done("close", again.Close(ctx))
	}
	w.done("delete", k.Delete(ctx, child))
	<-time.After(time.Minute) // what is pumped has arrived, or passed its deadline
	synctest.Wait()
}
