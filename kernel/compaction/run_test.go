package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	points "github.com/crystalkernel/crystal/points/compaction"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
)

// bench is a thread and the inputs of its next compaction.
type bench struct {
	t        *testing.T
	log      *threadlog.Log
	in       compaction.Inputs
	requests []*model.Request
	notes    []string
	turns    int
}

// answers makes a bench whose model answers summary requests with text; blank text stands for an error of the provider.
func answers(t *testing.T, s compaction.Settings, text string) *bench {
	t.Helper()
	l, err := threadlog.Memory().Create(t.Context(), threadlog.Header{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	b := &bench{t: t, log: l}
	b.in = compaction.Inputs{
		Reason: compaction.Automatic, Thread: l.ID(), Turn: "t1", Log: l, Settings: s, Request: model.Request{Model: "m"},
		Client: model.ClientFunc(func(_ context.Context, r *model.Request, _ func(model.Delta) error) (*model.Response, error) {
			b.requests = append(b.requests, r)
			if text == "" {
				return nil, &model.Error{Code: model.CodeHTTP, Status: 402, Message: "pay first"}
			}
			return &model.Response{Finish: model.FinishStop, Items: []*model.Item{
				{Kind: model.Message, Role: model.Assistant, Text: text},
				{Kind: model.ToolCall, CallID: "x", Name: "bash", Arguments: "{}"},
			}}, nil
		}),
		Note: func(code, message string) { b.notes = append(b.notes, code+": "+message) },
	}
	b.summariser(local)
	b.policy()
	return b
}

// local is what the built-in summariser does.
func local(ctx context.Context, r points.Request) (*points.Summary, error) {
	text, err := r.Local(ctx)
	if err != nil {
		return nil, err
	}
	return &points.Summary{Text: text}, nil
}

type summarize = func(context.Context, points.Request) (*points.Summary, error)

func (b *bench) summariser(fs ...summarize) {
	b.in.Summarizers = func() []contrib.Entry[points.Summarizer] {
		var entries []contrib.Entry[points.Summarizer]
		for _, f := range fs {
			entries = append(entries, contrib.Entry[points.Summarizer]{Value: points.SummarizerFunc(f)})
		}
		return entries
	}
}

// names is a policy that knows the tools of a map.
type names map[string]bool

func (names) Name() string { return "test" }

func (n names) Compactable(_ context.Context, tool string) (yes, known bool, err error) {
	yes, known = n[tool]
	return yes, known, nil
}

func (b *bench) policy(ps ...points.ToolPolicy) {
	b.in.Policies = func() []contrib.Entry[points.ToolPolicy] {
		var entries []contrib.Entry[points.ToolPolicy]
		for _, p := range ps {
			entries = append(entries, contrib.Entry[points.ToolPolicy]{Value: p})
		}
		return entries
	}
}

// tokens makes a text of so many tokens that begins with a word.
func tokens(n int, word string) string { return word + strings.Repeat("x", max(0, 4*n-len(word))) }

func (b *bench) add(records ...threadlog.Record) {
	b.t.Helper()
	for _, r := range records {
		require.NoError(b.t, b.log.Append(r))
	}
}

func (b *bench) user(text string) {
	b.t.Helper()
	b.turns++
	b.add(&threadlog.Turn{Turn: fmt.Sprint(b.turns), Item: &model.Item{Kind: model.Message, Role: model.User, Text: text}})
}

func (b *bench) reply(text string) {
	b.t.Helper()
	b.add(&threadlog.Round{Items: []*model.Item{{Kind: model.Message, Role: model.Assistant, Text: text}}})
}

// call adds a round with one call of a tool, and its result.
func (b *bench) call(tool, text string) {
	b.t.Helper()
	b.add(
		&threadlog.Round{Items: []*model.Item{{Kind: model.ToolCall, CallID: "c", Name: tool, Arguments: "{}"}}},
		&threadlog.Result{Item: &model.Item{Kind: model.ToolResult, CallID: "c", Status: model.Success, Text: text}},
	)
}

func (b *bench) run() compaction.Outcome {
	b.t.Helper()
	b.in.Load.Items = estimate.Items(b.log.Items(), b.in.Sends)
	o, err := compaction.Run(b.t.Context(), b.in)
	require.NoError(b.t, err)
	return o
}

// first returns the first characters of each item.
func (b *bench) first() []string {
	var out []string
	for _, it := range b.log.Items() {
		text, _, _ := strings.Cut(it.Text+it.Arguments, "xx")
		out = append(out, text)
	}
	return out
}

func TestSummaryTakesThePlaceOfOlderTurns(t *testing.T) {
	b := answers(t, compaction.Settings{Window: 40000, MaxTokens: 4000}, "  they agreed \n")
	b.user(tokens(20000, "one"))
	b.reply("yes")
	b.user(tokens(13000, "two"))
	b.reply("sure")
	b.user(tokens(1000, "three"))
	b.add(&threadlog.Todos{Todos: []threadlog.Todo{{Content: "test  it", Status: "pending"}, {Content: "no", Status: "completed"}}})
	o := b.run()
	assert.Equal(t, compaction.Applied, o.Result)
	assert.True(t, o.Summarised)
	assert.True(t, o.Fits)
	require.NoError(t, o.Failure)
	assert.Equal(t, []string{"## Earlier context\nthey agreed\n\n## Open todos\n- [pending] test it", "sure", "three"}, b.first(),
		"the second turn does not fit, the part behind its user message does")
	assert.Less(t, o.After, o.Before)
	require.Len(t, b.requests, 1)
	r := b.requests[0]
	assert.Equal(t, model.Compaction, r.Purpose)
	assert.Empty(t, r.Tools)
	assert.Contains(t, r.Items[0].Text, "[User]\none")
	assert.Contains(t, r.Items[0].Text, "- [pending] test it")
	assert.NotContains(t, r.Items[0].Text, "[User]\nthree")
	assert.True(t, o.Usage.Estimated)
	assert.Empty(t, b.notes)
}

func TestARequestThatCannotFitMakesNoSummaryRequest(t *testing.T) { // FIELD-R1
	b := answers(t, compaction.Settings{Window: 4096, Threshold: 0.8}, "summary")
	b.in.Load.System, b.in.Load.Tools = 3000, 2000
	b.user("hi")
	assert.True(t, compaction.Due(b.in.Settings, b.in.Load))
	o := b.run()
	assert.Equal(t, compaction.Unchanged, o.Result)
	assert.False(t, o.Fits)
	assert.Equal(t, "the system text with about 3000 tokens and the tool definitions with about 2000 tokens", o.Largest)
	assert.Empty(t, b.requests)
}

func TestSummaryRequestLeavesOutOldestTurns(t *testing.T) { // FIELD-R4
	b := answers(t, compaction.Settings{Window: 30000, MaxTokens: 3000}, "summary")
	for i := range 9 {
		b.user(tokens(10000, fmt.Sprintf("<%d>", i)))
	}
	o := b.run()
	assert.True(t, o.Summarised)
	require.Len(t, b.requests, 1)
	text := b.requests[0].Items[0].Text
	assert.LessOrEqual(t, estimate.Request(b.requests[0]), 30000-3000)
	assert.Contains(t, text, "[The oldest turns do not fit and are left out: ")
	assert.NotContains(t, text, "<0>")
	assert.Contains(t, text, "<7>")
}

func TestSummaryRequestThatCannotFitIsNotMade(t *testing.T) { // FIELD-R4
	b := answers(t, compaction.Settings{Window: 30000, MaxTokens: 3000}, "summary")
	b.user(tokens(90000, "one"))
	b.user("two")
	before := b.log.Items()
	o := b.run()
	assert.Equal(t, compaction.Exhausted, o.Result)
	require.Error(t, o.Failure)
	assert.Empty(t, b.requests)
	assert.Len(t, b.notes, 1)
	assert.Equal(t, before, b.log.Items())
	assert.False(t, o.Fits)
}

func TestASummaryThatCannotBeHadChangesNothing(t *testing.T) { // FIELD-R5, THREAD-3
	b := answers(t, compaction.Settings{Window: 40000, MaxTokens: 4000}, "")
	b.user(tokens(33000, "one"))
	b.user("two")
	before := b.log.Items()
	o := b.run()
	assert.Equal(t, compaction.Exhausted, o.Result)
	assert.True(t, o.Fits, "a request that still fits is sent")
	assert.Equal(t, before, b.log.Items())
	require.Len(t, b.notes, 1)
	assert.Contains(t, b.notes[0], "CompactionFailed: ")
	assert.Contains(t, b.notes[0], "402")

	b.in.Load.System = 20000
	o = b.run()
	assert.False(t, o.Fits, "one that does not fit ends the turn")
	assert.Contains(t, o.Largest, "item i1 (user message) with about 33000 tokens and the system text with about 20000")
}

func TestSummariesDoNotPileUp(t *testing.T) { // FIELD-R7
	n := 0
	b := answers(t, compaction.Settings{Window: 100000}, "unused")
	b.in.Reason, b.in.Turn = compaction.ByHand, ""
	b.in.Client = model.ClientFunc(func(_ context.Context, r *model.Request, _ func(model.Delta) error) (*model.Response, error) {
		b.requests = append(b.requests, r)
		n++
		return &model.Response{Items: []*model.Item{{Kind: model.Message, Role: model.Assistant, Text: fmt.Sprintf("summary %d", n)}}}, nil
	})
	b.user("turn 0")
	for i := 1; i <= 5; i++ {
		b.user(fmt.Sprintf("turn %d", i))
		assert.Equal(t, compaction.Applied, b.run().Result)
		text := b.requests[i-1].Items[0].Text
		if i > 1 {
			assert.Equal(t, 1, strings.Count(text, fmt.Sprintf("summary %d", i-1)))
			assert.NotContains(t, text, "Summarise the conversation above")
		} else {
			assert.Contains(t, text, "Summarise the conversation above")
		}
		assert.Equal(t, 1, strings.Count(text, "<conversation>"))
		assert.Contains(t, text, fmt.Sprintf("turn %d", i-1))
		assert.Equal(t, []string{fmt.Sprintf("## Earlier context\nsummary %d", i), fmt.Sprintf("turn %d", i)}, b.first())
	}
}

func TestByHandTakesEverythingBeforeTheLatestUserMessage(t *testing.T) { // THREAD-4
	b := answers(t, compaction.Settings{Window: 100000}, "short")
	b.in.Reason, b.in.Turn, b.in.Hint = compaction.ByHand, "", "keep the names"
	b.user("one")
	b.reply("1")
	assert.Equal(t, compaction.Nothing, b.run().Result)
	assert.Empty(t, b.requests)
	b.user("two")
	b.user("three")
	b.reply("3")
	assert.Equal(t, compaction.Applied, b.run().Result)
	assert.Equal(t, []string{"## Earlier context\nshort", "three", "3"}, b.first())
	assert.True(t, strings.HasSuffix(b.requests[0].Items[0].Text, "keep the names"))
}

func TestHooksOfACompaction(t *testing.T) {
	b := answers(t, compaction.Settings{Window: 40000, MaxTokens: 4000}, "summary")
	b.user(tokens(33000, "secret"))
	b.user("two")
	var seen []string
	b.in.Hooks = compaction.Hooks{
		Model: func(_ context.Context, items []*model.Item) ([]*model.Item, error) {
			seen = append(seen, fmt.Sprint("model ", len(items)))
			it := *items[0]
			it.Text = "nothing"
			return []*model.Item{&it}, nil
		},
		Response: func(_ context.Context, r *model.Response) error {
			seen = append(seen, fmt.Sprint("response ", len(r.Items)))
			return nil
		},
		Text: func(_ context.Context, p hook.Phase, text string) (string, error) {
			seen = append(seen, string(p))
			if p == hook.PhaseSummary {
				return "", nil
			}
			return text + "\n\nby a hook", nil
		},
	}
	require.True(t, b.run().Summarised)
	assert.Equal(t, []string{"model 1", "prompt", "response 2", "summary"}, seen)
	text := b.requests[0].Items[0].Text
	assert.Contains(t, text, "[User]\nnothing")
	assert.NotContains(t, text, "secret")
	assert.True(t, strings.HasSuffix(text, "by a hook"))
	assert.Equal(t, []string{"## Earlier context\n", "two"}, b.first(), "an empty replacement is kept")
}

func TestACancelledCompactionIsAnError(t *testing.T) {
	b := answers(t, compaction.Settings{Window: 8000, MaxTokens: 1000}, "local")
	b.user(tokens(6500, "one"))
	b.user("two")
	b.in.Load.Items = 6501
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("stop")
	b.in.Client = model.ClientFunc(func(ctx context.Context, _ *model.Request, _ func(model.Delta) error) (*model.Response, error) {
		cancel(cause)
		return nil, ctx.Err()
	})
	_, err := compaction.Run(ctx, b.in)
	require.ErrorIs(t, err, cause)
	assert.Empty(t, b.notes)
	assert.Len(t, b.log.Items(), 2)
}

func TestALogThatCannotBeWrittenIsAnError(t *testing.T) {
	b := answers(t, compaction.Settings{Window: 8000, MaxTokens: 1000}, "local")
	b.user(tokens(6500, "one"))
	b.user("two")
	b.in.Load.Items = 6501
	require.NoError(t, b.log.Close())
	_, err := compaction.Run(t.Context(), b.in)
	require.ErrorIs(t, err, threadlog.ErrClosed)
}
