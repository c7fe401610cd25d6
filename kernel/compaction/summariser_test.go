package compaction_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/compaction"
	points "github.com/crystalkernel/crystal/points/compaction"
)

func TestSummariserOfAPlugin(t *testing.T) { // FIELD-R11, POINT-6
	declines := func(s points.Scope) summarize {
		return func(_ context.Context, r points.Request) (*points.Summary, error) {
			if r.Scope == s {
				return nil, nil
			}
			return &points.Summary{Text: "of " + string(r.Scope)}, nil
		}
	}
	for _, c := range []struct {
		name string
		fs   []summarize
		want string // first item; blank: a failure
	}{
		{"the last entry has authority", []summarize{local, declines("")}, "## Earlier context\nof partial"},
		{"error", []summarize{func(context.Context, points.Request) (*points.Summary, error) {
			return nil, errors.New("broken")
		}}, ""},
		{"one MiB", []summarize{func(context.Context, points.Request) (*points.Summary, error) {
			return &points.Summary{Text: strings.Repeat("y", 1<<20)}, nil
		}}, ""},
		{"blank", []summarize{func(context.Context, points.Request) (*points.Summary, error) {
			return &points.Summary{Text: " \n"}, nil
		}}, ""},
		{"declines both scopes", []summarize{func(context.Context, points.Request) (*points.Summary, error) {
			return nil, nil
		}}, ""},
		{"keeps what it was not given", []summarize{func(context.Context, points.Request) (*points.Summary, error) {
			return &points.Summary{Text: "x", Keep: []string{"i77"}}, nil
		}}, ""},
		{"nobody", nil, ""},
		{"gone twice", []summarize{func(context.Context, points.Request) (*points.Summary, error) {
			return nil, contrib.ErrUnavailable
		}}, ""},
		{"full scope keeps a tail", []summarize{func(_ context.Context, r points.Request) (*points.Summary, error) {
			if r.Scope == points.Partial {
				return nil, nil
			}
			return &points.Summary{Text: "all", Keep: []string{r.Items[len(r.Items)-1].ID}}, nil
		}}, "## Earlier context\nall"},
		{"full scope leaves nothing to answer", []summarize{declines(points.Partial)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := answers(t, compaction.Settings{Window: 8000, MaxTokens: 1000}, "local")
			b.user(tokens(6500, "one"))
			b.call("bash", tokens(100, "result"))
			b.user("two")
			b.summariser(c.fs...)
			before := b.log.Items()
			o := b.run()
			if c.want == "" {
				require.Error(t, o.Failure)
				assert.Equal(t, compaction.Exhausted, o.Result)
				assert.Equal(t, before, b.log.Items())
				assert.Len(t, b.notes, 1)
				return
			}
			require.NoError(t, o.Failure)
			assert.Equal(t, c.want, b.first()[0])
			assert.Equal(t, "two", b.first()[len(b.first())-1])
		})
	}
}

func TestASummariserThatWentAwayIsLookedForOnceMore(t *testing.T) {
	b := answers(t, compaction.Settings{Window: 8000, MaxTokens: 1000}, "local")
	b.user(tokens(6500, "one"))
	b.user("two")
	asked := 0
	b.in.Summarizers = func() []contrib.Entry[points.Summarizer] {
		if asked++; asked > 1 {
			return []contrib.Entry[points.Summarizer]{{Value: points.SummarizerFunc(local)}}
		}
		return []contrib.Entry[points.Summarizer]{{Value: points.SummarizerFunc(
			func(context.Context, points.Request) (*points.Summary, error) { return nil, contrib.ErrUnavailable })}}
	}
	assert.True(t, b.run().Summarised)
	assert.Equal(t, "## Earlier context\nlocal", b.first()[0])
}
