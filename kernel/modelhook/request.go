package modelhook

import (
	"context"
	"slices"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/rawhook"
)

// Request is what the hooks of one model request work on.
type Request struct {
	Scope         hook.Scope
	Purpose       model.Purpose
	AcceptsImages bool
	System        string        // live system text; blank: none
	Items         []*model.Item // shared, not changed
	Report        contrib.Report
}

// Prepared is a request after its hooks.
type Prepared struct {
	System string
	Items  []*model.Item // the given slice itself when no hook changed anything
	// Raw holds the labels of the raw hooks that changed the request, each once; nil when it is as it was.
	Raw []string
}

// Prepare runs the hooks: every raw rebuild, then every ordinary transform. The error is that of ctx; a hook that fails, or
// returns what it must not, is reported and skipped.
func Prepare(ctx context.Context, v *contrib.View, r Request) (Prepared, error) {
	thread := contrib.ThreadID(r.Scope.Thread)
	raws := rawhook.RebuildModels.Entries(v, thread)
	ordinary := hook.TransformModels.Entries(v, thread)
	if len(raws) == 0 && len(ordinary) == 0 {
		return Prepared{System: r.System, Items: r.Items}, nil
	}
	return prepare(ctx, raws, ordinary, r)
}

func prepare(
	ctx context.Context, raws []contrib.Entry[rawhook.RebuildModel], ordinary []contrib.Entry[hook.TransformModel], r Request,
) (Prepared, error) {
	l := project(&r)
	var labels []string
	l, err := chain(ctx, raws, l, rawhook.RebuildModel.RebuildModel, (*list).refuseRaw, r.Report, func(e *contrib.EntryInfo) {
		if label := labelOf(e); !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	})
	if err == nil {
		l, err = chain(ctx, ordinary, l, hook.TransformModel.TransformModel, (*list).refuseOrdinary, r.Report, nil)
	}
	if err != nil {
		return Prepared{}, err
	}
	if !l.changed() {
		return Prepared{System: r.System, Items: r.Items}, nil
	}
	out := l.build()
	out.Raw = labels
	return out, nil
}

// chain runs the hooks of one point, each on what the one before left. changed is told which of them changed something.
func chain[T any](
	ctx context.Context, entries []contrib.Entry[T], l *list, call func(T, context.Context, hook.Request) ([]hook.Item, error),
	refuse func(*list, []hook.Item) string, report contrib.Report, changed func(*contrib.EntryInfo),
) (*list, error) {
	i := -1
	return contrib.Fold(ctx, entries, l, func(ctx context.Context, h T, l *list) (*list, error) {
		i++
		e := &entries[i].EntryInfo
		items, err := call(h, ctx, l.shown(e.Origin.Kind() == "plugin"))
		if err != nil || items == nil {
			return l, err
		}
		if rule := refuse(l, items); rule != "" {
			return l, &contrib.CallError{Cause: contrib.CauseRefused, Point: e.Point, Origin: e.Origin, Label: e.Label, Rule: rule}
		}
		next := l.apply(items)
		if next != l && changed != nil {
			changed(e)
		}
		return next, nil
	}, report, contrib.Forwards)
}

// Observe shows an answer to the observers of answers. The error is that of ctx.
func Observe(ctx context.Context, v *contrib.View, r Request, answer *model.Response) error {
	observers := hook.ModelResponses.Entries(v, contrib.ThreadID(r.Scope.Thread))
	if len(observers) == 0 {
		return nil
	}
	shown := hook.Response{Scope: r.Scope, Purpose: r.Purpose, Finish: answer.Finish, Usage: answer.Usage}
	names := map[string]string{}
	for i, it := range answer.Items {
		shown.Items = append(shown.Items, show(i, it, names))
	}
	return contrib.FanOut(ctx, observers, func(ctx context.Context, o hook.ModelResponse) error {
		return o.ModelResponse(ctx, shown.Copy())
	}, r.Report)
}

func labelOf(e *contrib.EntryInfo) string {
	if id := e.Origin.ID(); id != "" {
		return id + "/" + e.Label
	}
	return e.Label
}
