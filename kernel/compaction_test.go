package kernel_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	points "github.com/crystalkernel/crystal/points/compaction"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/tool"
)

func window(tokens int) model.ClientRequest { return model.ClientRequest{ContextWindow: tokens} }

// FIELD-A13
func TestSummaryRequestRunsNoTools(t *testing.T) {
	var ran atomic.Int32
	summary := call("bash", `{"command":"touch pwned"}`)
	summary.Text = "Short."
	k := kerneltest.Start(t, kerneltest.Script(say("1"), say("2"), summary), kerneltest.Tools(bash(&ran)))
	k.Run("one")
	k.Run("two")
	var events []kernel.Event
	outcome, err := k.Thread().Compact(t.Context(), "mind the gap", func(e kernel.Event) { events = append(events, e) })
	require.NoError(t, err)
	assert.Equal(t, compaction.Applied, outcome.Result)
	assert.Zero(t, ran.Load())
	assert.Empty(t, last(k).Tools)
	assert.Contains(t, last(k).Items[0].Text, "mind the gap")
	assert.Equal(t, model.Compaction, last(k).Purpose)
	assert.Empty(t, stored[*threadlog.Call](t, k, k.Thread()))
	stored := stored[*threadlog.Compaction](t, k, k.Thread())
	require.Len(t, stored, 1)
	assert.Equal(t, "## Earlier context\nShort.", stored[0].Summary.Text)
	require.Len(t, events, 1)
	assert.Equal(t, "manual", events[0].(kernel.Compacted).Reason)
}

func TestNothingEarlierToCompact(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(say("1")))
	k.Run("one")
	outcome, err := k.Thread().Compact(t.Context(), "", nil)
	require.NoError(t, err)
	assert.Equal(t, compaction.Nothing, outcome.Result)
	assert.Len(t, k.Model.Requests(), 1)
}

func TestCompactionByHandIsRefusedDuringATurn(t *testing.T) {
	began := make(chan struct{}, 1)
	k := kerneltest.Start(t, kerneltest.Script(call("sleep", `{}`)), kerneltest.Tools(sleeper(began)))
	th := k.Thread()
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		_, err := th.Run(ctx, kernel.Input{Text: "go"}, nil)
		assert.NoError(t, err)
	})
	<-began
	_, err := th.Compact(t.Context(), "", nil)
	require.ErrorIs(t, err, kernel.ErrBusy)
	cancel()
	done.Wait()
}

// FIELD-R1
func TestWhatDoesNotFitDoesNotLoop(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.ScriptOf(window(4096)), kerneltest.Plugins(plugin("acme.p", assembled(strings.Repeat("word ", 4000)))))
	turn := k.Run("hello there")
	assert.Empty(t, k.Model.Requests())
	assert.Equal(t, kernel.ContextOverflow, turn.Result.Stop)
	message := kerneltest.All[kernel.Failure](turn)[0].Message
	assert.Contains(t, message, "the system text with about 5000 tokens")
	assert.Contains(t, message, "item i1 (user message)")
}

// FIELD-R3: without usage the count goes on from the last one that is known.
func TestGrowthWithoutUsageIsSeen(t *testing.T) {
	big := reading("big", func(context.Context, tool.Invocation) (tool.Result, error) {
		return tool.Text(strings.Repeat("abcd", 6000)), nil
	})
	first := call("big", `{"n":1}`)
	first.Usage = &model.Usage{Input: 69_900, Output: 100}
	k := kerneltest.Start(t, kerneltest.ScriptOf(window(100_000),
		say(strings.Repeat("word ", 16_000)), first, call("big", `{"n":2}`), say("the summary"), say("done")), kerneltest.Tools(big))
	k.Run("one")
	turn := k.Run("two")
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
	var purposes []model.Purpose
	for _, r := range k.Model.Requests() {
		purposes = append(purposes, r.Purpose)
	}
	// 70,000 and one result of 6,000 are under the limit of 80,000; with two they are over it.
	assert.Equal(t, []model.Purpose{model.Work, model.Work, model.Work, model.Compaction, model.Work}, purposes)
}

