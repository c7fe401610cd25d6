package dispatcher

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/schema"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// normalizer is the entry normalizer:default: it cleans and bounds results.
type normalizer struct {
	spill   spill
	schemas schema.Cache
	note    func(contrib.Diagnostic)
}

var _ dispatch.Normalizer = (*normalizer)(nil)

// Normalize implements [dispatch.Normalizer]. It changes nothing in place.
func (n *normalizer) Normalize(_ context.Context, c dispatch.Call, r tool.Result) (*tool.Result, error) {
	changed := n.content(c, &r)
	changed = n.message(&r) || changed
	changed = n.structured(c, &r) || changed
	if !changed {
		return nil, nil
	}
	out := r // r itself stays off the heap
	return &out, nil
}

// content cleans the blocks and bounds their text.
func (n *normalizer) content(c dispatch.Call, r *tool.Result) bool {
	changed, total, images := false, 0, 0
	own := func() {
		if !changed {
			r.Content = append([]tool.Block(nil), r.Content...)
			changed = true
		}
	}
	for i := range r.Content {
		b := r.Content[i]
		if b.IsImage() {
			reason := "the model takes no images"
			if c.Images {
				reason = imageFault(b.MediaType, b.Data, images)
			}
			if images++; reason != "" {
				own()
				r.Content[i] = tool.Block{Text: "[image omitted: " + reason + "]"}
			}
		} else if clean := cleanText(b.Text); len(clean) != len(b.Text) || clean != b.Text {
			own()
			r.Content[i] = tool.Block{Text: clean}
		}
		total += len(r.Content[i].Text)
	}
	limit := c.OutputLimit
	if limit <= 0 {
		limit = DefaultOutputLimit
	}
	if total <= limit || characters(r.Content) <= limit {
		return changed
	}
	whole := joined(r.Content, "")
	text, path := n.spill.bound(whole, limit, c.Thread, c.ID)
	blocks := []tool.Block{{Text: text}}
	for _, b := range r.Content {
		if b.IsImage() {
			blocks = append(blocks, b)
		}
	}
	r.Content, r.Spill = blocks, path
	return true
}

// characters counts the text of all blocks.
func characters(blocks []tool.Block) int {
	n := 0
	for i := range blocks {
		n += utf8.RuneCountInString(blocks[i].Text)
	}
	return n
}

// message cleans and bounds what a failure says.
func (n *normalizer) message(r *tool.Result) bool {
	if r.Error == nil {
		return false
	}
	text := cleanText(r.Error.Message)
	if len(text) > maxMessage {
		if end := byteOf(text, maxMessage); end < len(text) {
			text = text[:end] + "…"
		}
	}
	if text == r.Error.Message {
		return false
	}
	e := *r.Error
	e.Message = text
	r.Error = &e
	return true
}

// structured drops what does not satisfy the output schema.
func (n *normalizer) structured(c dispatch.Call, r *tool.Result) bool {
	if len(r.Structured) == 0 || c.Definition == nil || len(c.Definition.OutputSchema) == 0 {
		return false
	}
	s, err := n.schemas.Compile(c.Definition.OutputSchema)
	if err != nil {
		return false // planning has said so
	}
	found := s.Validate(r.Structured)
	if len(found) == 0 {
		return false
	}
	if n.note != nil {
		k := c.Definition.Key
		n.note(contrib.Diagnostic{
			Code: tool.CodeOutputMismatch, Severity: contrib.Warning, Point: dispatch.Normalizers.Name(),
			Message: "Structured content did not satisfy the output schema and was dropped.",
			Params:  map[string]any{"owner": string(k.Kind) + ":" + k.Owner, "toolId": k.ID, "errors": found},
		})
	}
	r.Structured = nil
	return true
}

// cleanText makes text valid UTF-8 without zero characters.
func cleanText(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s { // an invalid byte comes as U+FFFD
		if r != 0 {
			b.WriteRune(r)
		}
	}
	return b.String()
}
