package threadlog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crystalkernel/crystal/points/model"
)

// PrunedText takes the place of the text of a pruned tool result.
const PrunedText = "[Old tool output removed to save space]"

// transcript is what the records say: the items of the next request and the facts around them. Writer and reader feed it
// the same records, so that a request is the same before and after a thread was closed.
type transcript struct {
	state   State
	systems map[string]string
	whole   bool // compactions and prunings are ignored
	images  bool // an item has images

	// items only ever grows at its end, or is replaced by another list: lists that were handed out stay as they are.
	items   []*model.Item
	summary *model.Item
	pruned  map[string]bool

	batch  []pending // calls of the last round of the main agent
	placed int       // how many of them have their result in items: results stand in the order of the calls
	others []pending // unanswered calls of subagents and subcalls

	rounds, calls       int // of the turn that is open, those of subagents and subcalls too
	turn                string
	orphans             int // results without a call
	lastItem, lastImage int64
}

// pending is a call that waits for its result.
type pending struct {
	callID, parent, agent string
	started               bool // a call record exists
	result                *model.Item
}

// feed takes the next record.
func (t *transcript) feed(r Record) {
	if at := r.stamp().Time; !at.IsZero() {
		t.state.Updated = at
	}
	switch r := r.(type) {
	case *Thread:
		t.state.Thread, t.state.Mode = *r, r.Mode
	case *System:
		if t.systems == nil {
			t.systems = make(map[string]string, 2)
		}
		t.systems[r.Mode] = r.Text
	case *Turn:
		t.feedTurn(r)
	case *Round:
		t.feedRound(r)
	case *Call:
		t.feedCall(r)
	case *Result:
		t.feedResult(r)
	case *TurnEnd:
		t.settle()
		t.others = t.others[:0]
		t.state.Open = false
	case *Prune:
		t.prune(r.Items)
	case *Compaction:
		t.seen(r.Summary)
		t.fold(r)
	case *Todos:
		t.state.Todos = r.Todos
	case *Mode:
		t.state.Mode = r.Mode
	case *Title:
		t.state.Title = r.Text
	}
}

func (t *transcript) feedTurn(r *Turn) {
	t.settle()
	t.others = t.others[:0]
	t.rounds, t.calls, t.turn = 0, 0, r.Turn
	t.state.Open = true
	t.state.Turns++
	if r.Mode != "" {
		t.state.Mode = r.Mode
	}
	if r.Provider != "" || r.Model != "" {
		t.state.Provider, t.state.Model = r.Provider, r.Model
	}
	if t.state.Title == "" {
		t.state.Title = firstTitle(r.Item.Text)
	}
	t.seen(r.Item)
	t.add(r.Item)
}

func (t *transcript) feedRound(r *Round) {
	for _, it := range r.Items {
		t.seen(it)
	}
	if r.Agent != "" {
		t.rounds++
		for _, it := range r.Items {
			if it.Kind == model.ToolCall {
				t.others = append(t.others, pending{callID: it.CallID, agent: r.Agent})
			}
		}
		return
	}
	t.settle()
	t.rounds++
	for _, it := range r.Items {
		t.add(it)
		if it.Kind == model.ToolCall {
			t.batch = append(t.batch, pending{callID: it.CallID})
		}
	}
}

func (t *transcript) feedCall(r *Call) {
	t.calls++
	if r.Agent == "" && r.ParentCallID == "" {
		for i := range t.batch {
			if t.batch[i].callID == r.CallID && t.batch[i].result == nil {
				t.batch[i].started = true
				return
			}
		}
		return
	}
	for i := range t.others {
		if t.others[i].is(r.CallID, r.ParentCallID, r.Agent) {
			t.others[i].started, t.others[i].parent = true, r.ParentCallID
			return
		}
	}
	t.others = append(t.others, pending{callID: r.CallID, parent: r.ParentCallID, agent: r.Agent, started: true})
}

func (p *pending) is(callID, parent, agent string) bool {
	return p.callID == callID && p.agent == agent && (p.parent == parent || p.parent == "")
}

func (t *transcript) feedResult(r *Result) {
	t.seen(r.Item)
	if r.Agent != "" || r.ParentCallID != "" {
		for i := range t.others {
			if t.others[i].is(r.CallID, r.ParentCallID, r.Agent) {
				t.others = slices.Delete(t.others, i, i+1)
				return
			}
		}
		return
	}
	known := false
	for i := range t.batch {
		if t.batch[i].callID != r.CallID {
			continue
		}
		known = true
		if t.batch[i].result == nil {
			t.batch[i].result = r.Item
			t.place()
			return
		}
	}
	if !known {
		t.orphans++
	}
}

// place moves results into the list as far as they are there, in the order of their calls.
func (t *transcript) place() {
	for t.placed < len(t.batch) && t.batch[t.placed].result != nil {
		t.items = append(t.items, t.batch[t.placed].result)
		t.placed++
	}
}

// settle ends the batch: a call without a result gets a made-up one.
func (t *transcript) settle() {
	for i := t.placed; i < len(t.batch); i++ {
		if t.batch[i].result == nil {
			t.batch[i].result = interrupted(&t.batch[i])
		}
	}
	t.place()
	t.batch, t.placed = t.batch[:0], 0
}

