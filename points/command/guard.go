package command

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

// Meta is what the registry keeps of a command: names in lower case, without the slash.
type Meta struct {
	Name        string
	Aliases     []string
	Description string
}

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

func describe(c interface {
	Name() string
	Aliases() []string
	Description() string
},
) (Meta, error) {
	m := Meta{Name: normal(c.Name()), Description: strings.TrimSpace(c.Description())}
	if !namePattern.MatchString(m.Name) {
		return Meta{}, fmt.Errorf("the command name %.80q is not a letter followed by letters, digits, _ or -", c.Name())
	}
	for _, a := range c.Aliases() {
		a = normal(a)
		if a == "" || a == m.Name || slices.Contains(m.Aliases, a) {
			continue
		}
		if !namePattern.MatchString(a) {
			return Meta{}, fmt.Errorf("the alias %.80q of the command %s is not a letter followed by letters, digits, _ or -", a, m.Name)
		}
		m.Aliases = append(m.Aliases, a)
	}
	return m, nil
}

func normal(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(name), "/"))
}

type promptGuard struct {
	meta Meta
	ref  *generations.Ref[Prompt]
}

func guardPrompt(p Prompt, meta any, ref contrib.Ref) Prompt {
	return &promptGuard{meta: meta.(Meta), ref: generations.Bind(ref, p)}
}

func (g *promptGuard) Name() string        { return g.meta.Name }
func (g *promptGuard) Aliases() []string   { return slices.Clone(g.meta.Aliases) }
func (g *promptGuard) Description() string { return g.meta.Description }

func (g *promptGuard) Expand(ctx context.Context, i Invocation) (string, bool, error) {
	type answer struct {
		text string
		ok   bool
	}
	a, err := generations.Call(ctx, g.ref, func(ctx context.Context, p Prompt) (answer, error) {
		text, ok, err := p.Expand(ctx, i)
		return answer{text, ok}, err
	})
	switch {
	case errors.Is(err, contrib.ErrRevoked):
		return "", false, nil
	case err != nil:
		return "", false, err
	case len(a.text) > MaxText:
		return "", false, g.ref.Refuse(fmt.Sprintf("the expansion has %d bytes, at most %d are allowed", len(a.text), MaxText))
	}
	return a.text, a.ok, nil
}

type actionGuard struct {
	meta Meta
	ref  *generations.Ref[Action]
}

func guardAction(a Action, meta any, ref contrib.Ref) Action {
	return &actionGuard{meta: meta.(Meta), ref: generations.Bind(ref, a)}
}

func (g *actionGuard) Name() string        { return g.meta.Name }
func (g *actionGuard) Aliases() []string   { return slices.Clone(g.meta.Aliases) }
func (g *actionGuard) Description() string { return g.meta.Description }

func (g *actionGuard) Execute(ctx context.Context, argument string, out Output) error {
	own := &onceOutput{out: out}
	defer own.close()
	return g.ref.Do(ctx, func(ctx context.Context, a Action) error { return a.Execute(ctx, argument, own) })
}

// ErrOutputClosed is returned by an Output that is used after Execute has returned.
var ErrOutputClosed = errors.New("command: output used after the command has ended")

type onceOutput struct {
	mu  sync.Mutex
	out Output
}

func (o *onceOutput) Write(text string) error {
	return o.with(func(out Output) error { return out.Write(text) })
}

func (o *onceOutput) Fail(text string) error {
	return o.with(func(out Output) error { return out.Fail(text) })
}

func (o *onceOutput) with(f func(Output) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.out == nil {
		return ErrOutputClosed
	}
	return f(o.out)
}

func (o *onceOutput) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.out = nil
}
