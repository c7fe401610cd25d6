package generator

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// WelcomeRequest asks for suggestions of what to do first.
type WelcomeRequest struct {
	Workspace string
}

// Suggestion is one thing to do; at most 256 characters.
type Suggestion struct {
	Text string
}

// Limits of the suggestions of a welcome.
const (
	MaxSuggestions = 16
	MaxSuggestion  = 256 // characters
)

// WelcomeGenerator suggests what to do first in a workspace. The last entry of the list has authority, and takes all
// three methods. Nothing returned is no suggestion.
type WelcomeGenerator interface {
	// Suggest returns what to do first. Calls may overlap.
	Suggest(ctx context.Context, r WelcomeRequest) ([]Suggestion, error)
	// Schedule asks for suggestions to be made in the background, for later requests. It waits for nothing.
	Schedule(ctx context.Context, workspace string) error
	// Clear forgets the suggestions that were made for a workspace.
	Clear(ctx context.Context, workspace string) error
}

// WelcomeTarget is the target of the built-in generator.
const WelcomeTarget = "welcome"

// Welcomes is the point generator.welcome.
var Welcomes = contrib.Define(contrib.Spec[WelcomeGenerator]{
	Name: "generator.welcome", Doc: "Suggests what to do first in a workspace.",
	Tiers: contrib.TierB, Scopes: contrib.WorkspaceOnly,
	Evaluation: contrib.PerCall, Failure: contrib.Fail, Deadline: 60 * time.Second,
	Targets: []contrib.Target{{Name: WelcomeTarget, Order: 100, Doc: "Looks at the workspace."}},
	Guard:   guardWelcome,
})
