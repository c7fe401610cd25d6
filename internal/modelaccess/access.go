package modelaccess

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/retry"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/thread"
)

// Review is the model that reviews calls instead of the session's.
type Review struct {
	Request model.ClientRequest
	Gear    string // blank: the model's default
}

// Config sets up an Access. The zero value works: reviews have no model of their own.
type Config struct {
	// Review returns the model of reviews; nil when they have none of their own. It is asked at each read.
	Review func() (*Review, error)
	// Retry says how questions of the host are sent again.
	Retry retry.Settings
}

// Access is the way to the models of a kernel. Make it with [New]. All methods may be called from any goroutine.
type Access struct {
	kernel *kernel.Kernel
	config Config
	active atomic.Value // string: id of the active thread

	mu    sync.Mutex
	slots map[use]*slot
}

// New makes the access to the models of k. It has to be told of threads, as a [thread.Observer].
func New(k *kernel.Kernel, c Config) *Access {
	a := &Access{kernel: k, config: c, slots: map[use]*slot{}}
	a.active.Store("")
	return a
}

// Started makes the thread the active one, unless it is a subagent's.
func (a *Access) Started(_ context.Context, t thread.Info) error {
	if t.Agent == "" {
		a.active.Store(t.ID)
	}
	return nil
}

// Resumed is Started.
func (a *Access) Resumed(ctx context.Context, t thread.Info) error { return a.Started(ctx, t) }

// Deleting does nothing.
func (a *Access) Deleting(context.Context, thread.Info) error { return nil }

var _ thread.Observer = (*Access)(nil)

// session returns the model of the session that ctx stands for.
func (a *Access) session(ctx context.Context) (id string, r model.ClientRequest, gear string, err error) {
	if id = kernel.TurnThread(ctx); id == "" {
		id = a.active.Load().(string)
	}
	r, gear, err = a.kernel.SessionModel(ctx, id)
	if errors.Is(err, kernel.ErrThreadClosed) {
		err = model.ErrNoSession
	}
	return id, r, gear, err
}

// review returns the model of independent reviews; nil when they are not independent.
func (a *Access) review() (*Review, error) {
	if a.config.Review == nil {
		return nil, nil
	}
	return a.config.Review()
}

// purpose is what a client is for.
type purpose uint8

const (
	forText purpose = iota
	forImages
	forReview
)

// use is a purpose in one session; reviews belong to none.
type use struct {
	purpose purpose
	thread  string
}

// slot is the client of one use, from the first read until it is dropped.
type slot struct {
	request   model.ClientRequest
	gear      string // of reviews
	protocols uint64 // revision of model.protocol
	making    chan struct{}

	made   bool // under making
	client model.Client
}

// maxSlots is how many uses are kept before those of closed threads are looked for.
const maxSlots = 8

// slot returns the slot of a use. One that was made for another model is dropped.
func (a *Access) slot(u use, r model.ClientRequest, gear string) *slot {
	revision := model.Protocols.Revision(a.kernel.Registry().View())
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.slots[u]
	if s != nil && s.protocols == revision && s.gear == gear && reflect.DeepEqual(s.request, r) {
		return s
	}
	if s == nil && len(a.slots) >= maxSlots {
		a.forget(u.thread)
	}
	s = &slot{request: r, gear: gear, protocols: revision, making: make(chan struct{}, 1)}
	a.slots[u] = s
	return s
}

// forget drops the slots of threads that are closed. The lock is held.
func (a *Access) forget(but string) {
	for u := range a.slots {
		if u.purpose != forReview && u.thread != but && !a.kernel.IsOpen(u.thread) {
			delete(a.slots, u)
		}
	}
}

func (a *Access) drop(u use) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.slots, u)
}

// current reports whether a slot has not been dropped.
func (a *Access) current(u use, s *slot) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.slots[u] == s
}

// get returns the client, and makes it when nobody has. That there is none is remembered; a failure is not.
func (s *slot) get(ctx context.Context, create func(context.Context, model.ClientRequest) (model.Client, error)) (model.Client, error) {
	select {
	case s.making <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.making }()
	if !s.made {
		c, err := create(ctx, s.request)
		if err != nil {
			return nil, err
		}
		s.client, s.made = c, true
	}
	return s.client, nil
}

// find returns the slot of a purpose and its client; nil when there is none.
func (a *Access) find(ctx context.Context, p purpose) (use, *slot, model.Client, error) {
	u := use{purpose: p}
	if p == forReview {
		r, err := a.review()
		if err != nil || r == nil {
			a.drop(u)
			return u, nil, nil, err
		}
		s := a.slot(u, r.Request, r.Gear)
		c, err := s.get(ctx, a.kernel.TextClient)
		return u, s, c, err
	}
	id, r, _, err := a.session(ctx)
	if err != nil {
		return u, nil, nil, err
	}
	u.thread = id
	create := a.kernel.TextClient
	if p == forImages {
		create = a.kernel.ImageClient
	}
	s := a.slot(u, r, "")
	c, err := s.get(ctx, create)
	return u, s, c, err
}
