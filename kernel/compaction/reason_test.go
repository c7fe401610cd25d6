package compaction_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	points "github.com/crystalkernel/crystal/points/compaction"
	"github.com/crystalkernel/crystal/points/model"
)

func TestAProviderThatFindsTheContextTooLong(t *testing.T) { // FIELD-R8
	b := answers(t, compaction.Settings{Window: 100000}, "short")
	b.in.Reason = compaction.Overflow
	b.user(tokens(20000, "one"))
	b.user("two")
	o := b.run()
	assert.True(t, o.Summarised, "the estimates are wrong: they do not stop it")
	assert.Equal(t, []string{"## Earlier context\nshort", "two"}, b.first())

	b = answers(t, compaction.Settings{Window: 100000}, "short")
	b.in.Reason = compaction.Overflow
	b.user("one")
	b.call("read", tokens(21000, "a"))
	b.call("read", tokens(40000, "b"))
	b.user("two")
	b.user("three")
	b.policy(names{"read": true})
	o = b.run()
	assert.Equal(t, compaction.Applied, o.Result)
	assert.Positive(t, o.Pruned)
	assert.Empty(t, b.requests, "dropping outputs was enough")
}

func TestPruningThatIsNotEnoughIsFollowedByASummary(t *testing.T) {
	b := answers(t, compaction.Settings{Window: 150000}, "")
	b.user(tokens(90000, "one"))
	b.call("read", tokens(21000, "a"))
	b.call("read", tokens(40000, "b"))
	b.user("two")
	b.user("three")
	b.policy(names{"read": true})
	o := b.run()
	assert.Len(t, b.requests, 1)
	require.Error(t, o.Failure)
	assert.Equal(t, compaction.Applied, o.Result, "something was dropped all the same")
	assert.Len(t, b.notes, 1)
}

func TestTheReportedTotalCounts(t *testing.T) {
	b := answers(t, compaction.Settings{Window: 100000}, "short")
	b.in.Load.Reported = 90000
	b.user(tokens(30000, "one"))
	b.user("two")
	assert.True(t, b.run().Summarised)
}

func TestAKeptTailBeginsBeforeItsCalls(t *testing.T) {
	b := answers(t, compaction.Settings{Window: 8000, MaxTokens: 1000}, "unused")
	b.user(tokens(4000, "one"))
	b.call("bash", tokens(3000, "result"))
	b.reply("done")
	b.in.Reason, b.in.Turn = compaction.ByHand, ""
	b.user("two")
	b.summariser(func(_ context.Context, r points.Request) (*points.Summary, error) {
		last := r.Items[len(r.Items)-2:]
		return &points.Summary{Text: "short", Keep: []string{last[0].ID, last[1].ID}}, nil
	})
	require.True(t, b.run().Summarised)
	assert.Equal(t, []string{"## Earlier context\nshort", "{}", "result", "done", "two"}, b.first())
}

func TestAnswersThatAreNoSummary(t *testing.T) {
	for _, finish := range []model.Finish{model.FinishContentFilter, model.FinishContextOverflow, model.FinishOther} {
		b := answers(t, compaction.Settings{Window: 8000, MaxTokens: 1000}, "unused")
		b.in.Client = model.ClientFunc(func(context.Context, *model.Request, func(model.Delta) error) (*model.Response, error) {
			return &model.Response{Finish: finish, Raw: "word", Items: []*model.Item{{Kind: model.Message, Text: "half"}}}, nil
		})
		b.user(tokens(6500, "one"))
		b.user("two")
		o := b.run()
		require.Error(t, o.Failure)
		assert.Contains(t, b.notes[0], "word")
	}
}

func TestThePromptOfAHost(t *testing.T) {
	b := answers(t, compaction.Settings{Window: 8000, MaxTokens: 1000}, "short")
	b.in.Prompt = func(_ context.Context, p compaction.Parts) (system, user string, err error) {
		return "SYSTEM", p.Bind("<<{{conversation}}>>"), nil
	}
	b.user(tokens(6500, "one"))
	b.user("two")
	require.True(t, b.run().Summarised)
	assert.Equal(t, "SYSTEM", b.requests[0].System)
	assert.True(t, strings.HasPrefix(b.requests[0].Items[0].Text, "<<[User]\none"))

	b.in.Prompt = func(context.Context, compaction.Parts) (system, user string, err error) {
		return "", "", assert.AnError
	}
	b.user(tokens(6500, "three"))
	b.user("four")
	require.ErrorIs(t, b.run().Failure, assert.AnError)
}

