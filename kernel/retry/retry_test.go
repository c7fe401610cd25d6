package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel/retry"
	"github.com/crystalkernel/crystal/points/model"
)

// provider fails with each of its errors in turn, then answers.
type provider struct {
	errs  []error
	times []time.Time
	asked []*model.Request
}

func (p *provider) Round(_ context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
	n := len(p.times)
	p.times = append(p.times, time.Now())
	p.asked = append(p.asked, r)
	if err := emit(model.Delta{Kind: model.TextDelta, Text: "part"}); err != nil {
		return nil, err
	}
	if n < len(p.errs) {
		return nil, p.errs[n]
	}
	return &model.Response{Finish: model.FinishStop}, nil
}

func limited(wait time.Duration) error {
	return &model.Error{
		Code: model.CodeHTTP, Kind: model.KindRateLimit, Status: 429, Message: "slow down", Retryable: true,
		RetryAfter: wait, HasRetry: wait > 0,
	}
}

func wrap(t testing.TB, s retry.Settings, next model.Client) model.Client {
	t.Helper()
	c, err := retry.New(s).Wrap(context.Background(), next, model.PipelineInfo{})
	require.NoError(t, err)
	return c
}

func repeat(err error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

func TestASmallServerWaitIsNoOrderToHurry(t *testing.T) { // FIELD-Q1
	synctest.Test(t, func(t *testing.T) {
		p := &provider{errs: repeat(limited(time.Second), 100)}
		var waits []time.Duration
		_, err := wrap(t, retry.Settings{}, p).Round(t.Context(), &model.Request{}, func(d model.Delta) error {
			if d.Kind == model.RetryDelta {
				waits = append(waits, d.Delay)
				assert.Equal(t, len(waits), d.Attempt)
				assert.Contains(t, d.Text, "slow down")
			}
			return nil
		})
		failed, ok := errors.AsType[*model.Error](err)
		require.True(t, ok)
		assert.Equal(t, "slow down", failed.Message)
		require.Len(t, p.times, 6)
		for i, least := range []time.Duration{2, 4, 8, 16, 30} {
			gap := p.times[i+1].Sub(p.times[i])
			assert.Equal(t, waits[i], gap)
			assert.GreaterOrEqual(t, gap, least*time.Second)
			assert.LessOrEqual(t, gap, min(least*time.Second*5/4, 30*time.Second))
		}
	})
}

func TestTheServersWaitIsALowerBound(t *testing.T) { // FIELD-Q2, FIELD-Q4, PROTO-1
	for name, test := range map[string]struct{ asked, least time.Duration }{
		"a longer wait":  {7 * time.Second, 7 * time.Second},
		"a shorter wait": {750 * time.Millisecond, 2 * time.Second},
		"no wait":        {0, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{errs: repeat(limited(test.asked), 1)}
				r := &model.Request{}
				_, err := wrap(t, retry.Settings{}, p).Round(t.Context(), r, func(model.Delta) error { return nil })
				require.NoError(t, err)
				require.Len(t, p.times, 2)
				assert.GreaterOrEqual(t, p.times[1].Sub(p.times[0]), test.least)
				assert.Same(t, r, p.asked[1], "the same prepared request")
			})
		})
	}
}

func TestAWaitThatIsTooLongFailsAtOnce(t *testing.T) { // FIELD-Q3
	synctest.Test(t, func(t *testing.T) {
		p := &provider{errs: repeat(limited(time.Hour), 9)}
		begun := time.Now()
		_, err := wrap(t, retry.Settings{}, p).Round(t.Context(), &model.Request{}, func(model.Delta) error { return nil })
		failed, ok := errors.AsType[*model.Error](err)
		require.True(t, ok)
		assert.Contains(t, failed.Message, "1h0m0s")
		assert.False(t, failed.Retryable)
		assert.Len(t, p.times, 1)
		assert.Zero(t, time.Since(begun))
	})
}

func TestCancellingEndsAWaitAtOnce(t *testing.T) { // FIELD-H10
	synctest.Test(t, func(t *testing.T) {
		p := &provider{errs: repeat(limited(30*time.Second), 9)}
		stop := errors.New("the operator stopped it")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, stop)
		defer cancel()
		begun := time.Now()
		_, err := wrap(t, retry.Settings{}, p).Round(ctx, &model.Request{}, func(model.Delta) error { return nil })
		require.ErrorIs(t, err, stop)
		assert.Equal(t, time.Second, time.Since(begun))
		assert.Len(t, p.times, 1)
	})
}

