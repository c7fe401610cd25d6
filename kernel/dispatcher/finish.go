package dispatcher

import (
	"context"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/tool"
)

// Finish runs the result hooks over the outcome of [Prepared.Run] and returns the outcome to commit. Calls of one round
// are finished one after another, in their order. A call that was never started comes back as it is.
func (p *Prepared) Finish(ctx context.Context, o Outcome) Outcome {
	if !o.Executed {
		return o
	}
	entries := hook.ToolResults.Entries(p.d.registry.View(), contrib.ThreadID(p.turn.Thread))
	if len(entries) == 0 {
		return o
	}
	before := projected(&o.Result)
	after, err := fold(ctx, entries, hooked{Result: before}, p.reshape, p.turn.report())
	if err != nil || !after.text && !after.images {
		return o
	}
	p.apply(&o.Result, after)
	o.Text = ResultText(o.Result)
	return o
}

// hooked is a result on its way through the hooks, and what of it they changed.
type hooked struct {
	hook.Result
	text, images bool
}

// projected is a result as hooks see it. The code of a failure is the host's and not part of the text.
func projected(r *tool.Result) hook.Result {
	first := ""
	if r.Error != nil {
		first = r.Error.Message
	}
	out := hook.Result{Text: joined(r.Content, first), Success: !r.Failed}
	for _, b := range r.Content {
		if b.IsImage() {
			out.Images = append(out.Images, hook.Image{MediaType: b.MediaType, Data: b.Data})
		}
	}
	return out
}

func (p *Prepared) reshape(ctx context.Context, h hook.ToolResult, r hooked, e *contrib.EntryInfo) (hooked, error) {
	n, err := h.ToolResult(ctx, p.hookCall(), r.Result.Copy())
	switch {
	case err != nil || n == nil:
		return r, err
	case n.Success != r.Success:
		return r, refusal(e, "a changed success")
	}
	own := n.Copy()
	r.text = r.text || own.Text != r.Text
	r.Text = own.Text
	if own.Images != nil {
		r.Images, r.images = p.accepted(own.Images, r)
	}
	return r, nil
}

// accepted returns the images that may stand, in place of those before.
func (p *Prepared) accepted(images []hook.Image, before hooked) ([]hook.Image, bool) {
	if same(images, before.Images) {
		return before.Images, before.images
	}
	if !p.turn.Images {
		if len(images) > 0 && p.turn.noImages.CompareAndSwap(false, true) {
			p.ignored("the model takes no images")
		}
		return before.Images, before.images
	}
	kept := make([]hook.Image, 0, len(images))
	for i, m := range images {
		if reason := imageFault(m.MediaType, m.Data, i); reason != "" {
			p.ignored(reason)
			continue
		}
		kept = append(kept, m)
	}
	return kept, true
}

func same(a, b []hook.Image) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].MediaType != b[i].MediaType || string(a[i].Data) != string(b[i].Data) {
			return false
		}
	}
	return true
}

func (p *Prepared) ignored(reason string) {
	p.turn.note(contrib.Diagnostic{
		Code: CodeHookImagesIgnored, Severity: contrib.Warning, Point: hook.ToolResults.Name(),
		Message: "Images of a hook were not used: " + reason + ".",
		Params:  map[string]any{"callId": p.request.ID, "reason": reason},
	})
}

// apply puts what the hooks left into the result: the text is bounded like that of a tool.
func (p *Prepared) apply(r *tool.Result, h hooked) {
	content := make([]tool.Block, 0, len(h.Images)+1)
	switch {
	case !h.text:
		for _, b := range r.Content {
			if !b.IsImage() {
				content = append(content, b)
			}
		}
	case r.Error != nil:
		e := *r.Error
		e.Message = h.Text
		if !notBlank(e.Message) {
			e.Message = "The tool failed."
		}
		bounded, path := p.d.spill.bound(cleanText(e.Message), p.turn.limit(), p.turn.Thread, p.request.ID)
		e.Message = bounded
		r.Error = &e
		r.Spill = path
	default:
		text, path := p.d.spill.bound(cleanText(h.Text), p.turn.limit(), p.turn.Thread, p.request.ID)
		content = append(content, tool.Block{Text: text})
		r.Spill = path
	}
	for _, m := range h.Images {
		content = append(content, tool.Block{MediaType: m.MediaType, Data: m.Data})
	}
	r.Content = content
}
