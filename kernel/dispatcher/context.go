package dispatcher

import (
	"context"
	"sync"
	"time"
)

// toolContext is the context of one invocation: done when the turn's is, and when the invocation is over. Most tools that
// end at once never wait for it, so the standard context that does the work is made when somebody asks for Done.
type toolContext struct {
	parent context.Context

	mu      sync.Mutex
	cause   error // why it is over; nil: it is not
	watched context.Context
	cancel  context.CancelCauseFunc // of watched
}

// stop ends the context. The first cause counts.
func (c *toolContext) stop(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = cause
	}
	if c.cancel != nil {
		c.cancel(cause)
	}
}

// watch returns the standard context, and makes it when there is none yet.
func (c *toolContext) watch() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watched == nil {
		c.watched, c.cancel = context.WithCancelCause(c.parent)
		if c.cause != nil {
			c.cancel(c.cause)
		}
	}
	return c.watched
}

// standard returns the standard context if there is one, or if one is needed because the invocation is over.
func (c *toolContext) standard() context.Context {
	c.mu.Lock()
	watched, over := c.watched, c.cause != nil
	c.mu.Unlock()
	if watched == nil && over {
		return c.watch()
	}
	return watched
}

// Deadline implements context.Context.
func (c *toolContext) Deadline() (time.Time, bool) { return c.parent.Deadline() }

// Done implements context.Context.
func (c *toolContext) Done() <-chan struct{} { return c.watch().Done() }

// Err implements context.Context.
func (c *toolContext) Err() error {
	if s := c.standard(); s != nil {
		return s.Err()
	}
	return c.parent.Err()
}

// Value implements context.Context. It asks the standard context, where context.Cause finds the cause, once there is one.
func (c *toolContext) Value(key any) any {
	if s := c.standard(); s != nil {
		return s.Value(key)
	}
	return c.parent.Value(key)
}
