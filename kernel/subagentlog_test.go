package kernel_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/model"
)

// cutAfter keeps the lines of a thread's file up to the nth that holds a text.
func cutAfter(t *testing.T, home, id, text string, n int) {
	t.Helper()
	path := filepath.Join(home, "threads", id+".jsonl")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var kept strings.Builder
	for line := range strings.Lines(string(data)) {
		kept.WriteString(line)
		if strings.Contains(line, text) {
			if n--; n == 0 {
				break
			}
		}
	}
	require.Zero(t, n)
	require.NoError(t, os.WriteFile(path, []byte(kept.String()), 0o600))
}

// A process that dies in the middle of a subagent leaves calls open: they are closed when the thread is opened again.
func TestOpenCallsOfASubagentAreClosedOnOpen(t *testing.T) {
	for name, c := range map[string]struct {
		after string // the last line that was written holds it
		want  map[string]string
	}{
		"before the tool started": {`"finish":"tool_calls"`, map[string]string{
			"": "The tool had started", "general": "before the tool had started",
		}},
		"while the tool ran": {`"type":"call"`, map[string]string{"": "The tool had started", "general": "The tool had started"}},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			store := fx.Decorate(func(threadlog.Store) threadlog.Store { return threadlog.Disk(home) })
			k, models := play(t, map[string][]kerneltest.Step{"go": {task("general", "do"), say("done")}, "do": {call("look", `{}`), say("did")}},
				store, kerneltest.Tools(reading("look", answering("seen"))))
			th := k.NewThread(kernel.Options{})
			turn := k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
			require.NoError(t, th.Close(t.Context()))
			child := models.of("do")[0].Thread
			cutAfter(t, home, th.ID(), c.after, 2)

			again, models := play(t, map[string][]kerneltest.Step{"go": {say("went on")}}, store)
			th2, err := again.Open(t.Context(), th.ID(), kernel.Options{})
			require.NoError(t, err)
			next := again.RunOn(t.Context(), th2, kernel.Input{Text: "on"})
			assert.Equal(t, "ThreadRepaired", next.Notes()[0].Code)
			closed := stored[*threadlog.Result](t, again, th2)
			require.Len(t, closed, 2)
			for i, agent := range []string{"", "general"} {
				r := closed[i]
				assert.Equal(t, "tool_interrupted", r.Code)
				assert.Contains(t, r.Item.Text, c.want[agent])
				if agent == "" {
					assert.Empty(t, r.Agent)
					continue
				}
				assert.Equal(t, child, r.Agent)
				assert.Equal(t, callsOf(turn, "general")[0].CallID, r.CallID)
				if c.after == `"type":"call"` {
					assert.Equal(t, callsOf(turn, "")[0].CallID, r.ParentCallID)
				}
			}
			end := stored[*threadlog.TurnEnd](t, again, th2)[0]
			assert.Equal(t, "interrupted", end.Stop)
			assert.Equal(t, 2, end.ModelCalls, "that of the subagent too")
			require.Len(t, models.of("go"), 1)
			assert.Len(t, models.of("go")[0].Items, 4, "message, call, result, message")
		})
	}
}

// What a thread asks a model does not depend on whether it was closed since a subagent ran, and holds nothing of it.
func TestRequestsAfterASubagentAreTheSameOnceReopened(t *testing.T) {
	home := t.TempDir()
	store := fx.Decorate(func(threadlog.Store) threadlog.Store { return threadlog.Disk(home) })
	parts := func() map[string][]kerneltest.Step {
		return map[string][]kerneltest.Step{
			"go": {{Text: "well", Calls: []kerneltest.Call{
				{Name: "task", Arguments: `{"profile":"general","task":"do"}`}, {Name: "look", Arguments: `{}`},
			}}, say("done"), say("next")},
			"do": {{Text: "hidden", Calls: []kerneltest.Call{{Name: "look", Arguments: `{"hidden":true}`}}}, say("did")},
		}
	}
	tools := kerneltest.Tools(reading("look", answering("seen")))
	k, live := play(t, parts(), store, tools)
	th := k.NewThread(kernel.Options{})
	k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	k.RunOn(t.Context(), th, kernel.Input{Text: "on"})
	require.NoError(t, th.Close(t.Context()))
	cutAfter(t, home, th.ID(), `"turn_end"`, 1)

	again, opened := play(t, map[string][]kerneltest.Step{"go": {say("next")}}, store, tools)
	th2, err := again.Open(t.Context(), th.ID(), kernel.Options{})
	require.NoError(t, err)
	again.RunOn(t.Context(), th2, kernel.Input{Text: "on"})
	want, err := json.Marshal(live.of("go")[2].Items)
	require.NoError(t, err)
	got, err := json.Marshal(opened.of("go")[0].Items)
	require.NoError(t, err)
	assert.JSONEq(t, string(want), string(got))
	assert.NotContains(t, string(want), "hidden")
	assert.Equal(t, live.of("go")[2].System, opened.of("go")[0].System)
}

// The log knows of a call of a subagent before its tool starts.
func TestCallsOfASubagentAreStoredBeforeTheyStart(t *testing.T) {
	var k *kerneltest.Kernel
	var th *kernel.Thread
	var known []string
	k, _ = play(t, map[string][]kerneltest.Step{"go": {task("general", "do"), say("done")}, "do": {call("look", `{}`), say("did")}},
		kerneltest.Tools(reading("look", answering("seen"))),
		contrib.Supply[dispatch.Recorder](dispatch.Recorders, starts(func(dispatch.Call) {
			known = nil
			for _, r := range stored[*threadlog.Call](t, k, th) {
				known = append(known, r.Effective.Name)
			}
		})))
	th = k.NewThread(kernel.Options{})
	k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	assert.Equal(t, []string{"task", "look"}, known)
	for _, r := range stored[*threadlog.Round](t, k, th) {
		for _, it := range r.Items {
			assert.NotEmpty(t, it.ID)
			assert.Contains(t, []model.Kind{model.Message, model.ToolCall}, it.Kind)
		}
	}
}
