package generations

import "sync"

// Table maps a plugin id and a generation id to the gate of a generation that is committed and not revoked. The zero
// value is an empty table. All methods may be called from any goroutine.
type Table struct {
	gates sync.Map // key to *Gate
}

type key struct{ plugin, generation string }

// Gate returns the gate of a generation. It may be closed already: a gate is closed first and leaves the table second.
func (t *Table) Gate(plugin, generation string) (*Gate, bool) {
	v, ok := t.gates.Load(key{plugin, generation})
	if !ok {
		return nil, false
	}
	return v.(*Gate), true
}

func (t *Table) put(c *core) {
	if t != nil {
		t.gates.Store(key{c.plugin, c.id}, c.gate)
	}
}

func (t *Table) drop(c *core) {
	if t != nil {
		t.gates.Delete(key{c.plugin, c.id})
	}
}
