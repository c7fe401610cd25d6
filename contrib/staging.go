package contrib

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Ref is the reference that a guard holds in place of a plugin's value. The generations room implements it.
type Ref interface {
	Origin() Origin
	Point() string
	Label() string
}

// RefInfo is what a Ref is made from.
type RefInfo struct {
	Handle   *Handle
	Point    string
	Label    string
	Deadline time.Duration // of one call; zero: the caller's own deadline alone counts
}

// Containment is how staging calls a plugin's code and makes its references. The generations room implements it.
type Containment interface {
	// Run runs code of the plugin (metadata reads) inside the gate, with labels, and turns a panic into an error. When
	// the gate is closed it returns an error that is ErrRevoked, without calling f.
	Run(f func() error) error
	// Ref makes the reference of one entry.
	Ref(i RefInfo) Ref
}

// phase is the state of a staging.
type phase uint8

const (
	phaseStaging phase = iota
	phaseSealed
	phaseLive
	phaseRevoked
	phaseReleased
)

// maxRefused is how many refusals one staging reports. Code that goes on adding after its generation was revoked must
// not fill the diagnostics of the host.
const maxRefused = 256

// Staging is the staged registrar of one generation of a plugin: nothing of it is visible before its commit. Its
// methods may be called from any goroutine.
type Staging struct {
	registrar   *Registrar
	containment Containment

	// Under the registry's lock.
	phase     phase
	preparing int       // adds whose metadata is being read
	prepared  []*Handle // in the order of the adds
	released  map[ThreadID]struct{}
	owned     []any // values that Release closes, in the order of the adds
	refused   []Diagnostic
}

// Stage makes the staged registrar of one generation. A nil Containment calls the plugin's code directly, without a
// gate: for tests.
func (r *Registry) Stage(origin Origin, c Containment) *Staging {
	if c == nil {
		c = bare{origin}
	}
	s := &Staging{containment: c, released: map[ThreadID]struct{}{}}
	o := newOwner(r, nil, origin)
	o.staging = s
	s.registrar = &Registrar{owner: o}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stagings[s] = struct{}{}
	return s
}

// Registrar is what the plugin adds through. While staging, adds are prepared: metadata is read and the guard built, but
// nothing is visible. Once live, adds with thread scope are published at once and those with workspace scope are
// refused with [ErrSealed].
func (s *Staging) Registrar() *Registrar { return s.registrar }

// Seal refuses further adds with ErrSealed: the activation has returned.
func (s *Staging) Seal() {
	r := s.registrar.owner.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.phase == phaseStaging {
		s.phase = phaseSealed
	}
}

// Commit publishes all prepared entries, in the order of the adds, and releases the plugin's holds, in one publication.
// An entry that is refused now is reported and left out. Commit fails with [ErrRegistrationPending], publishes nothing
// and may be called again when an add is still being prepared; it fails with [ErrClosed] after a revocation.
func (s *Staging) Commit() error {
	r, origin := s.registrar.owner.registry, s.registrar.owner.origin
	r.mu.Lock()
	err := s.commit(r, origin)
	r.mu.Unlock()
	r.notices.deliver(r)
	if err != nil {
		return fmt.Errorf("%w: nothing of %s was published", err, origin)
	}
	return nil
}

func (s *Staging) commit(r *Registry, origin Origin) error {
	switch {
	case s.phase >= phaseRevoked || r.closed:
		return ErrClosed
	case s.phase == phaseLive:
		return errors.New("contrib: committed before")
	case s.preparing > 0:
		return ErrRegistrationPending
	}
	s.phase = phaseLive
	delete(r.stagings, s)
	d := newDraft(r, r.View())
	for _, h := range s.prepared {
		if err := d.add(h, nil); err != nil {
			s.report(err)
			h.die()
		}
	}
	s.prepared = nil
	d.unhold(func(h *hold) bool { return h.PluginID == origin.id })
	r.publish(d)
	return nil
}

// Revoke withdraws everything in one publication, newest first. It touches no value. With a cause that holds, guarding
// targets that the generation's entries win are held. Revoking again does nothing.
func (s *Staging) Revoke(cause StopCause) {
	r := s.registrar.owner.registry
	r.mu.Lock()
	if s.phase < phaseRevoked {
		s.phase = phaseRevoked
		delete(r.stagings, s)
		d := newDraft(r, r.View())
		d.close(s.registrar.owner, cause.Holds() && s.registrar.owner.origin.kind == kindPlugin)
		r.publish(d)
	}
	r.mu.Unlock()
	r.notices.deliver(r)
}

// Release closes the values added with Owned, newest first and each once, leaving out those that skip reports; skip may
// be nil. It returns the errors of those that failed, panics included. The caller has seen the generation's calls end
// before. Release revokes first when nobody did; releasing again does nothing.
func (s *Staging) Release(skip func(value any) bool) []error {
	s.Revoke(StopOperator)
	r, origin := s.registrar.owner.registry, s.registrar.owner.origin
	r.mu.Lock()
	s.phase = phaseReleased
	values := s.owned
	s.owned = nil
	r.mu.Unlock()
	var errs []error
	closed := map[any]struct{}{}
	for _, value := range slices.Backward(values) {
		if reflect.ValueOf(value).Comparable() {
			if _, ok := closed[value]; ok {
				continue
			}
			closed[value] = struct{}{}
		}
		if skip != nil && skip(value) {
			continue
		}
		if err := closeValue(value); err != nil {
			errs = append(errs, fmt.Errorf("contrib: close %T of %s: %w", value, origin, err))
		}
	}
	return errs
}