// TestAnyCompaction compacts any thread in any way: the request stays valid, a failure changes nothing, and the thread reads
// back as it was.
func TestAnyCompaction(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		store := threadlog.Memory()
		l, err := store.Create(t.Context(), threadlog.Header{})
		require.NoError(rt, err)
		size := rapid.SampledFrom([]int{1, 50, 900, 3000, 30000})
		appendTo := func(r threadlog.Record) { require.NoError(rt, l.Append(r)) }
		for range rapid.IntRange(1, 5).Draw(rt, "turns") {
			appendTo(&threadlog.Turn{Item: &model.Item{Kind: model.Message, Role: model.User, Text: tokens(size.Draw(rt, "user"), "")}})
			for range rapid.IntRange(0, 3).Draw(rt, "rounds") {
				round := &threadlog.Round{Items: []*model.Item{{Kind: model.Message, Role: model.Assistant, Text: "x"}}}
				calls := rapid.IntRange(0, 2).Draw(rt, "calls")
				for i := range calls {
					round.Items = append(round.Items, &model.Item{Kind: model.ToolCall, CallID: string(rune('a' + i)), Name: "read"})
				}
				appendTo(round)
				for i := calls - 1; i >= 0; i-- {
					appendTo(&threadlog.Result{Item: &model.Item{
						Kind: model.ToolResult, CallID: string(rune('a' + i)), Status: model.Success,
						Text: tokens(size.Draw(rt, "result"), ""),
					}})
				}
			}
		}
		fails := rapid.Bool().Draw(rt, "fails")
		in := compaction.Inputs{
			Reason: rapid.SampledFrom([]compaction.Reason{compaction.Automatic, compaction.Overflow, compaction.ByHand}).Draw(rt, "reason"),
			Turn:   rapid.SampledFrom([]string{"", "t1"}).Draw(rt, "turn"),
			Log:    l,
			Settings: compaction.Settings{
				Window:    rapid.SampledFrom([]int{0, 2000, 8000, 32000, 200000}).Draw(rt, "window"),
				MaxTokens: rapid.SampledFrom([]int{0, 1000}).Draw(rt, "max"),
			},
			Load: compaction.Load{System: 500, Tools: 500, Items: estimate.Items(l.Items(), estimate.Sends{})},
			Client: model.ClientFunc(func(_ context.Context, r *model.Request, _ func(model.Delta) error) (*model.Response, error) {
				if fails {
					return nil, assert.AnError
				}
				return &model.Response{Items: []*model.Item{{Kind: model.Message, Role: model.Assistant, Text: "summary"}}}, nil
			}),
			Summarizers: func() []contrib.Entry[points.Summarizer] {
				return []contrib.Entry[points.Summarizer]{{Value: points.SummarizerFunc(local)}}
			},
			Policies: func() []contrib.Entry[points.ToolPolicy] {
				return []contrib.Entry[points.ToolPolicy]{{Value: names{"read": true}}}
			},
		}
		before := l.Items()
		o, err := compaction.Run(t.Context(), in)
		require.NoError(rt, err)
		items := l.Items()
		require.Empty(rt, problem(items))
		require.Equal(rt, estimate.Items(items, estimate.Sends{})+1000, o.After)
		require.Equal(rt, o.Summarised, l.Summary() != nil)
		if !o.Summarised && o.Pruned == 0 {
			require.Equal(rt, before, items)
		}
		if o.Failure != nil {
			require.False(rt, o.Summarised)
		}
		if o.Summarised {
			require.LessOrEqual(rt, len(items), len(before))
			require.Same(rt, items[0], l.Summary())
			if in.Turn != "" { // the model has something to answer
				require.True(rt, slices.ContainsFunc(items, func(it *model.Item) bool {
					return it.Kind == model.ToolResult || it.Role == model.User
				}))
			}
		}
		require.NoError(rt, l.Close())
		again, _, err := store.Open(t.Context(), l.ID())
		require.NoError(rt, err)
		require.Equal(rt, len(items), len(again.Items()))
	})
}

// problem says what is wrong with a request.
func problem(items []*model.Item) string {
	open := make(map[string]int)
	for _, it := range items {
		switch it.Kind {
		case model.ToolCall:
			open[it.CallID]++
		case model.ToolResult:
			if open[it.CallID]--; open[it.CallID] < 0 {
				return "a result without a call"
			}
		}
	}
	for _, n := range open {
		if n != 0 {
			return "a call without a result"
		}
	}
	return ""
}
