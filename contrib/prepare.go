package contrib

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// prepare makes the checks of an add that do not depend on what else is registered, in the order in which they decide,
// and builds the entry. c is how a plugin's code is called; nil for the host's own adds.
func (o *owner) prepare(d *definition, value any, opts *options, c Containment) (*Handle, error) {
	if err := o.check(d, value, opts, c != nil); err != nil {
		return nil, err
	}
	info := EntryInfo{
		Point: d.info.Name, Origin: o.origin, Order: opts.order.value, Name: opts.named.value, Replaces: opts.replaces.value,
		Thread: opts.thread.value, Label: opts.label.value, Deadline: d.info.Deadline,
	}
	if info.Label == "" {
		info.Label = shortName(value)
	}
	if opts.deadline.given && d.info.Deadline > 0 {
		info.Deadline = opts.deadline.value
	}
	h := &Handle{registry: o.registry, owner: o}
	e := &entry{info: info, point: d, handle: h, owned: opts.owned && c == nil}
	h.entry = e
	run := contain
	if c != nil {
		run = c.Run
	}
	started := false
	err := run(func() error {
		started = true
		if err := e.describe(value); err != nil || c == nil {
			e.value = value
			return err
		}
		e.value = d.guard(value, e.info.Meta, c.Ref(RefInfo{
			Handle: h, Point: d.info.Name, Label: e.info.Label, Deadline: e.info.Deadline,
		}))
		if isNil(e.value) {
			return errors.New("its guard is nil")
		}
		return nil
	})
	switch {
	case err != nil && !started && errors.Is(err, ErrRevoked):
		return nil, refuse(d, ErrClosed, "")
	case err != nil:
		refused := refuse(d, ErrInvalidContribution, "")
		refused.cause = err
		return nil, refused
	case info.Name != "" && info.Name == info.Replaces:
		return nil, refuse(d, ErrOwnName, fmt.Sprintf("an entry cannot replace its own name %q", info.Name))
	}
	return h, nil
}

func (e *entry) describe(value any) (err error) {
	if e.point.describe != nil {
		e.info.Meta, err = e.point.describe(value)
	}
	if err == nil && e.point.reserved != nil && e.info.Origin != Builtin() {
		err = e.point.reserved(value)
	}
	return err
}

// contain runs f and turns a panic into an error.
func contain(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

// check makes the checks from the point to the guard. No method of the value is called.
func (o *owner) check(d *definition, value any, opts *options, plugin bool) error {
	switch {
	case !o.registry.admits(d):
		return refuse(d, ErrUnknownPoint, "the registry was made without it")
	case isNil(value):
		return refuse(d, ErrNilContribution, "")
	}
	if fault := opts.fault(value); fault != "" {
		return refuse(d, ErrInvalidOption, fault)
	}
	for _, name := range []setting[string]{opts.named, opts.replaces} {
		if fault := nameFault(name.value); name.given && fault != "" {
			return refuse(d, ErrInvalidName, fault)
		}
	}
	switch {
	case opts.threads:
		return refuse(d, ErrInvalidScope, "two different threads are given")
	case opts.thread.given && strings.TrimSpace(string(opts.thread.value)) == "":
		return refuse(d, ErrInvalidScope, "the thread id is blank")
	case opts.thread.given && d.info.Scopes == WorkspaceOnly:
		return refuse(d, ErrScopeUnsupported, "its entries have workspace scope only")
	case opts.replaces.given && d.info.Tiers&TierB == 0:
		return refuse(d, ErrTierUnsupported, "its entries cannot be replaced")
	case plugin && d.guard == nil:
		return refuse(d, ErrUnguarded, "plugins cannot contribute to a point without a guard")
	}
	return nil
}

// fault returns what is wrong with the options for value, names and scopes aside, or nothing.
func (o *options) fault(value any) string {
	switch d := o.deadline; {
	case o.clash != "":
		return o.clash
	case d.given && (d.value < minDeadline || d.value > maxDeadline):
		return "a deadline is from 1ms to 10m"
	case o.label.given && labelFault(o.label.value) != "":
		return labelFault(o.label.value)
	case o.owned && !closable(value):
		return "an owned value needs a method Close() error or Close(context.Context) error"
	}
	return ""
}

func closable(value any) bool {
	switch value.(type) {
	case interface{ Close() error }, interface{ Close(context.Context) error }:
		return true
	}
	return false
}

// closeValue closes value and turns a panic into an error.
func closeValue(value any) error {
	return contain(func() error {
		switch c := value.(type) {
		case interface{ Close() error }:
			return c.Close()
		case interface{ Close(context.Context) error }:
			return c.Close(context.Background())
		}
		return nil
	})
}
