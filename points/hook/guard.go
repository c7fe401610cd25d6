package hook

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// A guard of a hook gives copies and takes copies back. What a hook may return is checked by the kernel, for hooks of
// every origin alike. A hook that is gone is skipped without a note, which is what skipped makes of it.
func skipped(err error) error {
	if errors.Is(err, contrib.ErrRevoked) {
		return nil
	}
	return err
}

// CopyItems returns a copy of items that shares nothing with them.
func CopyItems(items []Item) []Item {
	out := slices.Clone(items)
	for i := range out {
		out[i].Images = slices.Clone(out[i].Images)
	}
	return out
}

// Copy returns a copy that shares nothing with r.
func (r Response) Copy() Response {
	r.Items = CopyItems(r.Items)
	if r.Usage != nil {
		own := *r.Usage
		r.Usage = &own
	}
	return r
}

// Copy returns a copy that shares nothing with c.
func (c Call) Copy() Call {
	c.Arguments = bytes.Clone(c.Arguments)
	return c
}

// Copy returns a copy that shares nothing with r.
func (r Result) Copy() Result {
	r.Images = slices.Clone(r.Images)
	for i := range r.Images {
		r.Images[i].Data = bytes.Clone(r.Images[i].Data)
	}
	return r
}

type sessionGuard struct {
	ref *generations.Sparing[SessionObserver]
}

func guardSession(o SessionObserver, _ any, ref contrib.Ref) SessionObserver {
	return &sessionGuard{generations.BindSparing(ref, o)}
}

func (g *sessionGuard) SessionStarted(ctx context.Context, s Session) error {
	return skipped(g.ref.Do(ctx, func(ctx context.Context, o SessionObserver) error { return o.SessionStarted(ctx, s) }))
}

func (g *sessionGuard) SessionEnded(ctx context.Context, s Session) error {
	return skipped(g.ref.Do(ctx, func(ctx context.Context, o SessionObserver) error { return o.SessionEnded(ctx, s) }))
}

type turnGuard struct {
	ref *generations.Sparing[TurnObserver]
}

func guardTurn(o TurnObserver, _ any, ref contrib.Ref) TurnObserver {
	return &turnGuard{generations.BindSparing(ref, o)}
}

func (g *turnGuard) TurnStarted(ctx context.Context, t Turn) error {
	return skipped(g.ref.Do(ctx, func(ctx context.Context, o TurnObserver) error { return o.TurnStarted(ctx, t) }))
}

func (g *turnGuard) TurnFinished(ctx context.Context, t Turn) error {
	return skipped(g.ref.Do(ctx, func(ctx context.Context, o TurnObserver) error { return o.TurnFinished(ctx, t) }))
}

func guardPrompt(h Prompt, _ any, ref contrib.Ref) Prompt {
	r := generations.BindSparing(ref, h)
	return PromptFunc(func(ctx context.Context, i PromptInfo, text string) (string, error) {
		add, err := generations.CallSparing(ctx, r, func(ctx context.Context, h Prompt) (string, error) {
			return h.Prompt(ctx, i, text)
		})
		return add, skipped(err)
	})
}

func guardUserMessage(h UserMessage, _ any, ref contrib.Ref) UserMessage {
	r := generations.BindSparing(ref, h)
	return UserMessageFunc(func(ctx context.Context, s Scope, text string) (string, bool, error) {
		out, err := generations.CallSparing(ctx, r, func(ctx context.Context, h UserMessage) (*string, error) {
			text, ok, err := h.UserMessage(ctx, s, text)
			if err != nil || !ok {
				return nil, err
			}
			return &text, nil
		})
		if err != nil || out == nil {
			return "", false, skipped(err)
		}
		return *out, true, nil
	})
}

func guardTransformModel(h TransformModel, _ any, ref contrib.Ref) TransformModel {
	r := generations.BindSparing(ref, h)
	return TransformModelFunc(func(ctx context.Context, q Request) ([]Item, error) {
		q.Items = CopyItems(q.Items)
		items, err := generations.CallSparing(ctx, r, func(ctx context.Context, h TransformModel) ([]Item, error) {
			items, err := h.TransformModel(ctx, q)
			return CopyItems(items), err
		})
		return items, skipped(err)
	})
}

func guardModelResponse(h ModelResponse, _ any, ref contrib.Ref) ModelResponse {
	r := generations.BindSparing(ref, h)
	return ModelResponseFunc(func(ctx context.Context, p Response) error {
		p = p.Copy()
		return skipped(r.Do(ctx, func(ctx context.Context, h ModelResponse) error { return h.ModelResponse(ctx, p) }))
	})
}

func guardToolCall(h ToolCall, _ any, ref contrib.Ref) ToolCall {
	r := generations.BindSparing(ref, h)
	return ToolCallFunc(func(ctx context.Context, c Call) (*Call, error) {
		c = c.Copy()
		out, err := generations.CallSparing(ctx, r, func(ctx context.Context, h ToolCall) (*Call, error) {
			out, err := h.ToolCall(ctx, c)
			if err != nil || out == nil {
				return nil, err
			}
			own := out.Copy()
			return &own, nil
		})
		return out, skipped(err)
	})
}

func guardToolResult(h ToolResult, _ any, ref contrib.Ref) ToolResult {
	r := generations.BindSparing(ref, h)
	return ToolResultFunc(func(ctx context.Context, c Call, v Result) (*Result, error) {
		c, v = c.Copy(), v.Copy()
		out, err := generations.CallSparing(ctx, r, func(ctx context.Context, h ToolResult) (*Result, error) {
			out, err := h.ToolResult(ctx, c, v)
			if err != nil || out == nil {
				return nil, err
			}
			own := out.Copy()
			return &own, nil
		})
		return out, skipped(err)
	})
}

func guardApproval(h Approval, _ any, ref contrib.Ref) Approval {
	r := generations.BindSparing(ref, h)
	return ApprovalFunc(func(ctx context.Context, c Call, k tool.Classification) (*Advice, error) {
		c, k = c.Copy(), k.Copy()
		out, err := generations.CallSparing(ctx, r, func(ctx context.Context, h Approval) (*Advice, error) {
			out, err := h.Approval(ctx, c, k)
			if err != nil || out == nil {
				return nil, err
			}
			own := Advice{RequirePrompt: out.RequirePrompt}
			if out.Risk != nil {
				risk := *out.Risk
				own.Risk = &risk
			}
			return &own, nil
		})
		return out, skipped(err)
	})
}

func guardCompaction(h Compaction, _ any, ref contrib.Ref) Compaction {
	r := generations.BindSparing(ref, h)
	return CompactionFunc(func(ctx context.Context, s Scope, p Phase, text string) (string, error) {
		add, err := generations.CallSparing(ctx, r, func(ctx context.Context, h Compaction) (string, error) {
			return h.Compaction(ctx, s, p, text)
		})
		return add, skipped(err)
	})
}

// Project shows a request item to a hook: the item at index in its request, without bytes and without provider state.
func Project(index string, it *model.Item, name string) Item {
	out := Item{
		ID: index, Kind: it.Kind, Role: it.Role, Text: it.Text, CallID: it.CallID, Name: name,
		Arguments: it.Arguments, Success: it.Status == model.Success,
	}
	if it.Kind == model.Reasoning {
		for i, s := range it.Segments {
			if i > 0 {
				out.Text += "\n"
			}
			out.Text += s.Text
		}
	}
	for _, m := range it.Images {
		out.Images = append(out.Images, ImageRef{Number: m.Number, MediaType: m.MediaType})
	}
	return out
}
