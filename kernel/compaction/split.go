package compaction

import (
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/points/model"
)

const (
	smallestTail = 2000
	largestTail  = 15000
)

// tailBudget is how many tokens of the newest items stay as they are.
func (r *run) tailBudget() int {
	usable := r.in.Settings.Limit() - r.in.Load.System - r.in.Load.Tools
	return min(max(usable/4, smallestTail), largestTail)
}

// split finds where the tail begins: whole turns from the end that fit into the budget, and of the turn before them the
// part that fits.
func split(items []*model.Item, budget int, s estimate.Sends) int {
	cuts := cuttable(items)
	at, size := len(items), 0
	for i := len(items) - 1; i >= 0; i-- {
		if size += estimate.Item(items[i], s); size > budget {
			break
		}
		if cuts[i] {
			at = i
		}
	}
	return at
}

// cuttable says for each place whether a tail may begin there: at a user message; or at another item that is no tool
// result, unless a call before it has its result behind it. Reasoning stays with what it led to.
func cuttable(items []*model.Item) []bool {
	cuts := make([]bool, len(items))
	open := make(map[string]int) // calls that wait for their result, by id
	for i, it := range items {
		cuts[i] = len(open) == 0 && it.Kind != model.ToolResult && (i == 0 || items[i-1].Kind != model.Reasoning || isUser(it))
		switch it.Kind {
		case model.ToolCall:
			open[it.CallID]++
		case model.ToolResult:
			if open[it.CallID]--; open[it.CallID] <= 0 {
				delete(open, it.CallID)
			}
		}
	}
	return cuts
}

// answerable moves the place of a split so that the tail holds something that the model can answer: a request without a
// user message or a tool result can't be sent.
func answerable(items []*model.Item, at int) int {
	if hasInput(items[at:]) {
		return at
	}
	cuts := cuttable(items)
	for at--; at > 0; at-- {
		if cuts[at] && hasInput(items[at:]) {
			return at
		}
	}
	return 0
}

func hasInput(items []*model.Item) bool {
	for _, it := range items {
		if isUser(it) || it.Kind == model.ToolResult {
			return true
		}
	}
	return false
}

func isUser(it *model.Item) bool { return it.Kind == model.Message && it.Role == model.User }

// lastUser returns the place of the latest user message; -1 when there is none.
func lastUser(items []*model.Item) int {
	for i := len(items) - 1; i >= 0; i-- {
		if isUser(items[i]) {
			return i
		}
	}
	return -1
}

// turns returns the places where user turns begin. What comes before the first user message counts as one.
func turns(items []*model.Item) []int {
	var starts []int
	for i, it := range items {
		if i == 0 || isUser(it) {
			starts = append(starts, i)
		}
	}
	return starts
}
