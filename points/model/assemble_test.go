package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/points/model"
)

// assemble adds deltas and returns the candidate.
func assemble(t require.TestingT, deltas ...model.Delta) *model.Response {
	var a model.Assembler
	for _, d := range deltas {
		require.NoError(t, a.Add(d))
	}
	r, err := a.Response()
	require.NoError(t, err)
	return r
}

func text(s string) model.Delta { return model.Delta{Kind: model.TextDelta, Text: s} }

func reasoning(n int, s string) model.Delta {
	return model.Delta{Kind: model.ReasoningDelta, Index: n, Segment: model.SegmentText, Text: s}
}

func start(n int, id, name string) model.Delta {
	return model.Delta{Kind: model.CallStart, Index: n, ID: id, Name: name}
}

func arguments(n int, s string) model.Delta {
	return model.Delta{Kind: model.CallArguments, Index: n, Text: s}
}

func end(n int) model.Delta { return model.Delta{Kind: model.CallEnd, Index: n} }

func state(of model.Kind, n int, data string) model.Delta {
	return model.Delta{Kind: model.StateDelta, For: of, Index: n, State: &model.State{Format: "f", Data: []byte(data)}}
}

func finish(f model.Finish) model.Delta { return model.Delta{Kind: model.FinishDelta, Finish: f} }

// told is a candidate in one line.
func told(r *model.Response) string {
	var all []string
	for _, i := range r.Items {
		s := ""
		if i.State != nil {
			s = "!" + string(i.State.Data)
		}
		switch i.Kind {
		case model.Reasoning:
			for _, seg := range i.Segments {
				s = "[" + seg.Text + "]" + s
			}
			all = append(all, "think"+s)
		case model.ToolCall:
			all = append(all, i.CallID+"="+i.Name+i.Arguments+s)
		default:
			all = append(all, i.Text+s)
		}
	}
	return strings.Join(append(all, string(r.Finish)), " | ")
}

func TestItemsComeInTheOrderOfTheirFirstDelta(t *testing.T) {
	for name, test := range map[string]struct {
		deltas []model.Delta
		want   string
	}{
		"neighbouring text is one message": {[]model.Delta{text("a"), text(""), text("b"), finish(model.FinishStop)}, "ab | stop"},
		"interleaved": {
			[]model.Delta{reasoning(0, "r"), text("a"), start(0, "c1", "x"), arguments(0, "{"), text("b"), arguments(0, "}"), start(1, "c2", "y"), reasoning(0, "s"), finish("")},
			"think[r] | a | c1=x{} | b | c2=y{} | think[s] | tool_calls",
		},
		"segments": {
			[]model.Delta{reasoning(0, "a"), reasoning(1, "b"), reasoning(0, "c"), finish("")}, "think[b][ac] | stop",
		},
		"state closes an item": {
			[]model.Delta{
				reasoning(0, "a"), state(model.Reasoning, 0, "S"), reasoning(0, "b"), state(model.Reasoning, 1, "T"),
				text("t"), state(model.Message, 0, "U"), text("u"), start(0, "c1", "x"), state(model.ToolCall, 0, "V"), finish(""),
			},
			"think[a]!S | think[b] | think!T | t!U | u | c1=x{}!V | tool_calls",
		},
		"state of a message that is not there": {[]model.Delta{state(model.Message, 0, "S"), finish("")}, "!S | stop"},
		"a retry forgets": {
			[]model.Delta{text("old"), start(0, "c1", "x"), {Kind: model.RetryDelta, Attempt: 1}, text("new"), finish(model.FinishStop)}, "new | stop",
		},
		"notes are no part of it": {[]model.Delta{{Kind: model.NoteDelta, Text: "x"}, text("a"), finish("")}, "a | stop"},
		"blank arguments":         {[]model.Delta{start(0, "c1", "x"), arguments(0, " \n"), end(0), finish("")}, "c1=x{} | tool_calls"},
		"stop with calls":         {[]model.Delta{start(0, "c1", "x"), end(0), finish(model.FinishStop)}, "c1=x{} | tool_calls"},
		"tool calls without any":  {[]model.Delta{text("a"), finish(model.FinishToolCalls)}, "a | stop"},
		"another finish":          {[]model.Delta{start(0, "c1", "x"), end(0), finish(model.FinishOther)}, "c1=x{} | other"},
		"cut by length":           {[]model.Delta{text("a"), start(0, "c1", "x"), arguments(0, "{"), text("b"), finish(model.FinishLength)}, "a | b | length"}, // FIELD-F10
		"filtered":                {[]model.Delta{start(0, "c1", "x"), end(0), finish(model.FinishContentFilter)}, "content_filter"},
		"window full":             {[]model.Delta{start(0, "c1", "x"), end(0), finish(model.FinishContextOverflow)}, "context_overflow"},
		"nothing":                 {[]model.Delta{finish(model.FinishStop)}, "stop"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, told(assemble(t, test.deltas...))) })
	}
}

func TestCallsHaveIDsOfTheirOwn(t *testing.T) { // FIELD-G2, FIELD-G4
	r := assemble(t, start(0, "dup", "a"), start(1, "dup", "b"), start(2, " ", "c"), start(3, "", "d"), finish(""))
	require.Len(t, r.Items, 4)
	assert.Equal(t, "dup", r.Items[0].CallID)
	seen := map[string]bool{}
	for _, i := range r.Items[1:] {
		assert.Regexp(t, "^call_[0-9a-f]{32}$", i.CallID)
		assert.False(t, seen[i.CallID])
		seen[i.CallID] = true
	}
}

