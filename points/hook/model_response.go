package hook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// ModelResponse is the contract of hook.model_response.
//
// ModelResponse observes a copy of the candidate. Calls may overlap; the hook owns its arguments, which are
// copies.
type ModelResponse interface {
	ModelResponse(ctx context.Context, r Response) error
}

// ModelResponseFunc makes a ModelResponse of a function.
func ModelResponseFunc(f func(ctx context.Context, r Response) error) ModelResponse {
	return modelResponseFunc(f)
}

type modelResponseFunc func(ctx context.Context, r Response) error

func (f modelResponseFunc) ModelResponse(ctx context.Context, r Response) error {
	return f(ctx, r)
}

// ModelResponses is the point hook.model_response.
var ModelResponses = contrib.Define(contrib.Spec[ModelResponse]{
	Name: "hook.model_response", Doc: "Observes a complete answer of the model before it is committed.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 60 * time.Second,
	Guard: guardModelResponse,
})
