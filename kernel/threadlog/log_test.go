package threadlog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

// stores are both kinds of stores.
func stores(t *testing.T) map[string]threadlog.Store {
	t.Helper()
	return map[string]threadlog.Store{"memory": threadlog.Memory(), "disk": threadlog.Disk(t.TempDir())}
}

func create(t testing.TB, s threadlog.Store) *threadlog.Log {
	t.Helper()
	l, err := s.Create(t.Context(), threadlog.Header{Workspace: "/w", Mode: "work", Version: "1.0.0"})
	require.NoError(t, err)
	return l
}

func user(text string) *model.Item {
	return &model.Item{Kind: model.Message, Role: model.User, Text: text}
}

func reply(text string) *model.Item {
	return &model.Item{Kind: model.Message, Role: model.Assistant, Text: text}
}

func call(id, name, arguments string) *model.Item {
	return &model.Item{Kind: model.ToolCall, CallID: id, Name: name, Arguments: arguments}
}

func result(id, text string) *model.Item {
	return &model.Item{Kind: model.ToolResult, CallID: id, Status: model.Success, Text: text}
}

func add(t testing.TB, l *threadlog.Log, records ...threadlog.Record) {
	t.Helper()
	for _, r := range records {
		require.NoError(t, l.Append(r))
	}
}

func round(items ...*model.Item) *threadlog.Round {
	return &threadlog.Round{Turn: "t1", Round: 1, Items: items}
}

func turn(text string) *threadlog.Turn {
	return &threadlog.Turn{Turn: "t1", Mode: "work", Provider: "p", Model: "m", Item: user(text)}
}

func answer(id, text string) *threadlog.Result {
	return &threadlog.Result{Turn: "t1", CallID: id, Item: result(id, text)}
}

func end() *threadlog.TurnEnd { return &threadlog.TurnEnd{Turn: "t1", Stop: "completed"} }

// show writes items as one line each.
func show(items []*model.Item) []string {
	out := []string{}
	for _, it := range items {
		switch it.Kind {
		case model.Message:
			out = append(out, fmt.Sprintf("%s: %s", it.Role, it.Text))
		case model.ToolCall:
			out = append(out, fmt.Sprintf("call %s %s %s", it.CallID, it.Name, it.Arguments))
		case model.ToolResult:
			out = append(out, fmt.Sprintf("%s %s: %s", it.Status, it.CallID, it.Text))
		case model.Reasoning:
			out = append(out, "reasoning")
		}
	}
	return out
}

func TestItemsFollowTheRecords(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			l := create(t, s)
			add(t, l, &threadlog.System{Mode: "work", Text: "be kind"}, turn("hi"),
				round(&model.Item{Kind: model.Reasoning}, reply(" \n"), call("a", "read", `{}`), call("b", "grep", `{}`)),
				&threadlog.Call{Turn: "t1", CallID: "a"},
				answer("b", "B"), answer("a", "A"),
				round(reply("done")), end())
			want := []string{"user: hi", "call a read {}", "call b grep {}", "success a: A", "success b: B", "assistant: done"}
			assert.Equal(t, want, show(l.Items()), "blank items are left out, results stand in the order of the calls")
			text, ok := l.System("work")
			assert.True(t, ok)
			assert.Equal(t, "be kind", text)
			require.NoError(t, l.Close())

			again, notes, err := s.Open(t.Context(), l.ID())
			require.NoError(t, err)
			assert.Empty(t, notes)
			assert.Equal(t, want, show(again.Items()))
			assert.Equal(t, "hi", again.State().Title)
			assert.Equal(t, 1, again.State().Turns)
			require.NoError(t, again.Close())
		})
	}
}

func TestItemsAreSharedAndNeverChangeUnderTheirHolder(t *testing.T) {
	l := create(t, threadlog.Memory())
	add(t, l, turn("one"))
	before := l.Items()
	add(t, l, round(reply("two")))
	after := l.Items()
	assert.Equal(t, []string{"user: one"}, show(before))
	assert.Equal(t, []string{"user: one", "assistant: two"}, show(after))
	_ = append(before, user("other")) // appending to it copies
	assert.Equal(t, []string{"user: one", "assistant: two"}, show(l.Items()))
	assert.Zero(t, testing.AllocsPerRun(100, func() { l.Items() }))
}

