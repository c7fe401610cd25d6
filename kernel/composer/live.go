package composer

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/prompt"
)

// Live knows the open threads: the built-in sections and the built-in source of agent.context find there what the running
// turn composes from. It is safe for use by several goroutines.
type Live struct {
	mu      sync.RWMutex
	threads map[string]*Thread
}

// NewLive makes a Live that knows no thread.
func NewLive() *Live { return &Live{threads: map[string]*Thread{}} }

// Open makes a thread known. Its turns own the result.
func (l *Live) Open(id string) *Thread {
	t := new(Thread)
	l.mu.Lock()
	l.threads[id] = t
	l.mu.Unlock()
	return t
}

// Close forgets a thread and the pages that were built for it.
func (l *Live) Close(id string) {
	l.mu.Lock()
	delete(l.threads, id)
	l.mu.Unlock()
}

// Borrow makes a thread known that is not open, for as long as one prompt of it is composed without a turn; nil when it is
// known already. done forgets it, unless it was opened meanwhile.
func (l *Live) Borrow(id string) (t *Thread, done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.threads[id] != nil {
		return nil, func() {}
	}
	t = new(Thread)
	l.threads[id] = t
	return t, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.threads[id] == t {
			delete(l.threads, id)
		}
	}
}

// find returns an open thread; nil for another one.
func (l *Live) find(id string) *Thread {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.threads[id]
}

// Thread is what the prompts of one open thread are composed from. The running turn owns it: its methods are called by one
// goroutine at a time, [Thread.Refresh] apart.
type Thread struct {
	in   Inputs
	chat prompt.Chat

	made  bool   // text was composed in this turn
	text  string // the prompt
	notes string // text of prompt.chat_context in it

	pages   map[uint64]string // pages of prompt.thread_context by entry
	refresh atomic.Bool

	provider *composed // made once

	seen *contrib.View  // the view of the last sections; nil when they have to be asked again
	last prompt.Context // what they were asked with
	more [2]string      // what they were told about deferred tools and subagents

	// Kept from prompt to prompt: an unchanged one needs no new memory.
	parts  []Part
	buffer []byte
	joined string
}

// Begin says what the prompts of the next turn are composed from.
func (t *Thread) Begin(in Inputs, chat prompt.Chat) {
	t.in, t.chat, t.made = in, chat, false
	if t.refresh.Swap(false) {
		t.pages, t.seen = nil, nil
	}
}

// Refresh has the pages of prompt.thread_context built again for the next turn. It may be called at any time.
func (t *Thread) Refresh() { t.refresh.Store(true) }

// Prompt returns the prompt of the running turn. It is composed once, and again for a request to which prompt.chat_context
// has something else to say. The error is that of ctx.
func (t *Thread) Prompt(ctx context.Context, v *contrib.View) (string, error) {
	notes, err := t.readChat(ctx, v)
	if err != nil {
		return "", err
	}
	if t.made && notes == t.notes {
		return t.text, nil
	}
	if !t.current(v, notes) {
		t.notes = notes
		if t.parts, err = appendParts(ctx, v, t.in, t.parts[:0]); err != nil {
			return "", err
		}
		t.buffer = appendJoined(t.buffer[:0], t.parts)
		if string(t.buffer) != t.joined {
			t.joined = string(t.buffer)
		}
		t.remember(v)
	}
	text, err := Finish(ctx, v, t.in, t.joined)
	if err != nil {
		return "", err
	}
	t.text, t.made = text, true
	return text, nil
}

// current reports whether the sections would say what they said last: all are steady, and neither their input nor a point
// has changed.
func (t *Thread) current(v *contrib.View, notes string) bool {
	now, last := &t.in.Context, &t.last
	return t.in.Trace == nil && t.seen == v && v != nil && notes == t.notes && t.in.more() == t.more && now.Thread == last.Thread && now.Workspace == last.Workspace &&
		now.Mode == last.Mode && now.Client == last.Client && slices.Equal(now.Tools, last.Tools)
}

// more is what sections say that is not in the context.
func (in *Inputs) more() [2]string { return [2]string{in.Deferred, in.Subagents} }

// remember keeps what the sections were asked with, if asking them again can be saved.
func (t *Thread) remember(v *contrib.View) {
	t.seen, t.last, t.more = nil, t.in.Context, t.in.more()
	thread := contrib.ThreadID(t.last.Thread)
	for _, section := range prompt.Sections.In(v, thread) {
		if _, ok := section.(steady); !ok {
			return
		}
	}
	// A page that failed is asked for again.
	if len(prompt.ThreadContexts.In(v, thread)) == 0 {
		t.seen = v
	}
}

// Steady marks a section of the host: its text depends on its input and on contribution points alone, so that it is not
// asked again while neither changes.
func Steady(s prompt.Section) prompt.Section { return steady{s} }

type steady struct{ prompt.Section }

// readChat asks prompt.chat_context what belongs into the prompt of the next request.
func (t *Thread) readChat(ctx context.Context, v *contrib.View) (string, error) {
	entries := prompt.ChatContexts.Entries(v, contrib.ThreadID(t.in.Context.Thread))
	if len(entries) == 0 {
		return "", nil
	}
	var texts []string
	err := contrib.FanOut(ctx, entries, func(ctx context.Context, c prompt.ChatContext) error {
		text, err := c.Section(ctx, t.chat)
		if text = strings.TrimSpace(text); err == nil && text != "" {
			texts = append(texts, text)
		}
		return err
	}, t.in.Report)
	return strings.Join(texts, "\n\n"), err
}

// threadPages returns the pages of prompt.thread_context, in order. A page is built once and kept as long as its entry is
// there. One that fails is reported, and tried again with the next prompt.
func (t *Thread) threadPages(ctx context.Context, v *contrib.View) (string, error) {
	thread := t.in.Context.Thread
	entries := prompt.ThreadContexts.Entries(v, contrib.ThreadID(thread))
	if len(entries) == 0 {
		t.pages = nil
		return "", nil
	}
	kept := make(map[uint64]string, len(entries))
	var texts []string
	for i := range entries {
		page, ok := t.pages[entries[i].ID]
		if !ok {
			var err error
			page, ok, err = contrib.First(ctx, entries[i:i+1], func(ctx context.Context, c prompt.ThreadContext) (string, bool, error) {
				text, err := c.Section(ctx, thread)
				return strings.TrimSpace(text), err == nil, err
			}, t.in.Report)
			if err != nil {
				return "", err
			}
			if !ok {
				continue
			}
		}
		kept[entries[i].ID] = page
		if page != "" {
			texts = append(texts, page)
		}
	}
	t.pages = kept
	return strings.Join(texts, "\n\n"), nil
}
