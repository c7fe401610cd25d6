package dispatcher

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// Watch is told about calls by the entry recorder:default: what clients and traces hang on to. Functions may be nil;
// they may be called by several goroutines, must be quick and must change nothing that they are given.
type Watch struct {
	Started func(c dispatch.Call)
	Ended   func(c dispatch.Call, r tool.Result, took time.Duration)
}

// recorder is the entry recorder:default.
type recorder struct{ watch Watch }

var _ dispatch.Recorder = (*recorder)(nil)

// Started implements [dispatch.Recorder].
func (r *recorder) Started(_ context.Context, c dispatch.Call) error {
	if r.watch.Started != nil {
		r.watch.Started(c)
	}
	return nil
}

// Ended implements [dispatch.Recorder].
func (r *recorder) Ended(_ context.Context, c dispatch.Call, res tool.Result, took time.Duration) error {
	if r.watch.Ended != nil {
		r.watch.Ended(c, res, took)
	}
	return nil
}