func TestUsageAndTheProvidersWord(t *testing.T) {
	var a model.Assembler
	require.NoError(t, a.Add(model.Delta{Kind: model.UsageDelta, Usage: model.Usage{Input: 1}}))
	require.NoError(t, a.Add(model.Delta{Kind: model.FinishDelta, Finish: model.FinishOther, Raw: "end"}))
	require.NoError(t, a.Add(model.Delta{Kind: model.UsageDelta, Usage: model.Usage{Input: 2}}), "usage may follow the finish")
	r, err := a.Response()
	require.NoError(t, err)
	assert.Equal(t, 2, r.Usage.Input)
	assert.Equal(t, "end", r.Raw)
	assert.Nil(t, assemble(t, finish("")).Usage)
}

func TestDeltasThatBreakTheContract(t *testing.T) {
	for name, test := range map[string]struct {
		deltas []model.Delta
		want   error
	}{
		"a second finish":           {[]model.Delta{finish(""), finish("")}, model.ErrSecondFinish},
		"text after the finish":     {[]model.Delta{finish(""), text("x")}, model.ErrLateDelta},
		"arguments without a start": {[]model.Delta{arguments(0, "{}")}, model.ErrUnknownCall},
		"an end without a start":    {[]model.Delta{end(0)}, model.ErrUnknownCall},
		"a second start":            {[]model.Delta{start(0, "a", "x"), start(0, "b", "x")}, model.ErrUnknownCall},
		"a second end":              {[]model.Delta{start(0, "a", "x"), end(0), end(0)}, model.ErrUnknownCall},
		"arguments after the end":   {[]model.Delta{start(0, "a", "x"), end(0), arguments(0, "x")}, model.ErrUnknownCall},
		"state of an unknown call":  {[]model.Delta{state(model.ToolCall, 3, "S")}, model.ErrUnknownCall},
		"no finish":                 {[]model.Delta{text("x")}, model.ErrNoFinish},
		"no finish since the retry": {[]model.Delta{finish(""), {Kind: model.RetryDelta}}, model.ErrNoFinish},
	} {
		t.Run(name, func(t *testing.T) {
			var a model.Assembler
			var err error
			for _, d := range test.deltas {
				require.NoError(t, err)
				err = a.Add(d)
			}
			if err == nil {
				_, err = a.Response()
			}
			require.ErrorIs(t, err, test.want)
		})
	}
}

// However text and arguments are cut into deltas, and in whatever order calls take turns, the candidate is the same.
func TestCutsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.SliceOfN(rapid.StringMatching(`\{"[a-zé]{0,9}":1\}`), 1, 4).Draw(t, "calls")
		reply := rapid.StringN(1, 20, 60).Draw(t, "reply")
		pieces := func(s string) (out []string) {
			for len(s) > 0 {
				n := rapid.IntRange(1, len(s)).Draw(t, "cut")
				out = append(out, s[:n])
				s = s[n:]
			}
			return out
		}
		var deltas []model.Delta
		for _, p := range pieces(reply) {
			deltas = append(deltas, text(p))
		}
		want := reply
		left := make([][]string, len(calls))
		for n, c := range calls {
			deltas = append(deltas, start(n, fmt.Sprintf("c%d", n), "x"))
			want += fmt.Sprintf(" | c%d=x%s", n, c)
			left[n] = pieces(c)
		}
		for range 1000 {
			n := rapid.IntRange(0, len(calls)-1).Draw(t, "turn")
			if len(left[n]) > 0 {
				deltas = append(deltas, arguments(n, left[n][0]))
				left[n] = left[n][1:]
			}
			if n == 0 && len(deltas) > 400 {
				break
			}
		}
		for n := range left {
			deltas = append(deltas, arguments(n, strings.Join(left[n], "")), end(n))
		}
		assert.Equal(t, want+" | tool_calls", told(assemble(t, append(deltas, finish(""))...)))
	})
}

func ExampleAssembler() {
	var a model.Assembler
	for _, d := range []model.Delta{
		{Kind: model.TextDelta, Text: "Look"},
		{Kind: model.TextDelta, Text: "ing."},
		{Kind: model.CallStart, Index: 0, ID: "c1", Name: "read"},
		{Kind: model.CallArguments, Index: 0, ID: "c1", Text: `{"path":"a.txt"}`},
		{Kind: model.CallEnd, Index: 0, ID: "c1"},
		{Kind: model.FinishDelta, Finish: model.FinishStop},
	} {
		if err := a.Add(d); err != nil {
			fmt.Println(err)
		}
	}
	r, err := a.Response()
	fmt.Println(r.Items[0].Text, r.Items[1].Name, r.Items[1].Arguments, r.Finish, err)
	// Output: Looking. read {"path":"a.txt"} tool_calls <nil>
}

func BenchmarkAssembler(b *testing.B) {
	b.ReportAllocs()
	d := text(" token")
	for b.Loop() {
		var a model.Assembler
		for range 1000 {
			_ = a.Add(d)
		}
		_ = a.Add(finish(model.FinishStop))
		if _, err := a.Response(); err != nil {
			b.Fatal(err)
		}
	}
}