// FIELD-R8: one compaction and one more attempt.
func TestOverflowIsAnsweredByOneCompaction(t *testing.T) {
	tooLong := kerneltest.Step{Err: &model.Error{Code: model.CodeContextOverflow, Kind: model.KindOverflow, Overflow: true}}
	purposes := func(k *kerneltest.Kernel) (out []model.Purpose) {
		for _, r := range k.Model.Requests()[1:] {
			out = append(out, r.Purpose)
		}
		return out
	}
	t.Run("the second attempt succeeds", func(t *testing.T) {
		k := kerneltest.Start(t, kerneltest.Script(say(strings.Repeat("long ", 20_000)), tooLong, say("summary"), say("fine")))
		k.Run("one")
		turn := k.Run("two")
		assert.Equal(t, kernel.Completed, turn.Result.Stop)
		assert.Equal(t, "fine", turn.Result.Text)
		assert.Equal(t, []model.Purpose{model.Work, model.Compaction, model.Work}, purposes(k))
		require.Len(t, kerneltest.All[kernel.Compacted](turn), 1)
		assert.Equal(t, "overflow", kerneltest.All[kernel.Compacted](turn)[0].Reason)
	})
	t.Run("the second attempt is refused too", func(t *testing.T) {
		k := kerneltest.Start(t, kerneltest.Script(say(strings.Repeat("long ", 20_000)), tooLong, say("summary"), tooLong, say("never")))
		k.Run("one")
		turn := k.Run("two")
		assert.Equal(t, kernel.ContextOverflow, turn.Result.Stop)
		assert.Equal(t, []model.Purpose{model.Work, model.Compaction, model.Work}, purposes(k))
	})
	t.Run("compaction is off", func(t *testing.T) {
		k := kerneltest.Start(t, kerneltest.Script(say("1"), tooLong), fx.Decorate(func(c kernel.Config) kernel.Config {
			c.NoCompaction = true
			return c
		}))
		k.Run("one")
		assert.Equal(t, kernel.ContextOverflow, k.Run("two").Result.Stop)
		assert.Equal(t, []model.Purpose{model.Work}, purposes(k))
	})
}

// FIELD-R9
func TestInputWaitsForACompactionInItsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		k := kerneltest.Start(t, kerneltest.Script(say("1"), say("2"), kerneltest.Step{Text: "summary", Before: func(context.Context, *model.Request) error {
			<-release
			return nil
		}}))
		k.Run("one")
		k.Run("two")
		th := k.Thread()
		var done sync.WaitGroup
		done.Go(func() {
			_, err := th.Compact(t.Context(), "", nil)
			assert.NoError(t, err)
		})
		synctest.Wait()
		for _, text := range []string{"a", "b"} {
			done.Go(func() {
				_, err := th.Run(t.Context(), kernel.Input{Text: text}, nil)
				assert.NoError(t, err)
			})
			synctest.Wait()
		}
		close(release)
		done.Wait()
		turns := stored[*threadlog.Turn](t, k, th)
		require.Len(t, turns, 4)
		assert.Equal(t, "a", turns[2].Item.Text)
		assert.Equal(t, "b", turns[3].Item.Text)
	})
}

// Due after a turn: nothing but the summary request is sent, and the next turn begins with the summary.
func TestCompactionAfterATurn(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.ScriptOf(window(40_000),
		say(strings.Repeat("word ", 5000)), kerneltest.Step{Text: "short", Usage: &model.Usage{Input: 39_000, Output: 10}}, say("the summary"), say("next")))
	k.Run("one")
	turn := k.Run("two")
	require.Len(t, k.Model.Requests(), 3)
	assert.Equal(t, model.Compaction, last(k).Purpose)
	n := len(turn.Events)
	assert.Equal(t, "compacted", turn.Events[n-2].Type())
	assert.Equal(t, "turn_ended", turn.Events[n-1].Type())
	var kinds []string
	for _, r := range records(t, k, k.Thread()) {
		kinds = append(kinds, r.Kind())
	}
	assert.Equal(t, []string{"turn_end", "compaction"}, kinds[len(kinds)-2:])
	k.Run("three")
	assert.Equal(t, "system: ## Earlier context\nthe summary", texts(last(k).Items)[0])
}

