package generator

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/crystalkernel/crystal/contrib"
)

// requestTime bounds one request.
const requestTime = 60 * time.Second

// CurrentCommitMessage returns a generator for holders: each request goes to the entry that has authority at that moment, so
// that a later replacement is seen. A nil answer, and a registry without an entry, is an empty message. What comes out is
// within the limits, without control characters other than the line feeds and tabs of the body. A failure is returned.
func CurrentCommitMessage(r *contrib.Registry) CommitMessageGenerator {
	return CommitMessageFunc(func(ctx context.Context, req CommitRequest) (*CommitMessage, error) {
		m, err := ask(ctx, r, CommitMessages, func(ctx context.Context, g CommitMessageGenerator) (*CommitMessage, error) {
			return g.Suggest(ctx, req)
		})
		if err != nil || m == nil {
			return &CommitMessage{}, err
		}
		own := CommitMessage{Title: cutBytes(line(m.Title), MaxCommitMessage)}
		own.Body = cutBytes(lines(m.Body), MaxCommitMessage-len(own.Title))
		return &own, nil
	})
}

// CurrentWelcome is [CurrentCommitMessage] for welcomes. Blank suggestions are left out.
func CurrentWelcome(r *contrib.Registry) WelcomeGenerator { return currentWelcome{r} }

type currentWelcome struct{ registry *contrib.Registry }

func (w currentWelcome) Suggest(ctx context.Context, r WelcomeRequest) ([]Suggestion, error) {
	list, err := ask(ctx, w.registry, Welcomes, func(ctx context.Context, g WelcomeGenerator) ([]Suggestion, error) {
		return g.Suggest(ctx, r)
	})
	var own []Suggestion
	for _, s := range list {
		if s.Text = strings.TrimSpace(cutRunes(line(s.Text), MaxSuggestion)); s.Text != "" && len(own) < MaxSuggestions {
			own = append(own, s)
		}
	}
	return own, err
}

func (w currentWelcome) Schedule(ctx context.Context, workspace string) error {
	_, err := ask(ctx, w.registry, Welcomes, func(ctx context.Context, g WelcomeGenerator) (struct{}, error) {
		return struct{}{}, g.Schedule(ctx, workspace)
	})
	return err
}

func (w currentWelcome) Clear(ctx context.Context, workspace string) error {
	_, err := ask(ctx, w.registry, Welcomes, func(ctx context.Context, g WelcomeGenerator) (struct{}, error) {
		return struct{}{}, g.Clear(ctx, workspace)
	})
	return err
}

// ask asks the last entry. One that was withdrawn meanwhile leaves the answer to what stands in its place.
func ask[T, R any](ctx context.Context, r *contrib.Registry, p *contrib.Point[T], f func(context.Context, T) (R, error)) (R, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	for asked := uint64(0); ; {
		entries := p.Entries(r.View(), "")
		if len(entries) == 0 || entries[len(entries)-1].ID == asked {
			var none R
			return none, nil
		}
		last := entries[len(entries)-1:]
		asked = last[0].ID
		withdrawn := false
		answer, _, err := contrib.First(ctx, last, func(ctx context.Context, g T) (R, bool, error) {
			answer, err := f(ctx, g)
			withdrawn = errors.Is(err, contrib.ErrRevoked)
			return answer, true, err
		}, nil)
		if !withdrawn {
			return answer, err
		}
	}
}

// line makes one line without control characters.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text)
}

// lines takes control characters away, and keeps line feeds and tabs.
func lines(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
}
