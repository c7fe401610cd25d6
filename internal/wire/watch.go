package wire

import (
	"context"
	"errors"
	"io"
	"time"
)

// Causes with which a round cancels its own request.
var (
	errNoHeaders = errors.New("no answer in time")
	errSilence   = errors.New("silence inside the answer")
	errTrailing  = errors.New("nothing followed the end of the answer")
)

// trailing is how long usage is waited for after an answer that is whole.
const trailing = 2 * time.Second

// watch cancels a request when a time limit passes. One limit holds at a time. It is used by one goroutine.
type watch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	limit  time.Duration
	fixed  bool // bytes do not extend the limit
}

// limitTo replaces the limit that holds; 0 is no limit.
func (w *watch) limitTo(d time.Duration, cause error, fixed bool) {
	w.stop()
	w.limit, w.fixed = d, fixed
	if d > 0 {
		w.timer = time.AfterFunc(d, func() { w.cancel(cause) })
	}
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// reader returns r, each byte of which starts the limit anew.
func (w *watch) reader(r io.Reader) io.Reader { return &watched{w, r} }

type watched struct {
	w *watch
	r io.Reader
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if n > 0 && w.w.timer != nil && !w.w.fixed {
		w.w.timer.Reset(w.w.limit)
	}
	return n, err
}
