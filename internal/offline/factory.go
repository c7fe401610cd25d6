package offline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/points/model"
)

// Protocol is the token of the protocol, and Rules the model that follows plain sentences.
const (
	Protocol = "offline"
	Rules    = "rules"
)

// Environment is the variable that names a scenario file.
const Environment = "CRYSTAL_OFFLINE_SCENARIO"

// Module contributes the protocol offline.
var Module = contrib.Provide[model.ClientFactory](model.Protocols, func() model.ClientFactory { return NewFactory() })

// Factory makes clients of the protocol offline. It is safe for use by several goroutines.
type Factory struct {
	mu        sync.Mutex
	scenarios map[string]*scenario // by absolute path; guarded by mu
}

var _ model.ClientFactory = (*Factory)(nil)

// NewFactory returns a factory whose scenarios begin at their first step.
func NewFactory() *Factory { return &Factory{scenarios: map[string]*scenario{}} }

// CanCreate reports whether protocol is offline.
func (f *Factory) CanCreate(protocol string) bool { return protocol == Protocol }

// Create makes a client. A scenario file that can't be read or breaks the rules is an error.
func (f *Factory) Create(_ context.Context, r model.ClientRequest) (model.Client, error) {
	path := scenarioPath(r)
	if path == "" {
		return &client{provider: r.Provider, answer: rules}, nil
	}
	s, err := f.scenario(path)
	if err != nil {
		return nil, err
	}
	return &client{provider: r.Provider, answer: s.answer}, nil
}

// CreateMultimodal makes the same client: images are accepted and not looked at.
func (f *Factory) CreateMultimodal(ctx context.Context, r model.ClientRequest) (model.Client, error) {
	return f.Create(ctx, r)
}

// scenarioPath returns the scenario file that is asked for most closely: as the model, by the environment, or by the
// provider definition.
func scenarioPath(r model.ClientRequest) string {
	if ext := strings.ToLower(filepath.Ext(r.Model)); ext == ".json" || ext == ".jsonc" {
		return r.Model
	}
	if path := strings.TrimSpace(os.Getenv(Environment)); path != "" {
		return path
	}
	return r.Scenario
}

func (f *Factory) scenario(path string) (*scenario, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("offline: scenario %q: %w", path, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.scenarios[absolute]; s != nil {
		return s, nil
	}
	s, err := load(absolute)
	if err != nil {
		return nil, err
	}
	f.scenarios[absolute] = s
	return s, nil
}

// client plays one answer per round.
type client struct {
	provider string
	answer   func(r *model.Request) (answer, error)
}

// answer is what is said to one request.
type answer struct {
	delay     time.Duration
	reasoning string
	text      string
	calls     []call
	usage     *model.Usage
	finish    model.Finish
	failure   *model.Error
	early     bool
	notes     []string
}

type call struct{ id, name, arguments string }

// piece is the number of characters of one text delta.
const piece = 16

// Round answers r as the rules or the scenario say.
func (c *client) Round(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
	a, err := c.answer(r)
	if err != nil {
		return nil, c.refuse(err)
	}
	if err := pause(ctx, a.delay); err != nil {
		return nil, err
	}
	for _, n := range a.notes {
		if err := emit(model.Delta{Kind: model.NoteDelta, Name: string(home.ConfigUnknownKey), Text: n}); err != nil {
			return nil, err
		}
	}
	sink := wire.NewSink(Protocol, c.provider, emit)
	pieces(a.reasoning, func(t string) { sink.Reasoning(0, model.SegmentText, t) })
	pieces(a.text, sink.Text)
	for i, call := range a.calls {
		sink.Start(i, call.id, call.name)
		sink.Arguments(i, call.arguments)
		if !a.early && a.failure == nil {
			sink.End(i)
		}
	}
	switch {
	case sink.Err() != nil:
		return nil, sink.Err()
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case a.failure != nil:
		e := *a.failure
		e.Protocol, e.Provider = Protocol, c.provider
		return nil, &e
	case a.early:
		return nil, &model.Error{
			Code: model.CodeStreamEnded, Kind: model.KindIncomplete, Protocol: Protocol, Provider: c.provider,
			Message: "the answer ended before it was whole", Retryable: true,
		}
	}
	sink.Usage(c.usage(r, &a))
	sink.Finish(a.finish, string(a.finish))
	return sink.Response()
}

func (c *client) refuse(err error) error {
	return &model.Error{
		Code: model.CodeRequestInvalid, Kind: model.KindRequest, Protocol: Protocol, Provider: c.provider,
		Message: err.Error(), Err: err,
	}
}

// usage is what the scenario says, else the estimate.
func (c *client) usage(r *model.Request, a *answer) model.Usage {
	if a.usage != nil {
		return *a.usage
	}
	items := []*model.Item{{Kind: model.Message, Role: model.Assistant, Text: a.text}}
	for _, call := range a.calls {
		items = append(items, &model.Item{Kind: model.ToolCall, Name: call.name, Arguments: call.arguments})
	}
	return *estimate.Usage(estimate.Request(r), items)
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pieces cuts text into pieces of at most piece characters.
func pieces(text string, give func(string)) {
	count, start := 0, 0
	for i := range text {
		if count == piece {
			give(text[start:i])
			count, start = 0, i
		}
		count++
	}
	if start < len(text) {
		give(text[start:])
	}
}
