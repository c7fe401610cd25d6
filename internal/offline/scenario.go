package offline

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/crystalkernel/crystal/points/model"
)

// Errors of scenarios.
var (
	ErrUsedUp   = errors.New("the scenario has no step left for this request")
	ErrMismatch = errors.New("the request is not what the scenario expects")
)

// scenario is a scripted sequence of answers.
type scenario struct {
	path   string
	steps  []step
	repeat bool

	mu    sync.Mutex
	taken []bool   // guarded by mu
	notes []string // not given yet; guarded by mu
}

// step is one answer and what its request has to look like.
type step struct {
	expect expect
	answer answer
}

// expect is what is checked. A blank member is not.
type expect struct {
	purpose    model.Purpose
	lastUser   string
	lastResult string
	system     string
	tools      []string
}

// answer takes the step for a request.
func (s *scenario) answer(r *model.Request) (answer, error) {
	n, notes := s.take(r)
	if n < 0 {
		return answer{}, fmt.Errorf("%w: %s has %d steps; add one, or \"repeat\": true",
			ErrUsedUp, filepath.Base(s.path), len(s.steps))
	}
	if err := s.steps[n].expect.check(r); err != nil {
		return answer{}, fmt.Errorf("%w: %s, step %d: %w", ErrMismatch, filepath.Base(s.path), n+1, err)
	}
	a := s.steps[n].answer
	a.notes = notes
	return a, nil
}

// take marks the first step that is left and meant for the purpose of r, and returns its number, or -1.
func (s *scenario) take(r *model.Request) (int, []string) {
	purpose := r.Purpose
	if purpose == "" {
		purpose = model.Work
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	notes := s.notes
	s.notes = nil
	for i := range s.steps {
		if p := s.steps[i].expect.purpose; !s.taken[i] && (p == "" || p == purpose) {
			s.taken[i] = true
			return i, notes
		}
	}
	if s.repeat {
		return len(s.steps) - 1, notes
	}
	return -1, notes
}

func (e *expect) check(r *model.Request) error {
	contains := func(what, text, part string) error {
		if part == "" || strings.Contains(text, part) {
			return nil
		}
		return fmt.Errorf("%s should contain %q and is %q", what, part, shorten(text))
	}
	system := r.System
	for _, i := range r.Items {
		if i.Kind == model.Message && i.Role == model.System {
			system += "\n" + i.Text
		}
	}
	err := errors.Join(
		contains("the last user text", lastUser(r.Items), e.lastUser),
		contains("the last result", lastResult(r.Items), e.lastResult),
		contains("the system text", system, e.system),
	)
	for _, name := range e.tools {
		if !slices.ContainsFunc(r.Tools, func(t model.Tool) bool { return t.Name == name }) {
			err = errors.Join(err, fmt.Errorf("the tool %q is not offered", name))
		}
	}
	return err
}

func shorten(text string) string {
	n := 0
	for i := range text {
		if n++; n > 100 {
			return text[:i] + "…"
		}
	}
	return text
}
