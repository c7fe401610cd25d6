package model

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Client talks to one model.
//
// Round sends r once and streams the answer through emit, in stream order, then returns the candidate assembled from the
// same deltas (Assembler does that), whose items become the caller's. It makes one attempt: retrying is the host's. emit is
// called on the goroutine that called Round, and never after Round has returned; an error of emit ends the round with that
// error. Failures of the provider are returned as *Error. Calls may overlap. r belongs to the caller and must not be
// changed.
type Client interface {
	Round(ctx context.Context, r *Request, emit func(Delta) error) (*Response, error)
}

// ClientFunc adapts a function to Client.
type ClientFunc func(ctx context.Context, r *Request, emit func(Delta) error) (*Response, error)

// Round calls f.
func (f ClientFunc) Round(ctx context.Context, r *Request, emit func(Delta) error) (*Response, error) {
	return f(ctx, r, emit)
}

// PipelineKind tells the pipeline of the main agent from that of a subagent.
type PipelineKind string

// The kinds of pipelines.
const (
	Agent    PipelineKind = "agent"
	Subagent PipelineKind = "subagent"
)

// PipelineInfo describes the pipeline that a middleware is asked to join.
type PipelineInfo struct {
	Kind     PipelineKind
	Thread   string
	Provider string
	Model    string
}

// Middleware wraps the client of a pipeline. Returning next passes through. nil, an error or a panic leaves it out.
type Middleware interface {
	Name() string
	Wrap(ctx context.Context, next Client, i PipelineInfo) (Client, error)
}

// Targets and orders of the built-in middlewares.
const (
	Tracing          = "tracing"
	Retry            = "retry"
	SubagentProgress = "subagent-progress"
	SubagentTracing  = "subagent-tracing"
	ToolInjection    = "tool-injection"
	ImageSanitizing  = "image-sanitizing"
)

// ClientFactory makes clients for a wire protocol.
type ClientFactory interface {
	CanCreate(protocol string) bool
	Create(ctx context.Context, r ClientRequest) (Client, error)
	// CreateMultimodal makes a client that carries images; nil: none.
	CreateMultimodal(ctx context.Context, r ClientRequest) (Client, error)
}

// ClientRequest says what client is wanted. It carries a key: its printed form is its type name, and it must not be
// logged.
type ClientRequest struct {
	Protocol, Provider, Model          string
	BaseURL                            string // blank: the protocol's own
	Key                                string
	Organization, Project              string
	Headers                            map[string]string
	Temperature, TopP                  *float64
	MaxTokens                          int
	MaxTokensField                     string // openai: max_tokens or max_completion_tokens
	ContextWindow                      int
	ReplayReasoning                    bool
	StreamUsage                        bool
	AdaptiveThinking                   bool
	ImageInput, AudioInput, VideoInput bool
	KeyRequired                        bool
	RequestTimeout, IdleTimeout        time.Duration // 0: unlimited
	Scenario                           string        // offline only: path of a scenario file
}

// String returns the type name alone.
func (ClientRequest) String() string { return "model.ClientRequest" }

// GoString returns the type name alone.
func (ClientRequest) GoString() string { return "model.ClientRequest" }

// BuiltinProtocols are the tokens that no contributed factory may claim.
var BuiltinProtocols = []string{"deepseek", "openai", "responses", "anthropic", "gemini", "ollama", "offline"}

// Middlewares is the point model.middleware: folded from the last to the first, so that the lowest order is outermost.
var Middlewares = contrib.Define(contrib.Spec[Middleware]{
	Name: "model.middleware", Doc: "Wraps the model client of a pipeline.",
	Tiers: contrib.TierA | contrib.TierB, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.Materialised, Failure: contrib.Skip,
	Targets: []contrib.Target{
		{Name: Tracing, Order: 200, Doc: "Spans and usage; main agent only."},
		{Name: Retry, Order: 300, Doc: "Sends the same prepared request again."},
		{Name: SubagentProgress, Order: 400, Doc: "Subagents only."},
		{Name: SubagentTracing, Order: 500, Doc: "Subagents only."},
		{Name: ToolInjection, Order: 600, Doc: "Adds found deferred tools; main agent only."},
		{Name: ImageSanitizing, Order: 700, Doc: "Main agent only."},
	},
	Describe: describeMiddleware,
	Guard:    guardMiddleware,
})

// Protocols is the point model.protocol: makes clients for wire protocols. Built-in protocols come first.
var Protocols = contrib.Define(contrib.Spec[ClientFactory]{
	Name: "model.protocol", Doc: "Makes clients for a wire protocol.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceOnly,
	Evaluation: contrib.PerCall, Failure: contrib.Fail, Deadline: 30 * time.Second,
	Reserved: reservedProtocol,
	Guard:    guardFactory,
})

// MiddlewareFunc makes a middleware of a function.
func MiddlewareFunc(name string, wrap func(ctx context.Context, next Client, i PipelineInfo) (Client, error)) Middleware {
	return middlewareFunc{name, wrap}
}

type middlewareFunc struct {
	name string
	wrap func(context.Context, Client, PipelineInfo) (Client, error)
}

func (m middlewareFunc) Name() string { return m.name }
func (m middlewareFunc) Wrap(ctx context.Context, next Client, i PipelineInfo) (Client, error) {
	return m.wrap(ctx, next, i)
}
