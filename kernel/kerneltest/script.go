package kerneltest

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/points/model"
)

// Step is one answer of the scripted model. The zero value is an empty reply.
type Step struct {
	Reasoning string
	Text      string
	Calls     []Call
	Usage     *model.Usage
	Finish    model.Finish // blank: by the calls
	Raw       string       // the provider's own word for the finish
	Err       error        // ends the attempt after what stands above was streamed
	// Before runs first, when the request has come in: a test looks at the request here, changes the world, or waits.
	Before func(ctx context.Context, r *model.Request) error
}

// Call is a tool call of a step. Without an ID it is numbered: c1, c2, … over the whole script.
type Call struct {
	ID, Name, Arguments string
}

// Model is a scripted model. It takes its steps in order, whatever is asked; when they are used up it answers "ok".
type Model struct {
	mu       sync.Mutex
	steps    []Step
	calls    int
	requests []*model.Request
}

// Requests returns the requests that came in so far.
func (m *Model) Requests() []*model.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Then adds steps to the script.
func (m *Model) Then(steps ...Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = append(m.steps, steps...)
}

func (m *Model) next(r *model.Request) Step {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, r)
	if len(m.steps) == 0 {
		return Step{Text: "ok"}
	}
	s := m.steps[0]
	m.steps = m.steps[1:]
	s.Calls = slices.Clone(s.Calls)
	for i := range s.Calls {
		if m.calls++; s.Calls[i].ID == "" {
			s.Calls[i].ID = "c" + strconv.Itoa(m.calls)
		}
	}
	return s
}

// Round implements model.Client.
func (m *Model) Round(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
	s := m.next(r)
	if s.Before != nil {
		if err := s.Before(ctx, r); err != nil {
			return nil, err
		}
	}
	var a model.Assembler
	for _, d := range s.deltas() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := a.Add(d); err != nil {
			return nil, err
		}
		if err := emit(d); err != nil {
			return nil, err
		}
	}
	if s.Err != nil {
		return nil, s.Err
	}
	return a.Response()
}

func (s *Step) deltas() []model.Delta {
	var out []model.Delta
	if s.Reasoning != "" {
		out = append(out, model.Delta{Kind: model.ReasoningDelta, Text: s.Reasoning, Segment: model.SegmentText})
	}
	if s.Text != "" {
		out = append(out, model.Delta{Kind: model.TextDelta, Text: s.Text})
	}
	for i, c := range s.Calls {
		out = append(out,
			model.Delta{Kind: model.CallStart, Index: i, ID: c.ID, Name: c.Name},
			model.Delta{Kind: model.CallArguments, Index: i, ID: c.ID, Text: c.Arguments},
			model.Delta{Kind: model.CallEnd, Index: i, ID: c.ID})
	}
	if s.Err != nil {
		return out
	}
	if s.Usage != nil {
		out = append(out, model.Delta{Kind: model.UsageDelta, Usage: *s.Usage})
	}
	finish := s.Finish
	switch {
	case finish == "" && len(s.Calls) > 0:
		finish = model.FinishToolCalls
	case finish == "":
		finish = model.FinishStop
	}
	return append(out, model.Delta{Kind: model.FinishDelta, Finish: finish, Raw: s.Raw})
}

// protocol is the token under which the scripted model is reached.
const protocol = "script"

type factory struct{ model *Model }

func (f factory) CanCreate(p string) bool { return p == protocol }
func (f factory) Create(context.Context, model.ClientRequest) (model.Client, error) {
	return f.model, nil
}

func (f factory) CreateMultimodal(context.Context, model.ClientRequest) (model.Client, error) {
	return f.model, nil
}

// Script answers the requests of the kernel with steps. The model accepts images and has a window of 128,000 tokens.
func Script(steps ...Step) fx.Option {
	return ScriptOf(model.ClientRequest{ContextWindow: 128_000, ImageInput: true}, steps...)
}

// ScriptOf is Script for a model of another kind. Protocol, provider and name of r are set when they are blank.
func ScriptOf(r model.ClientRequest, steps ...Step) fx.Option {
	m := &Model{steps: slices.Clone(steps)}
	r.Protocol = protocol
	if r.Provider == "" {
		r.Provider = protocol
	}
	if r.Model == "" {
		r.Model = "test"
	}
	return fx.Options(
		fx.Supply(m),
		contrib.Supply[model.ClientFactory](model.Protocols, factory{m}),
		fx.Decorate(func(kernel.Models) kernel.Models {
			return kernel.ModelsFunc(func(context.Context, string) (model.ClientRequest, error) { return r, nil })
		}),
	)
}
