package kernel_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// call is a step with one call.
func call(name, arguments string) kerneltest.Step {
	return kerneltest.Step{Calls: []kerneltest.Call{{Name: name, Arguments: arguments}}}
}

// calls is a step with several calls, each given as name and arguments.
func calls(pairs ...string) kerneltest.Step {
	var s kerneltest.Step
	for i := 0; i < len(pairs); i += 2 {
		s.Calls = append(s.Calls, kerneltest.Call{Name: pairs[i], Arguments: pairs[i+1]})
	}
	return s
}

func say(text string) kerneltest.Step { return kerneltest.Step{Text: text} }

// plugin is a plugin whose module is made of options.
func plugin(id string, opts ...fx.Option) plugins.Plugin {
	return plugins.Plugin{ID: id, Version: "1.0.0", Module: fx.Options(opts...)}
}

// reading is a tool that only looks, so that nobody is asked about it.
func reading(name string, run func(ctx context.Context, i tool.Invocation) (tool.Result, error)) tool.Registration {
	return tool.Registration{
		Definition: tool.Definition{
			ID: name, Name: name, Description: "A tool of a test.", Catalogs: tool.CatalogBoth, Hints: &tool.Hints{ReadOnly: true},
			InputSchema: json.RawMessage(`{"type":"object"}`),
		},
		Binding: tool.Binding{Runtime: tool.RuntimeFunc(run)},
	}
}

// writing is a tool that changes something in the workspace.
func writing(name string, run func(ctx context.Context, i tool.Invocation) (tool.Result, error)) tool.Registration {
	r := reading(name, run)
	r.Definition.Hints = &tool.Hints{}
	return r
}

// answering returns a text, whatever it is given.
func answering(text string) func(context.Context, tool.Invocation) (tool.Result, error) {
	return func(context.Context, tool.Invocation) (tool.Result, error) { return tool.Text(text), nil }
}

// files is a tool "read" over a set of files. It writes down what was opened.
type files struct {
	mu     sync.Mutex
	holds  map[string]string
	opened []string
}

func (f *files) tool() tool.Registration {
	r := reading("read", func(_ context.Context, i tool.Invocation) (tool.Result, error) {
		var in struct{ Path string }
		if err := json.Unmarshal(i.Arguments, &in); err != nil {
			return tool.Result{}, err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.opened = append(f.opened, in.Path)
		text, ok := f.holds[in.Path]
		if !ok {
			return tool.Failed("file_missing", "There is no such file."), nil
		}
		return tool.Text(text), nil
	})
	r.Definition.InputSchema = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)
	return r
}

func (f *files) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.opened...)
}

func abc() *files {
	return &files{holds: map[string]string{"a.txt": "A", "b.txt": "B", "c.txt": "C", "a": "A", "b": "B"}}
}

// source is a plugin's source of tools.
func source(registrations ...tool.Registration) fx.Option {
	return contrib.Supply[tool.Source](tool.Sources, tool.SourceFunc("tools", func(context.Context, tool.Planning) ([]tool.Registration, error) {
		return registrations, nil
	}))
}

// records returns the records of a thread in the order of the log.
func records(t testing.TB, k *kerneltest.Kernel, th *kernel.Thread) []threadlog.Record {
	t.Helper()
	p, _, err := k.Threads().Read(t.Context(), th.ID())
	require.NoError(t, err)
	return p.Records()
}

// stored returns the records of one type.
func stored[R threadlog.Record](t testing.TB, k *kerneltest.Kernel, th *kernel.Thread) []R {
	t.Helper()
	var out []R
	for _, r := range records(t, k, th) {
		if r, ok := r.(R); ok {
			out = append(out, r)
		}
	}
	return out
}

// results returns the results in a request, in order.
func results(r *model.Request) []*model.Item {
	var out []*model.Item
	for _, it := range r.Items {
		if it.Kind == model.ToolResult {
			out = append(out, it)
		}
	}
	return out
}

// texts returns the texts of the messages in a request.
func texts(items []*model.Item) []string {
	var out []string
	for _, it := range items {
		if it.Kind == model.Message {
			out = append(out, string(it.Role)+": "+it.Text)
		}
	}
	return out
}

// failures returns the notes about contributions that failed, as label and cause.
func failures(turn kerneltest.Turn) []string {
	var out []string
	for _, n := range turn.Notes() {
		if n.Code == contrib.CodeCallFailed {
			out = append(out, n.Label+" "+n.Params["cause"].(string))
		}
	}
	return out
}

// last returns the last request.
func last(k *kerneltest.Kernel) *model.Request {
	all := k.Model.Requests()
	return all[len(all)-1]
}

// types returns the words of the events about one call, in order.
func types(turn kerneltest.Turn, id string) []string {
	var out []string
	for _, e := range turn.Events {
		var of string
		switch e := e.(type) {
		case kernel.CallPending:
			of = e.CallID
		case kernel.ApprovalAsked:
			of = e.CallID
		case kernel.ApprovalAnswered:
			of = e.CallID
		case kernel.CallStarted:
			of = e.CallID
		case kernel.CallEnded:
			of = e.CallID
		}
		if of == id {
			out = append(out, e.Type())
		}
	}
	return out
}

func contains(t testing.TB, events []kernel.Event, part string) bool {
	t.Helper()
	for _, e := range events {
		data, err := kernel.MarshalEvent(e)
		require.NoError(t, err)
		if strings.Contains(string(data), part) {
			return true
		}
	}
	return false
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
