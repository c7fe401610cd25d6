package estimate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/points/model"
)

func TestText(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 1, 6: 2, 7: 2, 8: 2, 9: 2, 10: 2, 11: 3, 14: 4, 24000: 6000} {
		assert.Equal(t, want, estimate.Text(strings.Repeat("x", n)), "%d characters", n)
		assert.Equal(t, want, estimate.Text(strings.Repeat("🙂", n)), "%d characters", n)
	}
}

func TestItem(t *testing.T) {
	eight := strings.Repeat("x", 8)
	images := make([]model.Image, 2)
	all := estimate.Sends{Images: true, Reasoning: true}
	for _, c := range []struct {
		name string
		item model.Item
		s    estimate.Sends
		want int
	}{
		{"message", model.Item{Kind: model.Message, Role: model.User, Text: eight}, all, 2},
		{"images of the user", model.Item{Kind: model.Message, Role: model.User, Text: eight, Images: images}, all, 3202},
		{"images that are not sent", model.Item{Kind: model.Message, Role: model.User, Text: eight, Images: images}, estimate.Sends{}, 2},
		{"images that the model can't have made", model.Item{Kind: model.Message, Role: model.Assistant, Images: images}, all, 0},
		{"images of a result", model.Item{Kind: model.ToolResult, Text: eight, Images: images}, all, 3202},
		{"call: one text", model.Item{Kind: model.ToolCall, Name: "xxx", Arguments: "xxx"}, all, 2},
		{"reasoning: one text", model.Item{Kind: model.Reasoning, Segments: []model.Segment{{Text: "xxx"}, {Text: "xxx"}}}, all, 2},
		{"reasoning that is not sent", model.Item{Kind: model.Reasoning, Segments: []model.Segment{{Text: eight}}}, estimate.Sends{}, 0},
		{"unknown", model.Item{Text: eight}, all, 0},
	} {
		assert.Equal(t, c.want, estimate.Item(&c.item, c.s), c.name)
	}
}

func TestRequest(t *testing.T) {
	r := &model.Request{
		System:        strings.Repeat("s", 40),
		Tools:         []model.Tool{{Name: "xx", Description: "yy", Schema: []byte("zzzz")}, {Name: "xxx"}},
		Items:         []*model.Item{{Kind: model.Message, Role: model.User, Text: "hihi", Images: make([]model.Image, 1)}},
		AcceptsImages: true,
	}
	assert.Equal(t, 10+2+1+1+1600, estimate.Request(r))
	u := estimate.Usage(estimate.Request(r), []*model.Item{{Kind: model.Message, Text: "done"}})
	assert.Equal(t, &model.Usage{Input: 1614, Output: 1, Total: 1615, Estimated: true}, u)
}

func TestCounterLooksAtEachItemOnce(t *testing.T) {
	var c estimate.Counter
	items := make([]*model.Item, 0, 10)
	add := func(text string) {
		items = append(items, &model.Item{Kind: model.Message, Role: model.User, Text: text})
	}
	add(strings.Repeat("x", 40))
	assert.Equal(t, 10, c.Items(items, estimate.Sends{}))
	items[0].Text = "" // a counted item is not looked at again
	add("four")
	assert.Equal(t, 11, c.Items(items, estimate.Sends{}))
	assert.Equal(t, 1, c.Items(items, estimate.Sends{Images: true}), "another request counts anew")
	moved := append([]*model.Item{}, items...)
	assert.Equal(t, 1, c.Items(moved, estimate.Sends{Images: true}), "so does another list")
	assert.Zero(t, c.Items(nil, estimate.Sends{}))
	assert.Zero(t, testing.AllocsPerRun(100, func() { c.Items(items, estimate.Sends{}) }))
}

func TestCounterAgreesWithItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c estimate.Counter
		var items []*model.Item
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				items = append(items, &model.Item{Kind: model.ToolResult, Text: rapid.String().Draw(t, "text")})
			case 2:
				items = append([]*model.Item{}, items[len(items)/2:]...)
			case 3:
				if len(items) > 0 {
					items = append([]*model.Item{}, items...)
					items[0] = &model.Item{Kind: model.Message, Text: "replaced"}
				}
			}
			s := estimate.Sends{}
			if got, want := c.Items(items, s), estimate.Items(items, s); got != want {
				t.Fatalf("%d, want %d", got, want)
			}
		}
	})
}

func TestMeter(t *testing.T) { // FIELD-R3
	var m estimate.Meter
	total := func(model string) int {
		n, ok := m.Total(model)
		if !ok {
			return -1
		}
		return n
	}
	four := []*model.Item{{Kind: model.Message, Text: "four"}}
	m.Add(100)
	m.Answer("a", nil, four)
	assert.Equal(t, -1, total("a"), "nothing was reported")
	m.Answer("a", &model.Usage{Input: 69000, Output: 1000, Total: 70000}, four)
	assert.Equal(t, 70000, total("a"), "the answer is part of what was reported")
	m.Add(6000)
	m.Answer("a", nil, four)
	m.Answer("a", &model.Usage{Input: 5, Estimated: true}, four)
	assert.Equal(t, 76002, total("a"), "the count goes on from the last report")
	assert.Equal(t, -1, total("b"))
	m.Answer("b", nil, four)
	assert.Equal(t, -1, total("a"), "a change of model makes it unknown")
	m.Answer("b", &model.Usage{Total: 7}, nil)
	assert.Equal(t, 7, total("b"))
	m.Forget()
	assert.Equal(t, -1, total("b"))
}

func BenchmarkCounterOfThousandItems(b *testing.B) {
	items := make([]*model.Item, 1000)
	for i := range items {
		items[i] = &model.Item{Kind: model.Message, Text: "some text of some length"}
	}
	var c estimate.Counter
	for b.Loop() {
		c.Items(items, estimate.Sends{})
	}
}
