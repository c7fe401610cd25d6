package childproc

import (
	"os/exec"
	"sync"
	"time"
)

// live are the groups whose Run has not returned.
var live registry

type registry struct {
	mu     sync.Mutex
	groups map[*group]struct{}
}

// start starts the program as a group of its own. It holds the lock, so that KillAll misses no group.
func (r *registry) start(cmd *exec.Cmd) (*group, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &group{leader: cmd.Process.Pid}
	if r.groups == nil {
		r.groups = map[*group]struct{}{}
	}
	r.groups[g] = struct{}{}
	return g, nil
}

func (r *registry) forget(g *group) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.groups, g)
}

// KillAll sends KILL to every live group and waits for nothing. It is for a program that is told to end at once; the calls
// of [Run] that are under way return as usual if the program lives on.
func KillAll() {
	live.mu.Lock()
	defer live.mu.Unlock()
	for g := range live.groups {
		g.kill()
	}
}

// group is a process group, named by its leader.
type group struct{ leader int }

// end is the ladder: TERM, then KILL when the group is still there after the grace. ended, when not nil, is closed once the
// leader has been waited for; end returns only after that.
func (g *group) end(ended <-chan struct{}) {
	g.terminate()
	deadline := time.Now().Add(Grace)
	if ended != nil {
		t := time.NewTimer(Grace)
		defer t.Stop()
		select {
		case <-ended:
		case <-t.C:
		}
	}
	if !g.gone(time.Until(deadline)) {
		g.kill()
		g.gone(Drain)
	}
	if ended != nil {
		<-ended
	}
}

// gone waits until no process of the group is left, and reports whether that came true in time.
func (g *group) gone(wait time.Duration) bool {
	deadline := time.Now().Add(wait)
	for pause := firstPoll; g.alive(); pause = min(2*pause, lastPoll) {
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
	return true
}
