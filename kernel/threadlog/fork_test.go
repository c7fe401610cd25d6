package threadlog_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

// tenItems makes a thread of ten items.
func tenItems(t testing.TB, s threadlog.Store) *threadlog.Log {
	l := create(t, s)
	add(t, l, turn("one"), round(call("a", "x", "{}"), call("b", "x", "{}")),
		&threadlog.Call{Turn: "t1", CallID: "a"}, &threadlog.Call{Turn: "t1", CallID: "b"},
		answer("a", "A"), answer("b", "B"), round(reply("first")), end(),
		turn("two"), round(call("c", "x", "{}")), answer("c", "C"), round(reply("second")), end())
	return l
}

func TestEveryForkIsAValidRequest(t *testing.T) { // FIELD-S6
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			l := tenItems(t, s)
			require.Len(t, l.Items(), 10)
			parent, _, err := s.Read(t.Context(), l.ID())
			require.NoError(t, err)
			for i := 1; i <= 10; i++ {
				id, err := s.Fork(t.Context(), l.ID(), "i"+strconv.Itoa(i))
				require.NoError(t, err, "the parent may be in use")
				child, notes, err := s.Open(t.Context(), id)
				require.NoError(t, err)
				assert.Empty(t, notes, "open calls are closed in the file")
				items := child.Items()
				assert.Empty(t, valid(items), "fork at i%d", i)
				assert.Equal(t, show(parent.Items())[0], show(items)[0])
				assert.False(t, child.State().Open)
				assert.Equal(t, l.ID(), child.State().Thread.Fork.Thread)
				add(t, child, turn("go on"))
				assert.Equal(t, "user: go on", show(child.Items())[len(items)])
				require.NoError(t, child.Close())
				p, _, err := s.Read(t.Context(), id)
				require.NoError(t, err)
				for n, r := range p.Records() {
					assert.Equal(t, int64(n+1), seq(r), "numbers have no gap")
				}
				seen := make(map[string]bool)
				for _, it := range p.Items() {
					assert.False(t, seen[it.ID], it.ID)
					seen[it.ID] = true
				}
			}
			again, _, err := s.Read(t.Context(), l.ID())
			require.NoError(t, err)
			assert.Equal(t, request(t, parent.Items()), request(t, again.Items()))
			require.NoError(t, l.Close())
		})
	}
}

func seq(r threadlog.Record) int64 {
	switch r := r.(type) {
	case *threadlog.Thread:
		return r.Seq
	case *threadlog.Turn:
		return r.Seq
	case *threadlog.Round:
		return r.Seq
	case *threadlog.Call:
		return r.Seq
	case *threadlog.Result:
		return r.Seq
	case *threadlog.TurnEnd:
		return r.Seq
	}
	return 0
}

func TestPlacesOfAFork(t *testing.T) {
	s := threadlog.Memory()
	l := tenItems(t, s)
	add(t, l, turn("unfinished"))
	for at, want := range map[string][]string{
		"":   {"user: one", "call a x {}", "call b x {}", "success a: A", "success b: B", "assistant: first", "user: two", "call c x {}", "success c: C", "assistant: second"},
		"9":  {"user: one", "call a x {}", "call b x {}", "success a: A", "success b: B", "assistant: first"},
		"i1": {"user: one"},
		"2":  {"user: one"},
	} {
		id, err := s.Fork(t.Context(), l.ID(), at)
		require.NoError(t, err)
		p, _, err := s.Read(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, want, show(p.Items()), "at %q", at)
	}
	id, err := s.Fork(t.Context(), l.ID(), "i2")
	require.NoError(t, err)
	p, _, err := s.Read(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, p.Items(), 3)
	assert.Equal(t, "a", p.Items()[2].CallID, "the round is cut behind the item")
	assert.Equal(t, model.Interrupted, p.Items()[2].Status)
	for _, at := range []string{"99", "i99", "nonsense", "-1", "0", "1"} {
		_, err := s.Fork(t.Context(), l.ID(), at)
		require.ErrorIs(t, err, threadlog.ErrPlace, at)
	}
	_, err = s.Fork(t.Context(), someID, "")
	require.ErrorIs(t, err, threadlog.ErrNotFound)
}

func TestAForkKeepsWhatThisHostDoesNotKnow(t *testing.T) {
	log := lines(userLine, `"type":"from_the_future","x":[1]`, replyLine, endLine)
	log = strings.Replace(log, `"workspace":"/w"`, `"workspace":"/w","mode":"plan"`, 1)
	log = strings.Replace(log, `"turn":"t1","item"`, `"novel":{"k":1},"turn":"t1","item"`, 1)
	log = strings.Replace(log, `{"seq":4,`, `{ "seq" : 4 , `, 1)
	log = strings.Replace(log, endLine, "bad", 1)
	home, s := written(t, log)
	require.NoError(t, os.WriteFile(logPath(home, someID), []byte(log+lines(userLine)[len(lines()):]), 0o600))
	id, err := s.Fork(t.Context(), someID, "i5")
	require.NoError(t, err)
	child := string(readLog(t, home, id))
	assert.Contains(t, child, `"novel":{"k":1}`)
	assert.Contains(t, child, `"type":"from_the_future","x":[1]`)
	assert.Contains(t, child, `"mode":"plan"`)
	assert.Contains(t, child, `"fork":{"thread":"`+someID+`","seq":4}`)
	assert.Equal(t, log+lines(userLine)[len(lines()):], string(readLog(t, home, someID)))
	p, notes, err := s.Read(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, []string{threadlog.ThreadRecordSkipped}, codes(notes))
	assert.Equal(t, []string{"user: hi", "assistant: bye"}, show(p.Items()))
	left, err := filepath.Glob(filepath.Join(home, "threads", ".new-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestAForkAcrossACompaction(t *testing.T) {
	s := threadlog.Memory()
	l := tenItems(t, s)
	add(t, l, &threadlog.Compaction{Through: "i6", Summary: &model.Item{Kind: model.Message, Role: model.System, Text: "sum"}})
	assert.Equal(t, []string{"system: sum", "user: two", "call c x {}", "success c: C", "assistant: second"}, show(l.Items()))
	before, err := s.Fork(t.Context(), l.ID(), "i3")
	require.NoError(t, err)
	p, _, err := s.Read(t.Context(), before)
	require.NoError(t, err)
	assert.Equal(t, "user: one", show(p.Items())[0], "a fork before it sees everything")
	behind, err := s.Fork(t.Context(), l.ID(), "i11")
	require.NoError(t, err)
	p, _, err = s.Read(t.Context(), behind)
	require.NoError(t, err)
	assert.Equal(t, show(l.Items()), show(p.Items()))
	assert.Len(t, p.Transcript(), 10)
}