func TestWhatIsRetried(t *testing.T) {
	for name, test := range map[string]struct {
		err   error
		again bool
	}{
		"an error that says so":                {&model.Error{Retryable: true}, true},
		"an error that says no":                {&model.Error{Status: 401, Message: "try again"}, false}, // FIELD-Q6
		"a cancellation that is not ours":      {context.Canceled, true},
		"text that says so":                    {errors.New("upstream timed out"), true},
		"a number that says so":                {errors.New("status=503"), true},
		"a number inside of another":           {errors.New("id 15031"), false},
		"text that says nothing":               {errors.New("no such model"), false},
		"a request that cannot be sent at all": {&model.Error{Code: model.CodeRequestInvalid}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{errs: []error{test.err}}
				_, err := wrap(t, retry.Settings{}, p).Round(t.Context(), &model.Request{}, func(model.Delta) error { return nil })
				if test.again {
					require.NoError(t, err)
					assert.Len(t, p.times, 2)
					return
				}
				require.ErrorIs(t, err, test.err)
				assert.Len(t, p.times, 1)
			})
		})
	}
}

func TestAnErrorOfTheConsumerIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{}
		full := errors.New("timeout while writing")
		_, err := wrap(t, retry.Settings{}, p).Round(t.Context(), &model.Request{}, func(model.Delta) error { return full })
		assert.Equal(t, full, err)
		assert.Len(t, p.times, 1)

		p = &provider{errs: repeat(limited(0), 9)}
		_, err = wrap(t, retry.Settings{}, p).Round(t.Context(), &model.Request{}, func(d model.Delta) error {
			if d.Kind == model.RetryDelta {
				return full
			}
			return nil
		})
		assert.Equal(t, full, err)
		assert.Len(t, p.times, 1)
	})
}

func TestAttemptsCanBeSwitchedOff(t *testing.T) {
	p := &provider{errs: repeat(limited(0), 9)}
	s := retry.Defaults()
	s.Attempts = 0
	_, err := wrap(t, s, p).Round(t.Context(), &model.Request{}, func(model.Delta) error { return nil })
	require.Error(t, err)
	assert.Len(t, p.times, 1)
}

// The partial text of an attempt that failed is what the consumer got before the retry delta: an assembler drops it.
func TestTextOfAFailedAttemptIsDropped(t *testing.T) { // FIELD-Q5
	synctest.Test(t, func(t *testing.T) {
		p := &provider{errs: repeat(limited(0), 2)}
		var a model.Assembler
		var kinds []model.DeltaKind
		_, err := wrap(t, retry.Settings{}, p).Round(t.Context(), &model.Request{}, func(d model.Delta) error {
			kinds = append(kinds, d.Kind)
			return a.Add(d)
		})
		require.NoError(t, err)
		assert.Equal(t, []model.DeltaKind{
			model.TextDelta, model.RetryDelta, model.TextDelta, model.RetryDelta, model.TextDelta,
		}, kinds)
		require.NoError(t, a.Add(model.Delta{Kind: model.FinishDelta, Finish: model.FinishStop}))
		response, err := a.Response()
		require.NoError(t, err)
		require.Len(t, response.Items, 1)
		assert.Equal(t, "part", response.Items[0].Text)
	})
}

type silent struct{ response model.Response }

func (s *silent) Round(context.Context, *model.Request, func(model.Delta) error) (*model.Response, error) {
	return &s.response, nil
}

func TestSuccessCostsOneClosure(t *testing.T) {
	c := wrap(t, retry.Settings{}, &silent{})
	r, ctx := &model.Request{}, context.Background()
	emit := func(model.Delta) error { return nil }
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = c.Round(ctx, r, emit) }), 1.0)
}

func BenchmarkSuccess(b *testing.B) {
	c := wrap(b, retry.Settings{}, &silent{})
	r, ctx := &model.Request{}, context.Background()
	emit := func(model.Delta) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		_, _ = c.Round(ctx, r, emit)
	}
}
