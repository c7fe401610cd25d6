package compaction

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/points/model"
)

// ErrOver is returned by a request's Local when the call that it belonged to is over.
var ErrOver = errors.New("compaction: the request is over")

// patience is the deadline of a summariser that has none: it runs on a goroutine of its own, so that the end of the turn
// is the end of the wait whether or not it listens.
const patience = 365 * 24 * time.Hour

// summarizerGuard stands for a plugin's summariser.
type summarizerGuard struct{ ref *generations.Ref[Summarizer] }

func guardSummarizer(value Summarizer, _ any, ref contrib.Ref) Summarizer {
	return &summarizerGuard{ref: generations.Bind(ref, value)}
}

// Summarize gives the plugin copies, and takes back text and ids that it was given.
func (g *summarizerGuard) Summarize(ctx context.Context, r Request) (*Summary, error) {
	given := r.Items
	r.Items = copies(given)
	r.Todos = slices.Clone(r.Todos)
	local := &lease{ask: r.Local}
	r.Local = local.call
	defer local.end()
	deadline := g.ref.Deadline()
	if deadline <= 0 {
		deadline = patience
	}
	s, err := generations.CallWithin(ctx, g.ref, deadline, func(ctx context.Context, v Summarizer) (*Summary, error) {
		s, err := v.Summarize(ctx, r)
		if s == nil || err != nil {
			return nil, err
		}
		return &Summary{Text: strings.Clone(s.Text), Keep: slices.Clone(s.Keep)}, nil
	})
	if err != nil || s == nil {
		return nil, err
	}
	if !utf8.ValidString(s.Text) {
		s.Text = strings.ToValidUTF8(s.Text, "\uFFFD")
	}
	if !endsWith(given, s.Keep) {
		return nil, g.ref.Refuse("kept ids must be those of the request's last items, in order")
	}
	return s, nil
}

// endsWith reports whether ids are those of the last items.
func endsWith(items []*model.Item, ids []string) bool {
	if len(ids) > len(items) {
		return false
	}
	items = items[len(items)-len(ids):]
	for i, id := range ids {
		if id == "" || items[i].ID != id {
			return false
		}
	}
	return true
}

// copies makes items that share nothing with the thread. Opaque state of a provider and image bytes stay behind: they
// are no material for a summary.
func copies(items []*model.Item) []*model.Item {
	out := make([]*model.Item, len(items))
	for i, it := range items {
		c := *it
		c.Images = slices.Clone(it.Images)
		for j := range c.Images {
			c.Images[j].Data = nil
		}
		c.Segments = slices.Clone(it.Segments)
		c.State = nil
		out[i] = &c
	}
	return out
}

// lease makes Local usable for the time of one call.
type lease struct {
	mu  sync.Mutex
	ask func(context.Context) (string, error)
}

func (l *lease) call(ctx context.Context) (string, error) {
	l.mu.Lock()
	ask := l.ask
	l.mu.Unlock()
	if ask == nil {
		return "", ErrOver
	}
	return ask(ctx)
}

func (l *lease) end() {
	l.mu.Lock()
	l.ask = nil
	l.mu.Unlock()
}

// policyGuard stands for a plugin's policy.
type policyGuard struct {
	name string
	ref  *generations.Ref[ToolPolicy]
}

func describePolicy(value ToolPolicy) (any, error) {
	name := strings.Clone(value.Name())
	if n := utf8.RuneCountInString(name); n == 0 || n > 64 || strings.ContainsFunc(name, isControl) {
		return nil, errors.New("the name of a tool policy has 1 to 64 characters and no control characters")
	}
	return name, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func guardPolicy(value ToolPolicy, meta any, ref contrib.Ref) ToolPolicy {
	name, _ := meta.(string)
	return &policyGuard{name: name, ref: generations.Bind(ref, value)}
}

// Name returns the name that was read at the add.
func (g *policyGuard) Name() string { return g.name }

type opinion struct{ yes, known bool }

// Compactable passes the name; a policy that is gone has no opinion.
func (g *policyGuard) Compactable(ctx context.Context, tool string) (yes, known bool, err error) {
	o, err := generations.Call(ctx, g.ref, func(ctx context.Context, v ToolPolicy) (opinion, error) {
		yes, known, err := v.Compactable(ctx, tool)
		return opinion{yes: yes, known: known}, err
	})
	if errors.Is(err, contrib.ErrUnavailable) {
		return false, false, nil
	}
	return o.yes && o.known, o.known, err
}
