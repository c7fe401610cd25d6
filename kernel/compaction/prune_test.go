package compaction_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

func results(items []*model.Item) string {
	var b strings.Builder
	for _, it := range items {
		if it.Kind != model.ToolResult {
			continue
		}
		if it.Text == threadlog.PrunedText {
			b.WriteByte('-')
		} else {
			b.WriteByte('+')
		}
	}
	return b.String()
}

func TestPruning(t *testing.T) {
	for _, c := range []struct {
		name   string
		build  func(b *bench)
		policy names
		want   string // of the results, oldest first: + kept, - dropped
	}{
		{
			"the newest 40,000 tokens before the last two user messages stay", func(b *bench) {
				b.user("one")
				for range 6 {
					b.call("read", tokens(15000, ""))
				}
				b.user("two")
				b.call("read", tokens(15000, ""))
				b.user("three")
				b.call("read", tokens(15000, ""))
			}, names{"read": true}, "----++++",
		},
		{
			"20,000 tokens are not worth it", func(b *bench) {
				b.user("one")
				b.call("read", tokens(20000, ""))
				b.call("read", tokens(40000, ""))
				b.user("two")
				b.user("three")
			}, names{"read": true}, "++",
		},
		{
			"a little more is", func(b *bench) {
				b.user("one")
				b.call("read", tokens(20001, ""))
				b.call("read", tokens(40000, ""))
				b.user("two")
				b.user("three")
			}, names{"read": true}, "-+",
		},
		{
			"only with a yes", func(b *bench) { // POINT-7
				b.user("one")
				for _, tool := range []string{"x", "read", "grep", "x"} {
					b.call(tool, tokens(30000, ""))
				}
				b.call("x", tokens(40000, ""))
				b.user("two")
				b.user("three")
			}, names{"x": true, "read": false}, "-++-+",
		},
		{
			"failed results stay", func(b *bench) {
				b.user("one")
				b.add(&threadlog.Round{Items: []*model.Item{{Kind: model.ToolCall, CallID: "c", Name: "read"}}},
					&threadlog.Result{Item: &model.Item{
						Kind: model.ToolResult, CallID: "c", Status: model.Failure, Text: tokens(50000, ""),
					}})
				b.call("read", tokens(30000, ""))
				b.call("read", tokens(40000, ""))
				b.user("two")
				b.user("three")
			}, names{"read": true}, "+-+",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := answers(t, compaction.Settings{Window: 1000000}, "unused")
			c.build(b)
			b.policy(c.policy)
			o := b.run()
			assert.Equal(t, compaction.Applied, o.Result)
			assert.Equal(t, c.want, results(b.log.Items()))
			assert.Equal(t, strings.Contains(c.want, "-"), o.Pruned > 0)
			assert.Equal(t, o.Before-o.After, o.Pruned)
			assert.Empty(t, b.requests)

			again := b.run()
			assert.Zero(t, again.Pruned, "walking stops at what was dropped before")
		})
	}
}
