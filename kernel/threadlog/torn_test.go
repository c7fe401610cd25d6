package threadlog_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

// TestTornAtEveryByteOfTheLastRecord cuts a log at each offset of its last record: what was before it always opens, and goes
// on.
func TestTornAtEveryByteOfTheLastRecord(t *testing.T) { // FIELD-T1
	for _, last := range []string{userLine, callsLine, resultLine, endLine} {
		before := lines(userLine, replyLine, endLine)
		all := lines(userLine, replyLine, endLine, last)
		home, s := written(t, before)
		for cut := len(before); cut < len(all); cut++ {
			require.NoError(t, os.WriteFile(logPath(home, someID), []byte(all[:cut]), 0o600))
			p, notes, err := s.Read(t.Context(), someID)
			require.NoError(t, err)
			require.Equal(t, cut > len(before), len(notes) == 1)
			require.Equal(t, []string{"user: hi", "assistant: bye"}, show(p.Items()), "cut at %d", cut)
			if cut%8 != 0 { // appending waits for the disk
				continue
			}
			l, _, err := s.Open(t.Context(), someID)
			require.NoError(t, err)
			require.Equal(t, request(t, p.Items()), request(t, l.Items()))
			require.NoError(t, l.Append(turn("go on")))
			require.NoError(t, l.Close())
			after := string(readLog(t, home, someID))
			require.True(t, strings.HasPrefix(after, before))
			require.Equal(t, cut > len(before), strings.Contains(after[len(before):], `"repair"`))
			p, notes, err = s.Read(t.Context(), someID)
			require.NoError(t, err)
			require.Empty(t, notes)
			require.Equal(t, []string{"user: hi", "assistant: bye", "user: go on"}, show(p.Items()))
		}
	}
}

// drawRecord makes any record that may be appended.
func drawRecord(t *rapid.T) threadlog.Record {
	text := rapid.StringN(0, 20, 60)
	id := rapid.SampledFrom([]string{"a", "b", "c"})
	agent := rapid.SampledFrom([]string{"", "", "", "scout"}).Draw(t, "agent")
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1:
		return turn(text.Draw(t, "text"))
	case 2, 3:
		r := round()
		r.Agent = agent
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			switch rapid.IntRange(0, 2).Draw(t, "item") {
			case 0:
				r.Items = append(r.Items, reply(text.Draw(t, "text")))
			case 1:
				r.Items = append(r.Items, call(id.Draw(t, "id"), "tool", text.Draw(t, "arguments")))
			case 2:
				r.Items = append(r.Items, &model.Item{Kind: model.Reasoning, Segments: []model.Segment{{Text: text.Draw(t, "text")}}})
			}
		}
		return r
	case 4, 5:
		r := answer(id.Draw(t, "id"), text.Draw(t, "text"))
		r.Agent = agent
		return r
	case 6:
		return &threadlog.Call{Turn: "t1", CallID: id.Draw(t, "id"), Agent: agent}
	case 7:
		return end()
	case 8:
		return &threadlog.Prune{Items: []string{"i2", "i4"}}
	default:
		return &threadlog.Compaction{
			Through: rapid.SampledFrom([]string{"i1", "i3", "i6", ""}).Draw(t, "through"),
			Summary: &model.Item{Kind: model.Message, Role: model.System, Text: "s" + text.Draw(t, "text")},
		}
	}
}

// valid says what is wrong with a request: a call without a result behind it, or a result without a call before it.
func valid(items []*model.Item) string {
	open := make(map[string]int)
	for _, it := range items {
		switch it.Kind {
		case model.ToolCall:
			open[it.CallID]++
		case model.ToolResult:
			if open[it.CallID]--; open[it.CallID] < 0 {
				return "a result without a call: " + it.CallID
			}
		default:
			for id, n := range open {
				if n > 0 && it.Kind == model.Message && it.Role == model.User {
					return "a call without a result: " + id
				}
			}
		}
	}
	for id, n := range open {
		if n > 0 {
			return "a call without a result: " + id
		}
	}
	return ""
}

// TestAnyRecordsMakeAValidRequest plays random records against both stores: the requests are valid, the same, and the same
// again after reopening.
func TestAnyRecordsMakeAValidRequest(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		home, err := os.MkdirTemp(dir, "")
		require.NoError(rt, err)
		disk, memory := threadlog.Disk(home), threadlog.Memory()
		d, err := disk.Create(t.Context(), threadlog.Header{})
		require.NoError(rt, err)
		m, err := memory.Create(t.Context(), threadlog.Header{})
		require.NoError(rt, err)
		for range rapid.IntRange(1, 12).Draw(rt, "records") {
			r := drawRecord(rt)
			require.NoError(rt, m.Append(copyOf(r)))
			require.NoError(rt, d.Append(r))
			require.Equal(rt, request(t, m.Items()), request(t, d.Items()))
			require.Empty(rt, valid(d.Items()))
		}
		want := request(t, d.Items())
		require.NoError(rt, d.Close())
		again, _, err := disk.Open(t.Context(), d.ID())
		if err != nil { // no user message: nothing was stored
			require.ErrorIs(rt, err, threadlog.ErrNotFound)
			return
		}
		if !again.State().Open && !d.State().Open {
			require.Equal(rt, want, request(t, again.Items()))
		}
		require.Empty(rt, valid(again.Items()))
		resumed := request(t, again.Items())
		require.NoError(rt, again.Append(&threadlog.Title{Text: "t"}))
		require.NoError(rt, again.Close())
		p, _, err := disk.Read(t.Context(), d.ID())
		require.NoError(rt, err)
		require.Equal(rt, resumed, request(t, p.Items()))
	})
}

// copyOf copies a record of drawRecord, because a log takes over what it is given.
func copyOf(r threadlog.Record) threadlog.Record {
	item := func(it *model.Item) *model.Item {
		c := *it
		c.Segments = append([]model.Segment(nil), it.Segments...)
		return &c
	}
	switch r := r.(type) {
	case *threadlog.Turn:
		c := *r
		c.Item = item(r.Item)
		return &c
	case *threadlog.Round:
		c := *r
		c.Items = nil
		for _, it := range r.Items {
			c.Items = append(c.Items, item(it))
		}
		return &c
	case *threadlog.Result:
		c := *r
		c.Item = item(r.Item)
		return &c
	case *threadlog.Compaction:
		c := *r
		c.Summary = item(r.Summary)
		return &c
	case *threadlog.Call:
		c := *r
		return &c
	case *threadlog.TurnEnd:
		c := *r
		return &c
	case *threadlog.Prune:
		c := *r
		return &c
	}
	return r
}

func TestTornTailsAreFoundAnywhere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := lines(userLine, callsLine, resultLine, replyLine, endLine)
		cut := rapid.IntRange(len(lines()), len(all)).Draw(rt, "cut")
		junk := rapid.SampledFrom([]string{"", strings.Repeat("\x00", 7), "\n", "{", "x\n", "{}"}).Draw(rt, "junk")
		_, s := written(t, all[:cut]+junk)
		p, _, err := s.Read(t.Context(), someID)
		require.NoError(rt, err)
		assert.Empty(rt, valid(p.Items()))
	})
}
