package rawhook

import (
	"context"
	"errors"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/tool"
)

// A raw hook that is gone is skipped without a note.
func skipped(err error) error {
	if errors.Is(err, contrib.ErrRevoked) {
		return nil
	}
	return err
}

func guardRebuildModel(h RebuildModel, _ any, ref contrib.Ref) RebuildModel {
	r := generations.BindSparing(ref, h)
	return RebuildModelFunc(func(ctx context.Context, q hook.Request) ([]hook.Item, error) {
		q.Items = hook.CopyItems(q.Items)
		items, err := generations.CallSparing(ctx, r, func(ctx context.Context, h RebuildModel) ([]hook.Item, error) {
			items, err := h.RebuildModel(ctx, q)
			return hook.CopyItems(items), err
		})
		return items, skipped(err)
	})
}

// text takes a returned text over, so that nothing of the plugin is kept.
func text(s *string, err error) (*string, error) {
	if err != nil || s == nil {
		return nil, skipped(err)
	}
	own := *s
	return &own, nil
}

func guardRewritePrompt(h RewritePrompt, _ any, ref contrib.Ref) RewritePrompt {
	r := generations.BindSparing(ref, h)
	return RewritePromptFunc(func(ctx context.Context, i hook.PromptInfo, composed string) (*string, error) {
		return text(generations.CallSparing(ctx, r, func(ctx context.Context, h RewritePrompt) (*string, error) {
			return h.RewritePrompt(ctx, i, composed)
		}))
	})
}

func guardRewriteCompaction(h RewriteCompaction, _ any, ref contrib.Ref) RewriteCompaction {
	r := generations.BindSparing(ref, h)
	return RewriteCompactionFunc(func(ctx context.Context, s hook.Scope, p hook.Phase, body string) (*string, error) {
		return text(generations.CallSparing(ctx, r, func(ctx context.Context, h RewriteCompaction) (*string, error) {
			return h.RewriteCompaction(ctx, s, p, body)
		}))
	})
}

func guardRewriteApproval(h RewriteApproval, _ any, ref contrib.Ref) RewriteApproval {
	r := generations.BindSparing(ref, h)
	return RewriteApprovalFunc(func(ctx context.Context, c hook.Call, k tool.Classification) (*tool.Classification, error) {
		c, k = c.Copy(), k.Copy()
		out, err := generations.CallSparing(ctx, r, func(ctx context.Context, h RewriteApproval) (*tool.Classification, error) {
			out, err := h.RewriteApproval(ctx, c, k)
			if err != nil || out == nil {
				return nil, err
			}
			own := out.Copy()
			return &own, nil
		})
		return out, skipped(err)
	})
}
