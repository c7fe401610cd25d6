package compaction

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
)

// Failures of a compaction, as [Outcome.Failure] has them.
var (
	errBlank      = errors.New("the summary is blank")
	errTooLarge   = errors.New("the summary is no smaller than what it replaces")
	errDoesNotFit = errors.New("not even one turn fits into the window of the summary request")
	errDeclined   = errors.New("the summariser declined")
	errNobody     = errors.New("there is no summariser")
	errNotKept    = errors.New("the summariser keeps items that are not the last of its request")
	errNothing    = errors.New("the summariser keeps everything")
	errNoMessage  = errors.New("the summary would leave no message to answer")
)

// Run compacts a thread. An error is returned when ctx is done, or when the log can't be written; every other failure is
// part of the outcome and leaves the history as it was. The caller sees to it that nothing else is appended meanwhile.
func Run(ctx context.Context, in Inputs) (Outcome, error) {
	r := &run{in: in, out: Outcome{Before: in.Load.Estimate()}}
	if err := r.compact(ctx); err != nil {
		return r.out, err
	}
	items := in.Log.Items()
	load := in.Load
	load.Items = estimate.Items(items, in.Sends)
	r.out.After = load.Estimate()
	r.out.Fits = in.Settings.Fits(r.out.After)
	if !r.out.Fits {
		r.out.Largest = Largest(load, items, in.Sends)
	}
	r.out.Usage = r.used()
	return r.out, nil
}

// run is one compaction.
type run struct {
	in  Inputs
	out Outcome

	mu    sync.Mutex // a summariser may ask from a goroutine of its own
	usage *model.Usage
}

func (r *run) compact(ctx context.Context) error {
	if r.in.Reason == ByHand && lastUser(r.conversation()) <= 0 {
		r.out.Result = Nothing
		return nil
	}
	freed, err := r.prune(ctx)
	if err != nil {
		return err
	}
	r.out.Pruned = freed
	if r.enough(freed) {
		r.out.Result = Applied
		return nil
	}
	items := r.conversation()
	at := split(items, r.tailBudget(), r.in.Sends)
	if r.in.Turn != "" {
		at = answerable(items, at)
	}
	if at == 0 && r.in.Reason == ByHand {
		at = lastUser(items)
	}
	if at == 0 {
		r.out.Result = Unchanged
		if freed > 0 {
			r.out.Result = Applied
		}
		return nil
	}
	failure := r.fold(ctx, items, at)
	switch stored := new(storeError); {
	case ctx.Err() != nil && failure != nil:
		return fmt.Errorf("compact thread %s: %w", r.in.Thread, context.Cause(ctx))
	case errors.As(failure, &stored):
		return fmt.Errorf("compact thread %s: %w", r.in.Thread, stored.err)
	case failure == nil:
		r.out.Result, r.out.Summarised = Applied, true
		return nil
	}
	r.out.Failure, r.out.Result = failure, Exhausted
	if freed > 0 {
		r.out.Result = Applied
	}
	r.note("No summary was stored, and the history is as before: " + strings.TrimSuffix(failure.Error(), ".") + ".")
	return nil
}

func (r *run) note(message string) {
	if r.in.Note != nil {
		r.in.Note(CompactionFailed, message)
	}
}

// enough reports whether dropping tool outputs was enough. When the provider said that the context is too long, the
// numbers are wrong: then only something that was freed counts.
func (r *run) enough(freed int) bool {
	if r.in.Reason == ByHand || r.in.Reason == Overflow && freed == 0 {
		return false
	}
	limit := r.in.Settings.Limit()
	return r.in.Load.Estimate()-freed < limit && r.in.Load.Reported-freed < limit
}

// conversation is the list without the earlier summary.
func (r *run) conversation() []*model.Item {
	items := r.in.Log.Items()
	if len(items) > 0 && items[0] == r.in.Log.Summary() {
		items = items[1:]
	}
	return items
}

// storeError is a failure of the log: it ends the turn.
type storeError struct{ err error }

func (e *storeError) Error() string { return e.err.Error() }

// fold replaces the items before at by a summary.
func (r *run) fold(ctx context.Context, items []*model.Item, at int) error {
	made, err := r.summary(ctx, items, at)
	if err != nil {
		return err
	}
	body := strings.TrimSpace(made.text)
	if body == "" {
		return errBlank
	}
	if body, err = r.in.Hooks.text(ctx, hook.PhaseSummary, body); err != nil {
		return err
	}
	tail := items[made.at:]
	if r.in.Turn != "" && !hasInput(tail) {
		return errNoMessage
	}
	summary := &model.Item{
		Kind: model.Message, Role: model.System, Text: storedForm(body, openTodos(r.in.Log.State().Todos)),
	}
	fixed := r.in.Load.System + r.in.Load.Tools
	before := fixed + estimate.Items(r.in.Log.Items(), r.in.Sends)
	after := fixed + estimate.Item(summary, r.in.Sends) + estimate.Items(tail, r.in.Sends)
	if after >= r.in.Settings.Limit() && after >= before {
		return errTooLarge
	}
	err = r.in.Log.Append(&threadlog.Compaction{
		Through: through(items[:made.at]), Summary: summary, Reason: string(r.in.Reason),
		Before: r.out.Before, After: after, Usage: r.used(),
	})
	if err != nil {
		return &storeError{err}
	}
	return nil
}

// through is the id of the last item that has one: made-up results have none.
func through(head []*model.Item) string {
	for i := len(head) - 1; i >= 0; i-- {
		if head[i].ID != "" {
			return head[i].ID
		}
	}
	return ""
}

func (r *run) used() *model.Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.usage == nil {
		return nil
	}
	u := *r.usage
	return &u
}

// spend adds the usage of one summary request.
func (r *run) spend(u *model.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.usage == nil {
		r.usage = new(model.Usage)
	}
	r.usage.Input += u.Input
	r.usage.Output += u.Output
	r.usage.Reasoning += u.Reasoning
	r.usage.CacheRead += u.CacheRead
	r.usage.CacheWrite += u.CacheWrite
	r.usage.Total += u.Total
	r.usage.Estimated = r.usage.Estimated || u.Estimated
}
