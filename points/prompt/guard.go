package prompt

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

func describeSection(s Section) (any, error) {
	name := strings.TrimSpace(s.Name())
	if name == "" {
		return nil, errors.New("the section has a blank name")
	}
	return name, nil
}

type sectionGuard struct {
	name string
	ref  *generations.Ref[Section]
}

func guardSection(s Section, meta any, ref contrib.Ref) Section {
	return &sectionGuard{name: meta.(string), ref: generations.Bind(ref, s)}
}

func (g *sectionGuard) Name() string { return g.name }

func (g *sectionGuard) Content(ctx context.Context, c Context) (string, error) {
	c.Tools = slices.Clone(c.Tools)
	text, err := generations.Call(ctx, g.ref, func(ctx context.Context, s Section) (string, error) {
		return s.Content(ctx, c)
	})
	return bounded(g.ref, text, err, MaxSection)
}

// bounded answers nothing when the plugin is gone, and refuses a text that is too long.
func bounded[T any](ref *generations.Ref[T], text string, err error, limit int) (string, error) {
	switch {
	case errors.Is(err, contrib.ErrRevoked):
		return "", nil
	case err != nil:
		return "", err
	case len(text) > limit:
		return "", ref.Refuse(fmt.Sprintf("the text has %d bytes, at most %d are allowed", len(text), limit))
	}
	return text, nil
}

type assemblerGuard struct {
	ref *generations.Ref[Assembler]
}

func guardAssembler(a Assembler, _ any, ref contrib.Ref) Assembler {
	return &assemblerGuard{ref: generations.Bind(ref, a)}
}

func (g *assemblerGuard) Assemble(ctx context.Context, assembled string, c Context) (*string, error) {
	c.Tools = slices.Clone(c.Tools)
	text, err := generations.Call(ctx, g.ref, func(ctx context.Context, a Assembler) (*string, error) {
		return a.Assemble(ctx, assembled, c)
	})
	if err != nil || text == nil {
		if errors.Is(err, contrib.ErrRevoked) {
			err = nil
		}
		return nil, err
	}
	own := *text
	return &own, nil
}

type chatContextGuard struct {
	ref *generations.Ref[ChatContext]
}

func guardChatContext(c ChatContext, _ any, ref contrib.Ref) ChatContext {
	return &chatContextGuard{ref: generations.Bind(ref, c)}
}

func (g *chatContextGuard) Section(ctx context.Context, c Chat) (string, error) {
	text, err := generations.Call(ctx, g.ref, func(ctx context.Context, v ChatContext) (string, error) {
		return v.Section(ctx, c)
	})
	return bounded(g.ref, text, err, MaxContext)
}

func (g *chatContextGuard) RuntimeLines(ctx context.Context, c Chat) ([]string, error) {
	lines, err := generations.Call(ctx, g.ref, func(ctx context.Context, v ChatContext) ([]string, error) {
		lines, err := v.RuntimeLines(ctx, c)
		return slices.Clone(lines), err
	})
	if err != nil {
		if errors.Is(err, contrib.ErrRevoked) {
			err = nil
		}
		return nil, err
	}
	if len(lines) > MaxLines {
		return nil, g.ref.Refuse(fmt.Sprintf("%d lines, at most %d are allowed", len(lines), MaxLines))
	}
	for _, l := range lines {
		if len(l) > MaxRuntimeLine {
			return nil, g.ref.Refuse(fmt.Sprintf("a line has %d bytes, at most %d are allowed", len(l), MaxRuntimeLine))
		}
	}
	return lines, nil
}

func describeThreadContext(t ThreadContext) (any, error) {
	key := t.PageKey()
	if strings.TrimSpace(key) == "" || len(key) > 64 {
		return nil, errors.New("the page key must have 1 to 64 bytes")
	}
	return key, nil
}

type threadContextGuard struct {
	key string
	ref *generations.Ref[ThreadContext]
}

func guardThreadContext(t ThreadContext, meta any, ref contrib.Ref) ThreadContext {
	return &threadContextGuard{key: meta.(string), ref: generations.Bind(ref, t)}
}

func (g *threadContextGuard) PageKey() string { return g.key }

func (g *threadContextGuard) Section(ctx context.Context, thread string) (string, error) {
	text, err := generations.Call(ctx, g.ref, func(ctx context.Context, v ThreadContext) (string, error) {
		return v.Section(ctx, thread)
	})
	return bounded(g.ref, text, err, MaxContext)
}

var placeholderName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

func describePlaceholder(p Placeholder) (any, error) {
	name := strings.TrimSpace(p.Name())
	if !placeholderName.MatchString(name) {
		return nil, fmt.Errorf("the placeholder name %.80q is not a letter followed by letters, digits or _", name)
	}
	name = strings.ToLower(name)
	if _, own := slices.BinarySearch(hostPlaceholders, name); own {
		return nil, fmt.Errorf("the placeholder name %q belongs to the host", name)
	}
	return name, nil
}

type placeholderGuard struct {
	name string
	ref  *generations.Ref[Placeholder]
}

func guardPlaceholder(p Placeholder, meta any, ref contrib.Ref) Placeholder {
	return &placeholderGuard{name: meta.(string), ref: generations.Bind(ref, p)}
}

func (g *placeholderGuard) Name() string { return g.name }

// Resolve passes contrib.ErrUnavailable on: the token stays, while an empty text would be a value.
func (g *placeholderGuard) Resolve(ctx context.Context, b Binding) (string, error) {
	b.Environment = b.Environment.Clone()
	text, err := generations.Call(ctx, g.ref, func(ctx context.Context, p Placeholder) (string, error) {
		return p.Resolve(ctx, b)
	})
	if err == nil && len(text) > MaxContext {
		return "", g.ref.Refuse(fmt.Sprintf("the text has %d bytes, at most %d are allowed", len(text), MaxContext))
	}
	return text, err
}