// Refused lists the ContributionRefused diagnostics of this staging: the first 256.
func (s *Staging) Refused() []Diagnostic {
	r := s.registrar.owner.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(s.refused)
}

// add prepares an entry, or publishes it when the generation is live and the entry has thread scope.
func (s *Staging) add(via *Registrar, d *definition, value any, opts *options) (*Handle, error) {
	h, err := s.admit(via, d, value, opts)
	if err == nil {
		return h, nil
	}
	var refused *RefusedError
	if errors.As(err, &refused) {
		r := via.owner.registry
		r.mu.Lock()
		s.report(refused)
		r.mu.Unlock()
		r.notices.deliver(r)
	}
	return nil, err
}

func (s *Staging) admit(via *Registrar, d *definition, value any, opts *options) (*Handle, error) {
	r := via.owner.registry
	r.mu.Lock()
	phase := s.phase
	switch {
	case phase >= phaseRevoked || via.owner.closed || r.closed:
		r.mu.Unlock()
		return nil, refuse(d, ErrClosed, "")
	case phase == phaseSealed:
		r.mu.Unlock()
		return nil, refuse(d, ErrSealed, "the activation has returned")
	case phase == phaseLive && !opts.thread.given:
		r.mu.Unlock()
		return nil, refuse(d, ErrSealed, "an active plugin adds with InThread only")
	}
	if phase == phaseStaging {
		s.preparing++
	}
	r.mu.Unlock()
	var raw any
	if opts.owned {
		raw = value
	}
	if phase == phaseLive {
		h, err := via.owner.prepare(d, value, opts, s.containment)
		if err != nil {
			return nil, err
		}
		return via.submit(op{kind: opAdd, handle: h, owned: raw})
	}
	settled := false
	defer func() {
		if !settled { // refused, or the plugin's code ended this goroutine
			r.mu.Lock()
			defer r.mu.Unlock()
			s.preparing--
		}
	}()
	h, err := via.owner.prepare(d, value, opts, s.containment)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.preparing--
	settled = true
	if err := s.fits(h); err != nil {
		h.die()
		return nil, err
	}
	s.prepared = append(s.prepared, h)
	if raw != nil {
		s.owned = append(s.owned, raw)
	}
	return h, nil
}

// fits makes the checks of a staged add that depend on what else is registered or prepared. The caller holds the
// registry's lock.
func (s *Staging) fits(h *Handle) error {
	r, e := h.registry, h.entry
	if s.phase >= phaseRevoked || h.owner.closed || r.closed {
		return refuse(e.point, ErrClosed, "")
	}
	if e.arc() {
		arcs := slices.Clone(r.View().state(e.point).arcs)
		for _, p := range s.prepared {
			if p.life.Load() == pending && p.entry.point == e.point && p.entry.arc() {
				arcs = append(arcs, p.entry)
			}
		}
		if names := cycle(e, arcs); names != nil {
			return cycleRefused(e.point, names)
		}
	}
	if _, ok := s.released[e.info.Thread]; ok && e.info.Thread != "" {
		return threadReleased(e)
	}
	return nil
}

func threadReleased(e *entry) *RefusedError {
	return refuse(e.point, ErrThreadReleased, fmt.Sprintf("thread %q was released before the commit", e.info.Thread))
}

// releaseThread cancels what is staged for a thread. The caller holds the registry's lock.
func (s *Staging) releaseThread(id ThreadID) {
	s.released[id] = struct{}{}
	for _, h := range s.prepared {
		if h.entry.info.Thread == id && h.life.Load() == pending {
			h.die()
			s.report(threadReleased(h.entry))
		}
	}
}

// cancel ends the prepared handles that match. The caller holds the registry's lock.
func (s *Staging) cancel(match func(*Handle) bool) {
	for _, h := range s.prepared {
		if h.life.Load() == pending && match(h) {
			h.die()
		}
	}
}

// report records a refusal. The caller holds the registry's lock, and delivers when it has given it back.
func (s *Staging) report(err error) {
	var refused *RefusedError
	if !errors.As(err, &refused) || len(s.refused) == maxRefused {
		return
	}
	o := s.registrar.owner
	s.refused = append(s.refused, o.registry.notices.record(refused.diagnostic(o.origin)))
}

// bare is the containment of a staging without a gate.
type bare struct{ origin Origin }

func (b bare) Run(f func() error) error { return contain(f) }
func (b bare) Ref(i RefInfo) Ref        { return bareRef{b.origin, i} }

type bareRef struct {
	origin Origin
	info   RefInfo
}

func (r bareRef) Origin() Origin { return r.origin }
func (r bareRef) Point() string  { return r.info.Point }
func (r bareRef) Label() string  { return r.info.Label }
