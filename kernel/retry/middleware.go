package retry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/model"
)

// Module contributes the middleware under its target name. It takes [Settings] from the host if there are any.
var Module = contrib.Provide[model.Middleware](model.Middlewares, fromHost,
	contrib.Named(model.Retry), contrib.Order(300))

type host struct {
	fx.In
	Settings Settings `optional:"true"`
}

func fromHost(h host) model.Middleware { return New(h.Settings) }

// Middleware is the middleware. It is safe for use by several goroutines.
type Middleware struct{ settings Settings }

var _ model.Middleware = (*Middleware)(nil)

// New returns a middleware with these settings.
func New(s Settings) *Middleware {
	if s == (Settings{}) {
		s = Defaults()
	}
	return &Middleware{settings: s}
}

// Name returns the target name.
func (m *Middleware) Name() string { return model.Retry }

// Wrap returns a client that retries the rounds of next.
func (m *Middleware) Wrap(_ context.Context, next model.Client, _ model.PipelineInfo) (model.Client, error) {
	return &client{settings: m.settings, next: next}, nil
}

type client struct {
	settings Settings
	next     model.Client
}

// refusal marks an error of the consumer, which no further attempt can mend.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// Round sends r until it succeeds, fails for good, or the attempts are used up; then the last error is returned.
func (c *client) Round(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
	guarded := func(d model.Delta) error {
		if err := emit(d); err != nil {
			return refusal{err}
		}
		return nil
	}
	response, err := c.next.Round(ctx, r, guarded)
	for n := 1; err != nil; n++ {
		if refused, ok := errors.AsType[refusal](err); ok {
			return nil, refused.error
		}
		if n > c.settings.Attempts || ctx.Err() != nil || !passes(err) {
			return nil, err
		}
		if err := c.wait(ctx, n, err, emit); err != nil {
			return nil, err
		}
		response, err = c.next.Round(ctx, r, guarded)
	}
	return response, nil
}

// passes reports whether an error may pass. A cancellation that is not the caller's is one.
func passes(err error) bool {
	if _, ours := errors.AsType[*model.Error](err); !ours && errors.Is(err, context.Canceled) {
		return true
	}
	return model.Retryable(err)
}

// wait announces retry n and waits for it.
func (c *client) wait(ctx context.Context, n int, cause error, emit func(model.Delta) error) error {
	delay := c.settings.delay(n)
	if failed, ok := errors.AsType[*model.Error](cause); ok && failed.HasRetry {
		if failed.RetryAfter > c.settings.MaxServerWait {
			return tooLong(failed, c.settings.MaxServerWait)
		}
		delay = max(delay, failed.RetryAfter)
	}
	err := emit(model.Delta{Kind: model.RetryDelta, Attempt: n, Delay: delay, Text: cause.Error()})
	if err != nil {
		return err
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tooLong is the error of a server that asks for a longer wait than the host allows.
func tooLong(failed *model.Error, limit time.Duration) error {
	e := *failed
	e.Retryable = false
	e.Message = fmt.Sprintf("%s (the provider asks to wait %s; the limit retry.maxRetryAfter is %s)",
		e.Message, failed.RetryAfter.Round(time.Second), limit)
	return &e
}
