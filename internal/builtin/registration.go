package builtin

import (
	"context"
	"encoding/json"
	"time"

	"github.com/crystalkernel/crystal/points/tool"
)

// kind is one built-in tool, before it belongs to a source.
type kind struct {
	name        string
	description string
	schema      string
	hints       tool.Hints
	catalogs    tool.Catalogs
	timeout     time.Duration
	inline      bool // it only computes; see [tool.Binding]
	classify    func(s *Source, c tool.Call, workspace string) tool.Classification
	run         func(s *Source, ctx context.Context, i *tool.Invocation) tool.Result
}

func (s *Source) registration(k kind) tool.Registration {
	hints := k.hints
	return tool.Registration{
		Definition: tool.Definition{
			Key: tool.Key{Kind: tool.OwnerBuiltin, Owner: tool.SourceBuiltin, ID: k.name},
			ID:  k.name, Name: k.name, Description: k.description,
			InputSchema: json.RawMessage(k.schema),
			Hints:       &hints, Catalogs: k.catalogs,
			Exposure: tool.Direct, Audiences: tool.AudienceModel | tool.AudienceHost, PolicyScope: tool.ScopeProfile,
		},
		Binding: tool.Binding{
			Timeout: k.timeout, Inline: k.inline,
			Runtime: tool.RuntimeFunc(func(ctx context.Context, i tool.Invocation) (tool.Result, error) {
				if err := ctx.Err(); err != nil {
					return cancelled(), nil
				}
				r := k.run(s, ctx, &i)
				if r.Failed && ctx.Err() != nil && r.Error.Code != tool.CodeCancelled && r.Error.Code != tool.CodeTimeout {
					return cancelled(), nil
				}
				return r, nil
			}),
			Classify: func(_ context.Context, c tool.Call, workspace string) tool.Classification {
				return k.classify(s, c, workspace)
			},
		},
	}
}

// arguments reads the arguments of a call, which the dispatcher has validated.
func arguments(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, into)
}
