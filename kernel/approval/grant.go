package approval

import (
	"sync"
	"time"

	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// anyCall is the fingerprint that covers all calls of a tool.
const anyCall = "*"

// grant allows calls like the one that it was given for.
type grant struct {
	workspace   string
	tool        string // key of the tool: a name alone carries no grant
	fingerprint string
	risk        tool.Risk
	authority   tool.Authority
	grantedAt   time.Time
}

// grantFor makes the grant that "always" on the call gives; its risk and authority are those of the call. It reports
// false for a call that no grant may cover.
func grantFor(c *dispatch.Call) (grant, bool) {
	k := &c.Classification
	if c.Definition == nil || k.RequirePrompt || !k.Risk.Valid() || k.Risk == tool.Forbidden || !k.Authority.Valid() {
		return grant{}, false
	}
	fingerprint := k.Fingerprint
	if fingerprint == "" {
		if c.Definition.Key.Kind == tool.OwnerBuiltin {
			// A built-in names what it was asked for. Without that, a grant would cover far more than was seen.
			return grant{}, false
		}
		fingerprint = anyCall
	}
	return grant{
		workspace: c.Workspace, tool: c.Definition.Key.String(), fingerprint: fingerprint,
		risk: k.Risk, authority: k.Authority, grantedAt: time.Now().UTC(),
	}, true
}

// covers reports whether g allows the call that want was made for.
func (g *grant) covers(want *grant) bool {
	return g.workspace == want.workspace && g.tool == want.tool && g.fingerprint == want.fingerprint &&
		want.risk <= g.risk && (want.authority == g.authority || want.authority == tool.Workspace)
}

// sessionGrants are the grants in memory, by thread. The zero value is ready.
type sessionGrants struct {
	mu       sync.Mutex
	byThread map[string][]grant
}

func (s *sessionGrants) add(thread string, g grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byThread == nil {
		s.byThread = map[string][]grant{}
	}
	s.byThread[thread] = append(s.byThread[thread], g)
}

func (s *sessionGrants) cover(thread string, want *grant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.byThread[thread] {
		if s.byThread[thread][i].covers(want) {
			return true
		}
	}
	return false
}

func (s *sessionGrants) end(thread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byThread, thread)
}
