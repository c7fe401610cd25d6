package contrib

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"
)

// Point is a named, typed place to contribute to. It is declared once, as a package-level variable, with [Define]. The
// zero Point is admitted by no registry.
type Point[T any] struct {
	number int // the same as def.number, one load nearer
	def    *definition
}

// PointInfo is what a point declares, without its type.
type PointInfo struct {
	Name       string
	Doc        string
	Contract   string // the Go type of its values
	Tiers      Tiers
	Scopes     Scopes
	Evaluation Evaluation
	Failure    FailurePolicy
	Deadline   time.Duration
	Targets    []Target
	Guarded    bool // plugins may contribute
}

// AnyPoint is a Point of any type. Only this package implements it.
type AnyPoint interface {
	// Name returns the point's name.
	Name() string
	// Info returns what the point declares.
	Info() PointInfo
	// Infos lists the entries of the point in resolved order, without their values; with them come those that are
	// shadowed, at the end.
	Infos(v *View, thread ThreadID) []EntryInfo

	defined() *definition
}

// definition is a point without its type.
type definition struct {
	number   int
	info     PointInfo
	describe func(value any) (any, error)                                     // nil without Describe
	reserved func(value any) error                                            // nil without Reserved
	guard    func(value, meta any, ref Ref) any                               // nil without Guard
	standIn  func(Hold) any                                                   // nil without StandIn
	lists    func(before unsafe.Pointer, old, now *pointState) unsafe.Pointer // makes the typed lists of one state
}

// name is the point's name, for points that were never defined too.
func (d *definition) name() string {
	if d == nil {
		return "a point that was not made with Define"
	}
	return d.info.Name
}

func (d *definition) guarding(target string) bool {
	return slices.ContainsFunc(d.info.Targets, func(t Target) bool { return t.Guarding && t.covers(target) })
}

// defined numbers the points of the process from 1, so that a view is indexed without a map.
var defined atomic.Int32

// Define declares a point. It panics when a required field is missing: a point is declared at package level, where no
// error can be returned.
func Define[T any](s Spec[T]) *Point[T] {
	if fault := s.fault(); fault != "" {
		panic(fmt.Sprintf("contrib: point %q cannot be defined at %s: %s", s.Name, site(1), fault))
	}
	d := &definition{
		number: int(defined.Add(1)),
		info: PointInfo{
			Name: s.Name, Doc: s.Doc, Contract: reflect.TypeFor[T]().String(), Tiers: s.Tiers, Scopes: s.Scopes,
			Evaluation: s.Evaluation, Failure: s.Failure, Deadline: s.Deadline, Targets: slices.Clone(s.Targets),
			Guarded: s.Guard != nil,
		},
		lists: makeLists[T],
	}
	if s.Describe != nil {
		d.describe = func(value any) (any, error) { return s.Describe(value.(T)) }
	}
	if s.Reserved != nil {
		d.reserved = func(value any) error { return s.Reserved(value.(T)) }
	}
	if s.Guard != nil {
		d.guard = func(value, meta any, ref Ref) any { return s.Guard(value.(T), meta, ref) }
	}
	if s.StandIn != nil {
		d.standIn = func(h Hold) any { return s.StandIn(h) }
	}
	return &Point[T]{number: d.number, def: d}
}

// site is the file and line of the caller's caller, skip frames further up.
func site(skip int) string {
	_, file, line, ok := runtime.Caller(skip + 1)
	if !ok {
		return "an unknown place"
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// Name returns the point's name.
func (p *Point[T]) Name() string { return p.defined().name() }

// Info returns what the point declares. The caller owns the result.
func (p *Point[T]) Info() PointInfo {
	d := p.defined()
	if d == nil {
		return PointInfo{}
	}
	info := d.info
	info.Targets = slices.Clone(info.Targets)
	return info
}

func (p *Point[T]) defined() *definition {
	if p == nil {
		return nil
	}
	return p.def
}

// Add adds value with the origin of r. The checks are those of [RefusedError]; a refused add changes nothing. On a
// plugin's registrar the guard of value is published, never value itself.
func (p *Point[T]) Add(r *Registrar, value T, opts ...Option) (*Handle, error) {
	return r.add(p.defined(), value, collect(opts))
}

// In returns the resolved values of the point for a thread; a blank thread gives the workspace list. It takes no lock
// and does not allocate. The slice is shared and must not be changed.
func (p *Point[T]) In(v *View, thread ThreadID) []T {
	if v == nil || p.number >= len(v.lists) {
		return nil
	}
	l := (*lists[T])(v.lists[p.number])
	if l == nil {
		return nil
	}
	if thread == "" {
		return l.values
	}
	// The first step of table.find for an id of usual length, written out: each call on the way would take longer than the
	// step itself. Most often it is the very string that the table holds.
	if n, slots := len(thread), l.threads.cheap; n >= 8 && len(slots) > 0 {
		b := thread[n-8:]
		x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56 // last8
		s := &slots[mix(x)&uint64(len(slots)-1)]
		if unsafe.StringData(string(s.id)) == unsafe.StringData(string(thread)) && len(s.id) == n {
			if s.eager != nil {
				return s.eager
			}
			if values := s.values.Load(); values != nil {
				return *values
			}
		}
	}
	return l.search(thread)
}

// Entries returns the same list as In with metadata, under the same rules.
func (p *Point[T]) Entries(v *View, thread ThreadID) []Entry[T] {
	l := p.resolved(v)
	if l == nil {
		return nil
	}
	return l.entriesIn(thread)
}

// Revision returns the point's revision in v: 0 until the first publication that changes the point, and one more with
// each that does.
func (p *Point[T]) Revision(v *View) uint64 { return v.state(p.defined()).revision }

// Infos implements AnyPoint. The caller owns the result.
func (p *Point[T]) Infos(v *View, thread ThreadID) []EntryInfo {
	return v.state(p.defined()).infos(thread)
}

// resolved returns the lists of the point in v, or nil when it has none.
func (p *Point[T]) resolved(v *View) *lists[T] {
	if v == nil || p == nil || p.number >= len(v.lists) {
		return nil
	}
	return (*lists[T])(v.lists[p.number])
}
