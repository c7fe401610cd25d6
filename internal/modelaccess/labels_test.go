package modelaccess_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/points/model"
)

// labelled reports whether the calling goroutine carries the label of a generation.
func labelled(t *testing.T) bool {
	var b bytes.Buffer
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&b, 1))
	for group := range strings.SplitSeq(b.String(), "\n\n") {
		if strings.Contains(group, "modelaccess_test.labelled") {
			return strings.Contains(group, generations.LabelGeneration)
		}
	}
	t.Error("the profile misses its caller")
	return false
}

// What a client starts, such as its connections, must not count as a leak of the plugin that asked first.
func TestRoundsRunInTheNameOfTheHost(t *testing.T) {
	var all []given
	h := start(t, asker(&all))
	h.open("large")
	seen := map[string]bool{}
	h.lab.answer = func(_ context.Context, _ *model.Request, emit func(model.Delta) error) (*model.Response, error) {
		seen["round"] = labelled(t)
		err := emit(model.Delta{Kind: model.TextDelta, Text: "x"})
		seen["round after a delta"] = labelled(t)
		return &model.Response{}, err
	}
	done := make(chan error, 1)
	require.NoError(t, all[0].Lifetime.Go("ask", func(ctx context.Context) error {
		c, err := all[0].Clients.Session(ctx)
		if err == nil {
			_, err = c.Round(ctx, &model.Request{}, func(model.Delta) error {
				seen["delta"] = labelled(t)
				return nil
			})
		}
		seen["plugin"] = labelled(t)
		done <- err
		return nil
	}))
	require.NoError(t, <-done)
	assert.Equal(t, map[string]bool{"round": false, "delta": true, "round after a delta": false, "plugin": true}, seen)
}
