package toolset

import (
	"context"
	"errors"
	"fmt"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/tool"
)

// maxRegistrations is how many registrations of one source are taken.
const maxRegistrations = 512

// offer is what one source gave.
type offer struct {
	entry  *contrib.EntryInfo
	source string
	list   []tool.Registration
}

// gather asks the sources, one after another, and admits what they give.
func (p *pass) gather(ctx context.Context) ([]candidate, error) {
	offers := make([]offer, 0, len(p.in.Sources))
	total := 0
	for i := range p.in.Sources {
		o, err := p.ask(ctx, p.in.Sources[i:i+1])
		if err != nil {
			return nil, err
		}
		total += len(o.list)
		offers = append(offers, o)
	}
	p.made = make([]made, 0, total+1)
	p.claims = make(map[string]*Tool, total)
	candidates := make([]candidate, 0, total)
	for i := range offers {
		o := &offers[i]
		for j := range o.list {
			t := p.take(&o.list[j], o.source, o.entry)
			if t == nil {
				continue
			}
			if t.Definition.Key.Kind == tool.OwnerBuiltin {
				p.reserved[lower(t.Canonical)] = owner(t.Definition.Key)
			}
			if t.Definition.Catalogs&p.in.Planning.Catalog != 0 {
				candidates = append(candidates, candidate{t, o.entry})
			}
		}
	}
	return candidates, nil
}

// take admits one registration, or records why not.
func (p *pass) take(r *tool.Registration, source string, e *contrib.EntryInfo) *Tool {
	key := keyOf(e.Origin, source, r.Definition.Key, r.Definition.ID)
	t, f := p.admit(r, source, e)
	if f == nil {
		if _, twice := p.ids[key]; twice {
			f = &fault{reason: "duplicateId", detail: "the owner has already given this tool id"}
		}
	}
	if f != nil {
		p.refuse(f, key, source, e)
		return nil
	}
	p.ids[key] = struct{}{}
	return t
}

// ask asks one source. Panics and deadlines are failures of that source.
func (p *pass) ask(ctx context.Context, one []contrib.Entry[tool.Source]) (offer, error) {
	e := &one[0].EntryInfo
	o := offer{entry: e}
	var failure error
	failed := false
	err := contrib.FanOut(ctx, one, func(ctx context.Context, s tool.Source) error {
		bounded := ctx
		if e.Deadline > 0 && e.Origin.Kind() != string(tool.OwnerPlugin) { // a guard keeps the deadline itself
			var cancel context.CancelFunc
			bounded, cancel = context.WithTimeout(ctx, e.Deadline)
			defer cancel()
		}
		o.source = s.SourceID()
		list, err := s.Tools(bounded, p.in.Planning)
		if err != nil && ctx.Err() == nil && bounded.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
			err = &contrib.CallError{Cause: contrib.CauseDeadline, Point: e.Point, Origin: e.Origin, Label: e.Label}
		}
		if err != nil {
			failure = err
			return err
		}
		if !validID(o.source) {
			failure = fmt.Errorf("toolset: the source id %s is not 1 to 128 bytes of text", quoted(o.source))
			return failure
		}
		o.list = list
		return nil
	}, func(info *contrib.EntryInfo, c *contrib.CallError) {
		failed = true
		if failure == nil {
			failure = c
		}
		if e.Origin.Kind() != string(tool.OwnerBuiltin) {
			p.in.Report(info, c)
		}
	})
	switch {
	case err != nil:
		return o, err
	case failed && e.Origin.Kind() == string(tool.OwnerBuiltin):
		return o, fmt.Errorf("toolset: the built-in source %s failed, so no tools are planned: %w", quoted(o.source), failure)
	case failed:
		p.refuse(&fault{reason: reasonSourceFailed}, keyOf(e.Origin, o.source, tool.Key{}, ""), o.source, e)
		o.list = nil
	case len(o.list) > maxRegistrations && e.Origin.Kind() != string(tool.OwnerBuiltin):
		p.refuse(&fault{reason: reasonSourceFailed, detail: "tooMany"}, keyOf(e.Origin, o.source, tool.Key{}, ""), o.source, e)
		o.list = o.list[:maxRegistrations]
	}
	return o, nil
}
