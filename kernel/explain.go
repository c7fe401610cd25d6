package kernel

import (
	"context"
	"fmt"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/model"
)

// Explained is what every explanation says about one contribution.
type Explained struct {
	Point    string   `json:"point,omitempty"`
	Owner    string   `json:"owner,omitempty"` // builtin, module:<name> or plugin:<id>@<generation>; of tools external:<set> too
	Label    string   `json:"label,omitempty"`
	Order    int      `json:"order"`
	Target   string   `json:"target,omitempty"`   // the name under which others may replace it
	Replaces string   `json:"replaces,omitempty"` // the name that it replaces
	Beats    []string `json:"beats,omitempty"`    // owners of what it replaced
	Thread   string   `json:"thread,omitempty"`   // blank: workspace scope
	Lost     Loss     `json:"lost,omitempty"`     // why it is without effect; blank: it has effect
	LostTo   string   `json:"lostTo,omitempty"`   // owner of what it lost to
	Detail   string   `json:"detail,omitempty"`   // more about the loss
}

// Loss says why a contribution is without effect.
type Loss string

// The losses.
const (
	LostShadowed    Loss = "shadowed"    // another contribution replaces it
	LostBlank       Loss = "blank"       // it had nothing to say
	LostFailed      Loss = "failed"      // it failed; detail says how
	LostTakenOver   Loss = "taken over"  // what it says was taken out of the prompt again
	LostUnavailable Loss = "unavailable" // its plugin is going
	LostName        Loss = "name taken"  // another tool keeps its name
	LostRefused     Loss = "refused"     // it is not admitted; detail says why
	LostMasked      Loss = "masked"      // a restriction took it away
)

func explained(e *contrib.EntryInfo) Explained {
	return Explained{
		Point: e.Point, Owner: e.Origin.String(), Label: e.Label, Order: e.Order, Target: e.Name, Replaces: e.Replaces, Thread: string(e.Thread),
	}
}

// explanation takes down what a turn would do.
type explanation struct {
	turn        *turn
	items       []*model.Item // of the transcript
	steps       []composer.Step
	providers   []providerStep // of agent.context, where more than the built-in one has a say
	toolSteps   []toolset.Step
	diagnostics []contrib.Diagnostic
	failed      map[uint64]*contrib.CallError // by entry
}

// providerStep is what one provider made of the instructions.
type providerStep struct {
	source        *source
	before, after string
}

func (x *explanation) provider(s *source, before, after string) {
	x.providers = append(x.providers, providerStep{s, before, after})
}

// tools is where a planning pass tells its steps; nil without an explanation.
func (x *explanation) tools() func(toolset.Step) {
	if x == nil {
		return nil
	}
	return func(s toolset.Step) { x.toolSteps = append(x.toolSteps, s) }
}

func (x *explanation) fail(e *contrib.EntryInfo, c *contrib.CallError) { x.failed[e.ID] = c }

// why says how an entry failed.
func why(c *contrib.CallError) string {
	if c.Rule != "" {
		return string(c.Cause) + ": " + c.Rule
	}
	return string(c.Cause)
}

// rehearse goes the way of a turn up to its first request, without a model and without a trace in any log: it pins a view
// and plans the tools. thread is an open or a stored one; blank stands for a new one. done gives the thread back.
func (k *Kernel) rehearse(ctx context.Context, thread string, o Options) (_ context.Context, x *explanation, done func(), err error) {
	th, items, done, err := k.lend(ctx, thread, o)
	if err != nil {
		return ctx, nil, nil, err
	}
	ctx = context.WithValue(ctx, turnKey{}, th)
	r := newTurn(th)
	x = &explanation{turn: r, items: items, failed: map[uint64]*contrib.CallError{}}
	r.plan, r.explain, r.report = &plan{}, x, x.fail
	th.mu.Lock()
	r.mode, r.ref = or(o.Mode, th.mode), or(o.Model, th.model)
	th.mu.Unlock()
	// A model that can't be chosen leaves its names blank.
	if request, err := k.models.Resolve(ctx, r.ref); err == nil {
		r.plan.request = request
	}
	r.view = k.registry.View()
	if err := r.plan.prepareTools(ctx, r); err != nil {
		done()
		return ctx, nil, nil, err
	}
	return ctx, x, done, nil
}

// lend returns the thread that an explanation works on, and the items of its transcript: the open one when nothing runs on
// it, or a copy of a stored one that nobody is told of.
func (k *Kernel) lend(ctx context.Context, id string, o Options) (*Thread, []*model.Item, func(), error) {
	if err := checkOptions(Options{Mode: or(o.Mode, ModeWork), Approval: o.Approval}); err != nil {
		return nil, nil, nil, err
	}
	k.mu.Lock()
	th := k.threads[id]
	k.mu.Unlock()
	if th != nil {
		if err := th.enter(ctx); err != nil {
			return nil, nil, nil, err
		}
		return th, th.log.Items(), th.leave, nil
	}
	scratch, err := threadlog.Memory().Create(ctx, threadlog.Header{})
	if err != nil {
		return nil, nil, nil, err
	}
	var items []*model.Item
	if id == "" {
		id = scratch.ID()
	} else {
		picture, _, err := k.store.Read(ctx, id)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("kernel: read thread %s: %w", id, err)
		}
		s := picture.State()
		items, o.Workspace = picture.Transcript(), s.Thread.Workspace
		o.Mode = or(o.Mode, s.Mode)
		if s.Provider != "" {
			o.Model = or(o.Model, s.Provider+"/"+s.Model)
		}
	}
	prompts, forget := k.live.Borrow(id)
	if prompts == nil {
		return nil, nil, nil, fmt.Errorf("%w: %s", ErrThreadOpen, id)
	}
	th = &Thread{
		kernel: k, log: scratch, id: id, workspace: o.Workspace, mode: or(o.Mode, ModeWork), model: o.Model, busy: make(chan struct{}, 1),
		prompts: prompts,
	}
	approval := or(o.Approval, ApprovalDefault)
	th.approval.Store(&approval)
	return th, items, func() {
		forget()
		_ = scratch.Close() // it holds nothing
	}, nil
}

func (x *explanation) view() *contrib.View      { return x.turn.kernel.registry.View() }
func (x *explanation) thread() contrib.ThreadID { return contrib.ThreadID(x.turn.thread.id) }

// shadowed is an entry that another one replaces.
type shadowed struct {
	Explained
	info *contrib.EntryInfo
}

// infos lists for each effective entry of a point the owners of those that it shadows, and the shadowed ones.
func (x *explanation) infos(point contrib.AnyPoint) (over map[uint64][]string, lost []shadowed) {
	infos := point.Infos(x.view(), x.thread())
	owners := make(map[uint64]string, len(infos))
	for i := range infos {
		owners[infos[i].ID] = infos[i].Origin.String()
	}
	over = map[uint64][]string{}
	for i := range infos {
		e := &infos[i]
		if e.ShadowedBy == 0 {
			continue
		}
		over[e.ShadowedBy] = append(over[e.ShadowedBy], owners[e.ID])
		s := shadowed{explained(e), e}
		s.Lost, s.LostTo = LostShadowed, owners[e.ShadowedBy]
		lost = append(lost, s)
	}
	return over, lost
}
