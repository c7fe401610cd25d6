package generator

import (
	"context"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

type commitMessageGuard struct {
	ref *generations.Ref[CommitMessageGenerator]
}

func guardCommitMessage(g CommitMessageGenerator, _ any, ref contrib.Ref) CommitMessageGenerator {
	return &commitMessageGuard{ref: generations.Bind(ref, g)}
}

func (g *commitMessageGuard) Suggest(ctx context.Context, r CommitRequest) (*CommitMessage, error) {
	m, err := generations.Call(ctx, g.ref, func(ctx context.Context, v CommitMessageGenerator) (*CommitMessage, error) {
		return v.Suggest(ctx, r)
	})
	if err != nil || m == nil {
		return nil, err
	}
	own := CommitMessage{Title: cutBytes(m.Title, MaxCommitMessage)}
	own.Body = cutBytes(m.Body, MaxCommitMessage-len(own.Title))
	return &own, nil
}

type welcomeGuard struct {
	ref *generations.Ref[WelcomeGenerator]
}

func guardWelcome(g WelcomeGenerator, _ any, ref contrib.Ref) WelcomeGenerator {
	return &welcomeGuard{ref: generations.Bind(ref, g)}
}

func (g *welcomeGuard) Suggest(ctx context.Context, r WelcomeRequest) ([]Suggestion, error) {
	list, err := generations.Call(ctx, g.ref, func(ctx context.Context, v WelcomeGenerator) ([]Suggestion, error) {
		return v.Suggest(ctx, r)
	})
	if err != nil {
		return nil, err
	}
	list = list[:min(len(list), MaxSuggestions)]
	own := make([]Suggestion, len(list))
	for i, s := range list {
		own[i] = Suggestion{Text: cutRunes(s.Text, MaxSuggestion)}
	}
	return own, nil
}

func (g *welcomeGuard) Schedule(ctx context.Context, workspace string) error {
	return g.ref.Do(ctx, func(ctx context.Context, v WelcomeGenerator) error { return v.Schedule(ctx, workspace) })
}

func (g *welcomeGuard) Clear(ctx context.Context, workspace string) error {
	return g.ref.Do(ctx, func(ctx context.Context, v WelcomeGenerator) error { return v.Clear(ctx, workspace) })
}

// cutBytes cuts at a character, so that no half of one is left.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func cutRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