func TestOpenCallsHaveMadeUpResultsInARequest(t *testing.T) {
	l := create(t, threadlog.Memory())
	add(t, l, turn("hi"), round(call("a", "bash", `{}`), call("b", "bash", `{}`)), &threadlog.Call{Turn: "t1", CallID: "a"})
	items := l.Items()
	require.Len(t, items, 5)
	assert.Contains(t, items[3].Text, "had started and")
	assert.Contains(t, items[4].Text, "before the tool had started")
	add(t, l, answer("b", "B"))
	assert.Equal(t, "success b: B", show(l.Items())[4])
	add(t, l, answer("a", "A"), end())
	assert.Equal(t, []string{"success a: A", "success b: B"}, show(l.Items())[3:])
}

func TestAThreadAppearsWithItsFirstUserMessage(t *testing.T) {
	home := t.TempDir()
	s := threadlog.Disk(home)
	l := create(t, s)
	add(t, l, &threadlog.System{Mode: "work", Text: "x"}, &threadlog.Mode{Mode: "plan"})
	require.NoError(t, l.Close())
	left, err := filepath.Glob(filepath.Join(home, "*"))
	require.NoError(t, err)
	assert.Empty(t, left)

	l = create(t, s)
	add(t, l, &threadlog.Mode{Mode: "plan"}, turn("hi"))
	require.NoError(t, l.Close())
	lines := readLines(t, home, l.ID())
	require.Len(t, lines, 3)
	assert.True(t, strings.HasPrefix(lines[0], `{"seq":1,"time":"`), lines[0])
	assert.Contains(t, lines[0], `","type":"thread","schema":1,"id":"`+l.ID()+`"`)
	assert.Contains(t, lines[1], `"type":"mode","mode":"plan"}`)
	assert.Contains(t, lines[2], `{"seq":3,`)
	info, err := os.Stat(filepath.Join(home, "threads", l.ID()+".jsonl"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func readLines(t testing.TB, home, id string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(home, "threads", id+".jsonl"))
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func TestRecordsThatCannotBeStoredAreRefused(t *testing.T) {
	l := create(t, threadlog.Memory())
	for _, r := range []threadlog.Record{
		nil, (*threadlog.Turn)(nil), &threadlog.Turn{}, &threadlog.Turn{Item: call("a", "b", "")},
		&threadlog.Round{Items: []*model.Item{nil}}, &threadlog.Round{Items: []*model.Item{{Kind: "other"}}},
		&threadlog.Result{}, &threadlog.Compaction{}, &threadlog.Repair{}, &threadlog.Thread{},
	} {
		require.ErrorIs(t, l.Append(r), threadlog.ErrRecord)
	}
	add(t, l, turn("still open"))
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	require.ErrorIs(t, l.Append(end()), threadlog.ErrClosed)
}

func TestTextsAreStoredAsUTF8(t *testing.T) { // FIELD-K2
	l := create(t, threadlog.Memory())
	add(t, l, turn("a\xed\xa0\xbdb"), round(call("c\xff", "n\xff", "{\"x\":\"\xfe\xfe\"}")))
	assert.Equal(t, []string{"user: a\uFFFDb", "call c\uFFFD n\uFFFD {\"x\":\"\uFFFD\"}"}, show(l.Items())[:2])
}

func TestAppendFromManyGoroutines(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			l := create(t, s)
			var calls []*model.Item
			for i := range 50 {
				calls = append(calls, call(fmt.Sprintf("c%d", i), "t", "{}"))
			}
			add(t, l, turn("go"), round(calls...))
			var wg sync.WaitGroup
			for i := range 50 {
				wg.Go(func() {
					id := fmt.Sprintf("c%d", i)
					assert.NoError(t, l.Append(answer(id, "r"+id)))
					l.Items()
					l.State()
				})
			}
			wg.Wait()
			add(t, l, end())
			items := l.Items()
			require.Len(t, items, 101)
			ids := make(map[string]bool)
			for i, it := range items[51:] {
				assert.Equal(t, fmt.Sprintf("rc%d", i), it.Text)
				ids[it.ID] = true
			}
			assert.Len(t, ids, 50)
			require.NoError(t, l.Close())
			p, notes, err := s.Read(t.Context(), l.ID())
			require.NoError(t, err)
			assert.Empty(t, notes)
			assert.Equal(t, show(items), show(p.Items()))
		})
	}
}

func TestAWriteErrorClosesTheLogForWriting(t *testing.T) {
	home := t.TempDir()
	l := create(t, threadlog.Disk(home))
	require.NoError(t, os.WriteFile(filepath.Join(home, "threads"), nil, 0o600))
	err := l.Append(turn("hi"))
	require.Error(t, err)
	assert.Contains(t, err.Error(), "make the log")
	assert.Contains(t, err.Error(), l.ID())
	err = l.Append(turn("hi"))
	require.ErrorIs(t, err, threadlog.ErrClosed)
	assert.False(t, errors.Is(err, threadlog.ErrRecord))
	require.NoError(t, l.Close())
}
