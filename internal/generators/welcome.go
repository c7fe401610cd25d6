package generators

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/crystalkernel/crystal/points/generator"
)

// freshFor is how long suggestions that were made beforehand count.
const freshFor = 24 * time.Hour

// Welcome suggests what to do first in a workspace. Schedule looks at the workspace in the background and keeps what it
// finds, so that the next welcome needs no look; without it, and after a day, Suggest looks itself. Make it with [NewWelcome].
type Welcome struct {
	kept store
	log  *slog.Logger

	work    sync.WaitGroup
	writing sync.Mutex // held while what is kept changes; taken before mu

	mu   sync.Mutex
	done bool
	jobs map[string]*job // by workspace
}

// job is a look in the background.
type job struct{ dropped bool }

var _ generator.WelcomeGenerator = (*Welcome)(nil)

// NewWelcome makes a generator that keeps its suggestions under home; a blank home keeps them in memory. Close ends it.
func NewWelcome(home string, log *slog.Logger) *Welcome {
	return &Welcome{kept: newStore(home), log: log, jobs: map[string]*job{}}
}

// Suggest implements generator.WelcomeGenerator. A blank workspace has no suggestions.
func (w *Welcome) Suggest(ctx context.Context, r generator.WelcomeRequest) ([]generator.Suggestion, error) {
	if err := ctx.Err(); err != nil || r.Workspace == "" {
		return nil, err
	}
	k, err := w.kept.read(r.Workspace)
	if err != nil {
		w.log.Warn("read the suggestions of a welcome", "workspace", r.Workspace, "error", err)
	}
	texts := k.Suggestions
	if age := time.Since(k.Made); age < 0 || age > freshFor {
		if texts, err = look(r.Workspace); err != nil {
			return nil, fmt.Errorf("generators: look at the workspace for a welcome: %w", err)
		}
	}
	out := make([]generator.Suggestion, 0, len(texts))
	for _, t := range texts {
		out = append(out, generator.Suggestion{Text: t})
	}
	return out, nil
}

// Schedule implements generator.WelcomeGenerator. A workspace that is being looked at is not looked at twice.
func (w *Welcome) Schedule(ctx context.Context, workspace string) error {
	if err := ctx.Err(); err != nil || workspace == "" {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done || w.jobs[workspace] != nil {
		return nil
	}
	j := &job{}
	w.jobs[workspace] = j
	w.work.Go(func() { w.run(workspace, j) })
	return nil
}

// run looks at a workspace and keeps what it finds, unless somebody has cleared it meanwhile.
func (w *Welcome) run(workspace string, j *job) {
	texts, err := look(workspace)
	w.writing.Lock()
	defer w.writing.Unlock()
	if w.finished(workspace, j) && err == nil {
		err = w.kept.write(workspace, kept{Workspace: workspace, Made: time.Now().UTC(), Suggestions: texts})
	}
	if err != nil {
		w.log.Warn("make the suggestions of a welcome", "workspace", workspace, "error", err)
	}
}

// finished ends a job and reports whether what it came to is still wanted.
func (w *Welcome) finished(workspace string, j *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !j.dropped {
		delete(w.jobs, workspace)
	}
	return !j.dropped
}

// Clear implements generator.WelcomeGenerator.
func (w *Welcome) Clear(ctx context.Context, workspace string) error {
	if err := ctx.Err(); err != nil || workspace == "" {
		return err
	}
	w.drop(workspace)
	w.writing.Lock()
	defer w.writing.Unlock()
	if err := w.kept.remove(workspace); err != nil {
		return fmt.Errorf("generators: forget the suggestions of a welcome: %w", err)
	}
	return nil
}

func (w *Welcome) drop(workspace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if j := w.jobs[workspace]; j != nil {
		j.dropped = true
		delete(w.jobs, workspace)
	}
}

// Close waits for what was scheduled. Nothing is scheduled afterwards.
func (w *Welcome) Close() {
	w.mu.Lock()
	w.done = true
	w.mu.Unlock()
	w.work.Wait()
}
