package wire_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/kernel/retry"
	"github.com/crystalkernel/crystal/points/model"
)

// retrying is a client behind the built-in retry middleware.
func retrying(t *testing.T, s *wiretest.Server) model.Client {
	t.Helper()
	c, err := retry.New(retry.Settings{}).Wrap(t.Context(), client(t, s), model.PipelineInfo{})
	require.NoError(t, err)
	return c
}

func TestRoundsAreRetriedWithTheSameBytes(t *testing.T) {
	later := wiretest.Text(429, "", "slow")
	later.Header.Set("Retry-After", "7")
	early := wiretest.Text(200, events, `data: {"choices":[{"delta":{"content":"half"}}]}`+"\n\n")
	for name, test := range map[string]struct {
		first wiretest.Answer
		least time.Duration
		text  string
	}{
		"PROTO-1": {later, 7 * time.Second, "slow"},
		"PROTO-3": {early, 2 * time.Second, model.CodeStreamEnded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := wiretest.Serve(func(n int) wiretest.Answer {
					if n == 0 {
						return test.first
					}
					return wiretest.Text(200, events, whole)
				})
				begun := time.Now()
				r := wiretest.Transcript(20)
				response, deltas, err := wiretest.Round(t, retrying(t, s), r)
				require.NoError(t, err)
				assert.Equal(t, "ready", wiretest.Reply(response))
				assert.GreaterOrEqual(t, time.Since(begun), test.least)
				require.Len(t, s.Bodies(), 2)
				assert.Equal(t, string(s.Bodies()[0]), string(s.Bodies()[1]))
				said := ""
				for _, d := range deltas {
					if d.Kind == model.RetryDelta {
						said += d.Text
					}
				}
				assert.Contains(t, said, test.text)
			})
		})
	}
}

func TestRoundsThatAreNotRetried(t *testing.T) {
	for name, a := range map[string]wiretest.Answer{
		"PROTO-1":     wiretest.Text(401, "", "who are you"),
		"FIELD-J7":    wiretest.Text(200, events, "data: "+strings.Repeat("a", 17<<20)),
		"a web page":  wiretest.Text(200, "text/html", "<html>"),
		"an overflow": wiretest.Text(400, "", "prompt is too long"), // FIELD-R8
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := answering(a)
				_, deltas, err := wiretest.Round(t, retrying(t, s), wiretest.Request())
				require.Error(t, err)
				assert.Len(t, s.Bodies(), 1)
				assert.Empty(t, deltas)
			})
		})
	}
}
