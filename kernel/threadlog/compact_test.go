package threadlog_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

func summary(text string) *model.Item {
	return &model.Item{Kind: model.Message, Role: model.System, Text: text}
}

func TestACompactionReplacesTheItemsBeforeItsPlace(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			l := tenItems(t, s)
			held := l.Items()
			add(t, l, &threadlog.Compaction{Through: "i6", Summary: summary("first")})
			assert.Len(t, held, 10)
			assert.Equal(t, "user: one", show(held)[0])
			assert.Equal(t, summaryAnd("first", "user: two", "call c x {}", "success c: C", "assistant: second"), show(l.Items()))
			assert.Same(t, l.Items()[0], l.Summary())
			add(t, l, turn("three"), &threadlog.Compaction{Through: "i10", Summary: summary("second")})
			want := summaryAnd("second", "user: three")
			assert.Equal(t, want, show(l.Items()), "the earlier summary is replaced")
			add(t, l, &threadlog.Compaction{Through: "i12", Summary: summary("third")})
			assert.Equal(t, summaryAnd("third"), show(l.Items()))
			require.NoError(t, l.Close())
			p, _, err := s.Read(t.Context(), l.ID())
			require.NoError(t, err)
			assert.Equal(t, summaryAnd("third"), show(p.Items()))
			assert.Len(t, p.Transcript(), 11, "nothing of the earlier log is removed")
		})
	}
}

func summaryAnd(text string, rest ...string) []string {
	return append([]string{"system: " + text}, rest...)
}

func TestPrunedResultsShowAPlaceholder(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			l := tenItems(t, s)
			held := l.Items()
			add(t, l, &threadlog.Prune{Items: []string{"i4", "i1"}})
			assert.Equal(t, "success a: A", show(held)[3], "lists that were handed out stay as they are")
			assert.Equal(t, "success a: "+threadlog.PrunedText, show(l.Items())[3])
			assert.Equal(t, "user: one", show(l.Items())[0], "only tool results are pruned")
			assert.Equal(t, "success b: B", show(l.Items())[4])
			assert.True(t, l.Pruned("i4"))
			assert.False(t, l.Pruned("i5"))
			require.NoError(t, l.Close())
			p, _, err := s.Read(t.Context(), l.ID())
			require.NoError(t, err)
			assert.Equal(t, "success a: "+threadlog.PrunedText, show(p.Items())[3])
			assert.Equal(t, "success a: A", show(p.Transcript())[3])
		})
	}
}

func TestRecordsOfSubagentsAreNoPartOfTheRequest(t *testing.T) {
	l := create(t, threadlog.Memory())
	inner := round(reply("inner"), call("a", "x", "{}"))
	inner.Agent = "scout"
	result := answer("a", "inner")
	result.Agent = "scout"
	sub := answer("s", "sub")
	sub.ParentCallID = "a"
	add(t, l, turn("hi"), round(call("a", "agent", "{}")), &threadlog.Call{CallID: "a"}, inner,
		&threadlog.Call{CallID: "a", Agent: "scout"}, &threadlog.Call{CallID: "s", ParentCallID: "a"}, result, sub,
		answer("a", "outer"), end())
	assert.Equal(t, []string{"user: hi", "call a agent {}", "success a: outer"}, show(l.Items()))
}

func TestOpenCallsOfSubagentsAreClosedToo(t *testing.T) {
	home, s := written(t, lines(userLine, callsLine, startLine,
		`"type":"round","turn":"t1","agent":"scout","items":[{"id":"i6","kind":"tool_call","callId":"z","name":"n"}]`,
		`"type":"call","turn":"t1","callId":"y","parentCallId":"b"`))
	l, _ := reopen(t, s)
	add(t, l, turn("go on"))
	log := string(readLog(t, home, someID))
	assert.Contains(t, log, `"type":"repair","closed":["a","b","z","y"]`)
	assert.Contains(t, log, `"callId":"z","agent":"scout"`)
	assert.Contains(t, log, `"callId":"y","parentCallId":"b"`)
	assert.Equal(t, "i12", l.NextItemID())
}

func TestState(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			l := create(t, s)
			add(t, l, turn("\n  The \x1b[31mfirst\x1b[0m line \nsecond"))
			assert.Equal(t, "The first line", l.State().Title)
			assert.True(t, l.State().Open)
			add(t, l, end(), &threadlog.Title{Text: "new\ntitle\x07"}, &threadlog.Mode{Mode: "plan"},
				&threadlog.Todos{Todos: []threadlog.Todo{{Content: "c", Status: "pending"}}})
			require.NoError(t, l.Close())
			again, _, err := s.Open(t.Context(), l.ID())
			require.NoError(t, err)
			state := again.State()
			assert.Equal(t, "new title", state.Title)
			assert.Equal(t, "plan", state.Mode)
			assert.Equal(t, "p", state.Provider)
			assert.Equal(t, "m", state.Model)
			assert.Equal(t, "/w", state.Thread.Workspace)
			assert.Equal(t, []threadlog.Todo{{Content: "c", Status: "pending"}}, state.Todos)
			assert.False(t, state.Open)
			assert.Equal(t, "i2", again.NextItemID())
			require.NoError(t, again.Close())
		})
	}
}
