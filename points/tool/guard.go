package tool

import (
	"bytes"
	"context"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

// guardRestriction gives copies and takes the edit over field by field.
func guardRestriction(r Restriction, _ any, ref contrib.Ref) Restriction {
	own := generations.Bind(ref, r)
	return RestrictionFunc(func(ctx context.Context, d Definition, e Exposure, p Planning) (*Edit, error) {
		d = d.Copy()
		return generations.Call(ctx, own, func(ctx context.Context, r Restriction) (*Edit, error) {
			edit, err := r.Restrict(ctx, d, e, p)
			if err != nil || edit == nil {
				return nil, err
			}
			out := &Edit{Mask: edit.Mask, InputSchema: bytes.Clone(edit.InputSchema), Exposure: edit.Exposure}
			if edit.Description != nil {
				text := strings.Clone(*edit.Description)
				out.Description = &text
			}
			return out, nil
		})
	})
}

// judged is an answer of a classifier.
type judged struct {
	classification Classification
	ok             bool
}

// guardClassifier gives copies, and refuses a risk or an authority that does not exist.
func guardClassifier(c Classifier, _ any, ref contrib.Ref) Classifier {
	own := generations.Bind(ref, c)
	return ClassifierFunc(func(ctx context.Context, call Call, workspace string) (Classification, bool, error) {
		call.Arguments = bytes.Clone(call.Arguments)
		out, err := generations.Call(ctx, own, func(ctx context.Context, c Classifier) (judged, error) {
			k, ok, err := c.Classify(ctx, call, workspace)
			if err != nil || !ok {
				return judged{}, err
			}
			if !k.Risk.Valid() || !k.Authority.Valid() {
				return judged{}, own.Refuse("an unknown risk or authority")
			}
			plain := Classification{Risk: k.Risk, Authority: k.Authority, Summary: strings.Clone(k.Summary), RequirePrompt: k.RequirePrompt}
			return judged{plain, true}, nil
		})
		return out.classification, out.ok, err
	})
}
