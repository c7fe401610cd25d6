package transcript

import (
	"errors"
	"fmt"
	"iter"

	"github.com/crystalkernel/crystal/points/model"
)

// Errors of requests that no protocol can carry.
var (
	ErrMissingResult = errors.New("a call has no result")
	ErrUnknownResult = errors.New("a result has no call")
)

// Role is who speaks in a block.
type Role uint8

// The roles of blocks.
const (
	System Role = iota
	User
	Assistant
	Results
)

// Block is a run of neighbouring items of one role: messages of the user or the system, the reasoning, text and calls of
// one assistant turn, or the results of one batch of calls.
type Block struct {
	Role  Role
	Items []*model.Item
	Calls []*model.Item // of results: the calls that they answer, in the same order
}

// Blocks cuts items into blocks. Results come in the order of their calls, directly after them; each call must have
// exactly one, matched by id within its batch. The sequence ends after its first error.
func Blocks(items []*model.Item) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		var calls []*model.Item // of the block before
		for len(items) > 0 {
			b := Block{Role: role(items[0])}
			n := 1
			for n < len(items) && role(items[n]) == b.Role {
				n++
			}
			b.Items, items = items[:n:n], items[n:]
			var err error
			switch b.Role {
			case Results:
				b.Items, err = match(calls, b.Items)
				b.Calls, calls = calls, nil
			default:
				if len(calls) > 0 {
					err = missing(calls[0])
				}
				calls = nil
				if b.Role == Assistant {
					calls = callsOf(b.Items)
				}
			}
			if err != nil {
				yield(Block{}, err)
				return
			}
			if !yield(b, nil) {
				return
			}
		}
		if len(calls) > 0 {
			yield(Block{}, missing(calls[0]))
		}
	}
}

func role(i *model.Item) Role {
	switch {
	case i.Kind == model.ToolResult:
		return Results
	case i.Kind != model.Message:
		return Assistant
	case i.Role == model.System:
		return System
	case i.Role == model.Assistant:
		return Assistant
	}
	return User
}

func callsOf(items []*model.Item) []*model.Item {
	first, last, n := -1, 0, 0
	for k, i := range items {
		if i.Kind == model.ToolCall {
			if first < 0 {
				first = k
			}
			last = k
			n++
		}
	}
	if n == 0 {
		return nil
	}
	if n == last-first+1 {
		return items[first : last+1]
	}
	calls := make([]*model.Item, 0, n)
	for _, i := range items {
		if i.Kind == model.ToolCall {
			calls = append(calls, i)
		}
	}
	return calls
}

// match puts results into the order of their calls.
func match(calls, results []*model.Item) ([]*model.Item, error) {
	inOrder := len(calls) == len(results)
	for k := 0; inOrder && k < len(calls); k++ {
		inOrder = calls[k].CallID == results[k].CallID
	}
	if inOrder {
		return results, nil
	}
	byID := make(map[string]*model.Item, len(results))
	for _, r := range results {
		if _, twice := byID[r.CallID]; !twice {
			byID[r.CallID] = r
		}
	}
	ordered := make([]*model.Item, 0, len(calls))
	for _, c := range calls {
		r, ok := byID[c.CallID]
		if !ok {
			return nil, missing(c)
		}
		ordered = append(ordered, r)
		delete(byID, c.CallID)
	}
	for _, r := range results {
		if _, left := byID[r.CallID]; left {
			return nil, fmt.Errorf("%w: %q", ErrUnknownResult, r.CallID)
		}
	}
	return ordered, nil
}

func missing(c *model.Item) error {
	return fmt.Errorf("%w: %q of %q", ErrMissingResult, c.CallID, c.Name)
}
