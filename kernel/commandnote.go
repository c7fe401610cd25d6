package kernel

import (
	"sync"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/command"
)

// commandNotes remembers which commands without their short name were told. The zero value is ready.
type commandNotes struct {
	mu   sync.Mutex
	told map[string]bool
	seen map[contrib.ThreadID][2]uint64 // revisions of both points that a thread was looked at with
}

// TakenCommands returns a note about each command of the workspace whose short name another one keeps, each once: a later
// call, and a turn, tell of those alone that have come since. A host calls it when its plugins are loaded.
func (k *Kernel) TakenCommands() []Noted {
	return k.takenCommands(k.registry.View(), "")
}

func (k *Kernel) takenCommands(v *contrib.View, thread contrib.ThreadID) []Noted {
	now := [2]uint64{command.Prompts.Revision(v), command.Actions.Revision(v)}
	if now == [2]uint64{} && len(k.config.Commands) == 0 || k.commandNotes.current(thread, now) {
		return nil
	}
	all := k.commands(v, thread).all
	var out []Noted
	for _, i := range k.commandNotes.unknown(all, thread, now) {
		out = append(out, k.takenCommand(&all[i]))
	}
	return out
}

// unknown returns the places of those commands without their short name that were not told, and remembers them.
func (n *commandNotes) unknown(all []commandEntry, thread contrib.ThreadID, now [2]uint64) (places []int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.told == nil {
		n.told = map[string]bool{}
	}
	if n.seen == nil || len(n.seen) >= maxPages {
		n.seen = map[contrib.ThreadID][2]uint64{}
	}
	n.seen[thread] = now
	for i := range all {
		c := &all[i]
		key := c.Qualified
		if c.contributed != nil {
			key = c.contributed.entry.String()
		}
		if c.Name == "" && !n.told[key] {
			n.told[key] = true
			places = append(places, i)
		}
	}
	return places
}

// current reports whether a thread was looked at with these revisions.
func (n *commandNotes) current(thread contrib.ThreadID, now [2]uint64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	seen, ok := n.seen[thread]
	return ok && seen == now
}

// takenCommand is the note about one command without its short name. It is recorded too.
func (k *Kernel) takenCommand(c *commandEntry) Noted {
	n := Noted{
		Code: CodeCommandNameTaken, Severity: contrib.Warning, Message: "the command /" + c.wanted + " of " + c.Owner +
			" is reached as /" + c.Qualified + ": " + c.KeptBy + " keeps the short name",
		Params: map[string]any{"name": c.wanted, "owner": c.Owner, "keptBy": c.KeptBy, "qualified": c.Qualified},
	}
	d := contrib.Diagnostic{Code: n.Code, Severity: n.Severity, Message: n.Message, Params: n.Params, Time: time.Now()}
	if c.contributed != nil {
		e := c.contributed.entry
		n.Point, n.Label, d.Point, d.EntryID, d.Origin = e.Point, e.Label, e.Point, e.ID, e.Origin
		if e.Origin.Kind() == "plugin" {
			n.Plugin = e.Origin.ID()
		}
	}
	k.registry.Record(d)
	return n
}

// noteCommands tells about commands without their short name that have come since the last turn.
func (t *turn) noteCommands() {
	for _, n := range t.kernel.takenCommands(t.view, contrib.ThreadID(t.thread.id)) {
		t.side.post(n)
	}
}
