package approval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// Who decided: the values of Verdict.By.
const (
	ByAuto       = "auto"
	ByGrant      = "grant"
	ByReviewer   = "reviewer"
	ByOperator   = "operator"
	ByNoOperator = "no_operator"
	ByMode       = "mode"
)

// Scopes of an operator's decision: the values of Verdict.Scope.
const (
	ScopeOnce       = "once"
	ScopeSession    = "session"
	ScopePersistent = "persistent"
)

// reviewTime bounds one review.
const reviewTime = 60 * time.Second

// Config sets up a Stage. The zero value keeps no grants on disk.
type Config struct {
	// Home is the directory that holds permissions.json. Blank: grants live in memory alone.
	Home string
}

// Stage is the default approval stage. It is safe for concurrent use.
type Stage struct {
	operator Operator
	reviewer Reviewer
	sessions sessionGrants
	stored   permissions
	turns    queue
	watch    Watch // nil: nobody
}

// New makes a stage. A nil operator means that nobody can be asked; a nil reviewer, that what would be reviewed is asked.
func New(c Config, o Operator, r Reviewer) *Stage {
	return &Stage{operator: o, reviewer: r, stored: permissions{home: c.Home}}
}

// ReviewBy sets the reviewer of a stage that has none: one that needs the kernel, which needs the stage, comes late. It is
// called before the first call is approved.
func (s *Stage) ReviewBy(r Reviewer) {
	if s.reviewer == nil {
		s.reviewer = r
	}
}

var _ dispatch.Approver = (*Stage)(nil)

// Approve decides about one call. It waits for the reviewer and the operator until ctx is done. The error is that of ctx,
// or of an operator that failed; in both cases the call must not run.
func (s *Stage) Approve(ctx context.Context, c dispatch.Call) (dispatch.Verdict, error) {
	way := routeOf(modeOf(&c), &c)
	switch way {
	case routePass:
		return dispatch.Verdict{Allow: true, By: ByAuto}, nil
	case routeReject:
		return rejected(ByMode, fmt.Sprintf(
			"%s is not available in plan mode: nothing is changed while planning.", c.Definition.Name)), nil
	}
	// The call escapes from here on; a copy keeps the way above free of allocations.
	call := c
	return s.decide(ctx, &call, way)
}

// EndSession forgets the session grants of a thread: its session is over.
func (s *Stage) EndSession(thread string) { s.sessions.end(thread) }

// decide handles a call that does not pass by its mode.
func (s *Stage) decide(ctx context.Context, c *dispatch.Call, way route) (dispatch.Verdict, error) {
	if s.granted(c) {
		return dispatch.Verdict{Allow: true, By: ByGrant}, nil
	}
	var rationale string
	if way == routeReview || way == routeReviewThenAsk {
		review, err := s.review(ctx, c)
		if err != nil {
			return dispatch.Verdict{}, err
		}
		rationale = review.Rationale
		switch {
		case review.Outcome == ReviewDeny:
			return reviewDenied(review), nil
		case review.Outcome == ReviewAllow && way == routeReview:
			return dispatch.Verdict{Allow: true, By: ByReviewer, Rationale: rationale, Params: recorded(review)}, nil
		}
	}
	if s.operator == nil {
		return nobody(), nil
	}
	done, err := s.turns.enter(ctx, c.Thread)
	if err != nil {
		return dispatch.Verdict{}, err
	}
	defer done()
	// The answer to the prompt before this one may have been a grant that covers this call too.
	if s.granted(c) {
		return dispatch.Verdict{Allow: true, By: ByGrant}, nil
	}
	return s.ask(ctx, c, rationale)
}

// review asks the reviewer. Whatever keeps it from an answer, except the end of ctx, leaves the decision to the operator.
func (s *Stage) review(ctx context.Context, c *dispatch.Call) (Review, error) {
	if s.reviewer == nil {
		return Review{}, nil
	}
	bounded, cancel := context.WithTimeout(ctx, reviewTime)
	defer cancel()
	review, err := s.reviewer.Review(bounded, *c)
	if ended := ctx.Err(); ended != nil {
		return Review{}, ended
	}
	if err != nil || bounded.Err() != nil {
		return Review{}, nil
	}
	return review, nil
}

// ask asks the operator and remembers the answer.
func (s *Stage) ask(ctx context.Context, c *dispatch.Call, rationale string) (v dispatch.Verdict, err error) {
	prompt := newPrompt(c, rationale)
	if s.watch != nil {
		s.watch.Asked(prompt)
		defer func() { s.watch.Answered(prompt, v, err) }()
	}
	answer, err := s.operator.Ask(ctx, prompt)
	if ended := ctx.Err(); ended != nil {
		return dispatch.Verdict{}, ended
	}
	if errors.Is(err, ErrNoOperator) {
		return nobody(), nil
	}
	if err != nil {
		return dispatch.Verdict{}, fmt.Errorf("approval: asking the operator about %s: %w", prompt.Tool, err)
	}
	v = dispatch.Verdict{Allow: true, By: ByOperator, Scope: ScopeOnce, Rationale: rationale}
	switch answer.Choice {
	case Once:
		return v, nil
	case Session, Always:
		v.Scope, v.Message = s.remember(ctx, c, answer.Choice)
		return v, nil
	}
	v = rejected(ByOperator, "The operator declined this call.")
	if answer.Message != "" {
		v.Message = "The operator declined this call and said: " + answer.Message
	}
	return v, nil
}

// remember stores a grant and returns the scope that it got. What can't be written stays in force in memory, and the
// message says so.
func (s *Stage) remember(ctx context.Context, c *dispatch.Call, choice Choice) (scope, message string) {
	g, ok := grantFor(c)
	if !ok {
		return ScopeOnce, ""
	}
	s.sessions.add(c.Thread, g)
	if choice == Session {
		return ScopeSession, ""
	}
	if err := s.stored.add(ctx, g); err != nil {
		return ScopeSession, "The permission holds until the session ends; it could not be stored: " + err.Error()
	}
	return ScopePersistent, ""
}

// granted reports whether a grant of this session or of permissions.json covers the call.
func (s *Stage) granted(c *dispatch.Call) bool {
	want, ok := grantFor(c)
	if !ok {
		return false
	}
	return s.sessions.cover(c.Thread, &want) || s.stored.cover(&want)
}

func rejected(by, message string) dispatch.Verdict {
	return dispatch.Verdict{
		Code: tool.CodeApprovalRejected, Message: message, By: by, Params: map[string]any{"by": by},
	}
}

func nobody() dispatch.Verdict {
	return rejected(ByNoOperator, "This call needs approval and nobody is there to ask. "+
		"It is allowed by another approval mode (--approval), or by a grant that the operator stored earlier in an interactive session.")
}

func reviewDenied(r Review) dispatch.Verdict {
	text := "The reviewer declined this call. Don't try to reach the same thing another way."
	if r.Rationale != "" {
		text = "The reviewer declined this call: " + r.Rationale + "\nDon't try to reach the same thing another way."
	}
	v := rejected(ByReviewer, text)
	v.Rationale = r.Rationale
	for name, value := range recorded(r) {
		v.Params[name] = value
	}
	return v
}

// recorded is what a review leaves in the record beside its rationale.
func recorded(r Review) map[string]any {
	return map[string]any{"riskLevel": r.RiskLevel, "userAuthorization": r.Authorization}
}