// FIELD-R11, POINT-6 in part
func TestFailingSummariserChangesNothing(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(say("1"), say("2")), kerneltest.Plugins(plugin("acme.p",
		contrib.Supply[points.Summarizer](points.Summarizers, points.SummarizerFunc(func(context.Context, points.Request) (*points.Summary, error) {
			return nil, errors.New("secret-123")
		}), contrib.ReplaceTarget(points.LocalSummary)))))
	k.Run("one")
	k.Run("two")
	before := k.Thread().Log().Items()
	var events []kernel.Event
	outcome, err := k.Thread().Compact(t.Context(), "", func(e kernel.Event) { events = append(events, e) })
	require.NoError(t, err)
	assert.Equal(t, compaction.Exhausted, outcome.Result)
	assert.Equal(t, before, k.Thread().Log().Items())
	require.Len(t, events, 1)
	assert.Equal(t, compaction.CompactionFailed, events[0].(kernel.Noted).Code)
	assert.False(t, contains(t, events, "secret-123"))
}

// The prompt of a summary request has placeholders and raw hooks, and no appending prompt hook.
func TestPromptOfASummaryRequest(t *testing.T) {
	var modes []string
	k := kerneltest.Start(t, kerneltest.Script(say("{{mode}} stays"), say("2"), say("summary")), kerneltest.Plugins(plugin("acme.p",
		addition(func(string) (string, error) { return "APPENDED", nil }),
		contrib.Supply[rawhook.RewritePrompt](rawhook.RewritePrompts, rawhook.RewritePromptFunc(func(_ context.Context, i hook.PromptInfo, text string) (*string, error) {
			modes = append(modes, i.Mode)
			if i.Mode != "compaction" {
				return nil, nil
			}
			text += "\nRAW"
			return &text, nil
		})),
		contrib.Supply[hook.Compaction](hook.Compactions, hook.CompactionFunc(func(_ context.Context, _ hook.Scope, p hook.Phase, _ string) (string, error) {
			return "add to " + string(p), nil
		})))))
	k.Run("one")
	k.Run("two")
	_, err := k.Thread().Compact(t.Context(), "", nil)
	require.NoError(t, err)
	r := last(k)
	assert.Equal(t, []string{"work", "work", "work", "compaction"}, modes)
	assert.True(t, strings.HasSuffix(r.System, "\nRAW"))
	assert.NotContains(t, r.System, "APPENDED")
	assert.NotContains(t, r.System, "{{env}}")
	assert.Contains(t, r.System, "Workspace: ")
	assert.Contains(t, r.Items[0].Text, "{{mode}} stays", "what is inside the conversation is not expanded")
	assert.True(t, strings.HasSuffix(r.Items[0].Text, "\n\nadd to prompt"))
	assert.Equal(t, "## Earlier context\nsummary\n\nadd to summary", k.Thread().Log().Summary().Text)
}

// FIELD-R7
func TestSummariesDoNotPileUp(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(say("0")))
	k.Run("turn 0")
	for i := range 5 {
		n := string(rune('1' + i))
		k.Model.Then(say(n), say("summary "+n))
		k.Run("turn " + n)
		_, err := k.Thread().Compact(t.Context(), "", nil)
		require.NoError(t, err)
		body := last(k).Items[0].Text
		if i > 0 {
			assert.Equal(t, 1, strings.Count(body, "summary "+string(rune('0'+i))), body)
			assert.Equal(t, 1, strings.Count(body, "<conversation>"))
		}
	}
	k.Run("after")
	summaries := 0
	for _, it := range last(k).Items {
		if it.Role == model.System {
			summaries++
		}
	}
	assert.Equal(t, 1, summaries)
}