// interrupted makes the result of a call that lost its own.
func interrupted(p *pending) *model.Item {
	text := "The call was interrupted before the tool had started. It was not run."
	if p.started {
		text = "The call was interrupted. The tool had started and may have done some of its work; its result is lost."
	}
	return &model.Item{Kind: model.ToolResult, CallID: p.callID, Status: model.Interrupted, Text: text}
}

// request returns what the next request holds.
func (t *transcript) request() []*model.Item {
	out := t.items[:len(t.items):len(t.items)]
	for i := t.placed; i < len(t.batch); i++ {
		result := t.batch[i].result
		if result == nil {
			result = interrupted(&t.batch[i])
		}
		out = append(out, result)
	}
	return out
}

// add puts an item at the end of the list, unless it holds nothing.
func (t *transcript) add(it *model.Item) {
	if !empty(it) {
		t.items = append(t.items, it)
	}
}

// empty reports whether a request leaves the item out.
func empty(it *model.Item) bool {
	switch it.Kind {
	case model.Message:
		return len(it.Images) == 0 && it.State == nil && strings.TrimSpace(it.Text) == ""
	case model.Reasoning:
		if it.State != nil {
			return false
		}
		for i := range it.Segments {
			if strings.TrimSpace(it.Segments[i].Text) != "" {
				return false
			}
		}
		return true
	}
	return false
}

// prune replaces results by their placeholder.
func (t *transcript) prune(ids []string) {
	if t.whole || len(ids) == 0 {
		return
	}
	if t.pruned == nil {
		t.pruned = make(map[string]bool, len(ids))
	}
	for _, id := range ids {
		t.pruned[id] = true
	}
	t.items = slices.Clone(t.items)
	for i, it := range t.items {
		if it.Kind == model.ToolResult && it.ID != "" && t.pruned[it.ID] {
			placeholder := *it
			placeholder.Text, placeholder.Images = PrunedText, nil
			t.items[i] = &placeholder
		}
	}
}

// fold replaces the items up to the compaction's place, and the summary before it, by the new summary.
func (t *transcript) fold(r *Compaction) {
	t.settle()
	if t.whole {
		return
	}
	tail := t.items[t.after(r.Through):]
	t.items = make([]*model.Item, 0, 2*len(tail)+8)
	t.summary = r.Summary
	t.add(r.Summary)
	t.items = append(t.items, withCalls(tail)...)
}

// withCalls leaves out results whose call was folded: a compaction of a careless hand may cut a batch in two.
func withCalls(tail []*model.Item) []*model.Item {
	open := make(map[string]int)
	kept := make([]*model.Item, 0, len(tail))
	for _, it := range tail {
		switch it.Kind {
		case model.ToolCall:
			open[it.CallID]++
		case model.ToolResult:
			if open[it.CallID] == 0 {
				continue
			}
			open[it.CallID]--
		}
		kept = append(kept, it)
	}
	return kept
}

// after returns the place behind an item. When the item is not in the list, because it is empty or folded already, those
// with lower numbers count. Made-up results have no id: they belong to what is folded before them.
func (t *transcript) after(id string) int {
	from := slices.IndexFunc(t.items, func(it *model.Item) bool { return it.ID == id && id != "" }) + 1
	if from == 0 {
		through := itemNumber(id)
		for i, it := range t.items {
			if n := itemNumber(it.ID); n > 0 && n <= through && it != t.summary {
				from = i + 1
			}
		}
	}
	if from == 0 && t.summary != nil && len(t.items) > 0 && t.items[0] == t.summary {
		from = 1
	}
	for from < len(t.items) && t.items[from].ID == "" {
		from++
	}
	return from
}

// seen keeps the numbers of items and images ahead of those in use.
func (t *transcript) seen(it *model.Item) {
	t.lastItem = max(t.lastItem, itemNumber(it.ID))
	for i := range it.Images {
		t.images = true
		t.lastImage = max(t.lastImage, int64(it.Images[i].Number))
	}
}

// itemNumber returns the number of an item id; 0 when it is no item id.
func itemNumber(id string) int64 {
	if len(id) < 2 || id[0] != 'i' {
		return 0
	}
	n, err := strconv.ParseInt(id[1:], 10, 63)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// closing makes the records that end a turn which was cut off: a result for each open call, and the end of the turn.
// There are none when no turn is open.
func (t *transcript) closing() []Record {
	if !t.state.Open {
		return nil
	}
	var records []Record
	results := func(calls []pending) {
		for i := range calls {
			if p := &calls[i]; p.result == nil {
				records = append(records, &Result{
					Turn: t.turn, CallID: p.callID, ParentCallID: p.parent, Agent: p.agent,
					Item: interrupted(p), Code: ToolInterrupted,
				})
			}
		}
	}
	results(t.batch)
	results(t.others)
	return append(records, &TurnEnd{Turn: t.turn, Stop: "interrupted", ModelCalls: t.rounds, ToolCalls: t.calls})
}
