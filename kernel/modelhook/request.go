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
	// Raw holds the labels of the raw hooks that changed the request; nil when it is as it was.
	Raw []string
}

// Prepare runs the hooks. The error is that of ctx; a hook that fails, or returns what it must not, is reported and
// skipped.
func Prepare(ctx context.Context, v *contrib.View, r Request) (Prepared, error) {
	thread := contrib.ThreadID(r.Scope.Thread)
	raws := rawhook.RebuildModels.Entries(v, thread)
	ordinary := hook.TransformModels.Entries(v, thread)
	if len(raws) == 0 && len(ordinary) == 0 {
		return Prepared{System: r.System, Items: r.Items}, nil
	}
	l := project(r)
	var labels []string
	for i := range raws {
		e := &raws[i]
		next, err := contrib.Fold(ctx, raws[i:i+1], l, func(ctx context.Context, h rawhook.RebuildModel, l *list) (*list, error) {
			items, err := h.RebuildModel(ctx, l.request(r))
			if err != nil || items == nil {
				return l, err
			}
			if rule := l.refuseRaw(items, r.AcceptsImages); rule != "" {
				return l, refused(&e.EntryInfo, rawhook.RebuildModels.Name(), rule)
			}
			return l.apply(items), nil
		}, r.Report, contrib.Forwards)
		if err != nil {
			return Prepared{}, err
		}
		if next != l {
			if label := labelOf(&e.EntryInfo); !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
			l = next
		}
	}
	for i := range ordinary {
		e := &ordinary[i]
		next, err := contrib.Fold(ctx, ordinary[i:i+1], l, func(ctx context.Context, h hook.TransformModel, l *list) (*list, error) {
			items, err := h.TransformModel(ctx, l.request(r))
			if err != nil || items == nil {
				return l, err
			}
			if rule := l.refuseOrdinary(items); rule != "" {
				return l, refused(&e.EntryInfo, hook.TransformModels.Name(), rule)
			}
			return l.apply(items), nil
		}, r.Report, contrib.Forwards)
		if err != nil {
			return Prepared{}, err
		}
		l = next
	}
	out := l.build(r)
	if !l.changed(r) {
		return Prepared{System: r.System, Items: r.Items}, nil
	}
	out.Raw = labels
	return out, nil
}

// Observe shows an answer to the observers of answers.
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

func refused(e *contrib.EntryInfo, point, rule string) *contrib.CallError {
	return &contrib.CallError{Cause: contrib.CauseRefused, Point: point, Origin: e.Origin, Label: e.Label, Rule: rule}
}

func labelOf(e *contrib.EntryInfo) string {
	if id := e.Origin.ID(); id != "" {
		return id + "/" + e.Label
	}
	return e.Label
}
