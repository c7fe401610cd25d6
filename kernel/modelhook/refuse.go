package modelhook

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
)

// refuseRaw returns the rule that a raw rebuild breaks, or nothing. The host refuses only what it cannot represent.
func (l *list) refuseRaw(items []hook.Item) string {
	if len(items) == 0 {
		return "a request needs at least one item"
	}
	seen := make(map[string]bool, len(items))
	for i := range items {
		it := &items[i]
		was := l.find(i, it.ID, it.Kind)
		switch {
		case it.ID == "" || utf8.RuneCountInString(it.ID) > 64:
			return "an item id must have 1 to 64 characters"
		case seen[it.ID]:
			return fmt.Sprintf("the item id %.64q repeats", it.ID)
		case !knownKind(it.Kind):
			return fmt.Sprintf("the item kind %.64q is unknown", it.Kind)
		case it.Kind == model.Message && !knownRole(it.Role):
			return fmt.Sprintf("the role %.64q is unknown", it.Role)
		case it.Kind == model.Reasoning && it.Text == "" && was != nil && was.shown.Text != "":
			return "reasoning may not become empty"
		}
		seen[it.ID] = true
		for _, ref := range it.Images {
			if !l.holds(ref) {
				return fmt.Sprintf("image %d is not in the request under that media type", ref.Number)
			}
			if !l.request.AcceptsImages && (was == nil || !slices.Contains(was.shown.Images, ref)) {
				return "this request accepts no images"
			}
		}
	}
	return ""
}

// refuseOrdinary returns the rule that an ordinary transform breaks, or nothing.
func (l *list) refuseOrdinary(items []hook.Item) string {
	if len(items) != len(l.elements) {
		return "the number of items may not change"
	}
	for i := range items {
		it, was := items[i], l.elements[i].shown
		switch {
		case it.ID != was.ID || it.Kind != was.Kind:
			return "items may not be replaced or change places"
		case it.Role != was.Role:
			return "a role may not change"
		case was.Kind == model.Message && was.Role == model.System && !same(it, was):
			return "a system message may not change"
		case was.Kind == model.ToolCall && !same(it, was):
			return "a tool call may not change"
		case was.Kind == model.ToolResult && (it.CallID != was.CallID || it.Name != was.Name || it.Success != was.Success):
			return "call id, name and success of a result may not change"
		case was.Kind == model.Reasoning && !same(it, was):
			return "reasoning may not change"
		}
		for _, ref := range it.Images {
			if !slices.Contains(was.Images, ref) {
				return "an image may not be added"
			}
		}
	}
	return ""
}

func (l *list) holds(ref hook.ImageRef) bool {
	for i := range l.elements {
		if slices.Contains(l.elements[i].shown.Images, ref) {
			return true
		}
	}
	return false
}

func knownKind(k model.Kind) bool {
	switch k {
	case model.Message, model.ToolCall, model.ToolResult, model.Reasoning:
		return true
	}
	return false
}

func knownRole(r model.Role) bool {
	switch r {
	case model.System, model.User, model.Assistant:
		return true
	}
	return false
}
