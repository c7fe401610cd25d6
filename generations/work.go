package generations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// work is one function that runs in the background.
type work struct {
	name string
	fn   func(context.Context) error
}

// Go runs fn in the background, on a goroutine of its own with the labels of the generation and the context of the
// lifetime. Before the generation is committed it is queued; all queued work starts after the commit, in order. Afterwards
// it starts at once.
//
// Returning nil ends the work cleanly, and so does a cancellation error once the generation was told to stop. Everything
// else is a failure, a panic too, and stops the plugin. The teardown waits for fn. A panic on a goroutine that fn starts
// with a bare go statement ends the process; nobody can contain it.
func (l *Lifetime) Go(name string, fn func(context.Context) error) error {
	if fn == nil {
		return fmt.Errorf("generations: background work %q is nil", name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping {
		return ErrStopping
	}
	w := work{name, fn}
	if !l.live {
		l.queue = append(l.queue, w)
		return nil
	}
	l.launch(w)
	return nil
}

// start launches what is queued. It is called once, after the commit.
func (l *Lifetime) start() {
	l.mu.Lock()
	if l.stopping {
		l.mu.Unlock()
		return
	}
	l.live = true
	for _, w := range l.queue {
		l.launch(w)
	}
	l.queue = nil
	fault, faulted := l.fault, l.faulted
	l.mu.Unlock()
	if faulted {
		l.tell(fault)
	}
}

// launch starts w. The lock is held.
func (l *Lifetime) launch(w work) {
	l.running++
	go l.run(w)
}

func (l *Lifetime) run(w work) {
	defer l.ended()
	setGoroutineLabels(l.core.labels)
	err, returned := error(nil), false
	defer func() {
		defer setGoroutineLabels(nil)
		more := []any{slog.String("work", w.name)}
		if p := recover(); p != nil {
			more = append(more, panicAttrs(p)...)
		} else if !returned {
			more = append(more, slog.String("panic", "the code ended its goroutine"))
		} else if err == nil {
			return
		} else {
			more = append(more, slog.String("error", fmt.Sprint(err)))
		}
		l.core.log.Error("background work failed", l.core.attrs("work", more...)...)
		setGoroutineLabels(nil) // what follows is the host
		l.failure(w.name)
	}()
	err = w.fn(l.core.stop)
	if err != nil && l.core.stop.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, ErrStopping)) {
		err = nil
	}
	returned = true
}

// ended counts w out.
func (l *Lifetime) ended() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	if l.stopping && l.running == 0 {
		close(l.idle)
	}
}

// failure reports failed work once. When the generation is stopping anyway it is a cleanup error.
func (l *Lifetime) failure(work string) {
	l.mu.Lock()
	tell := false
	switch {
	case l.stopping:
		l.failed = append(l.failed, work)
	case !l.faulted:
		l.faulted, l.fault = true, work
		tell = l.live
	}
	l.mu.Unlock()
	if tell {
		l.tell(work)
	}
}

// tell tells the host.
func (l *Lifetime) tell(work string) {
	if l.onFault != nil {
		Unlabelled(func() { l.onFault(work) })
	}
}

// failures returns the names of the work that failed while stopping.
func (l *Lifetime) failures() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}
