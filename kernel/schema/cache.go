package schema

import (
	"encoding/json"
	"sync"
)

// Cache keeps compiled schemas by their bytes, so that planning unchanged tools compiles nothing. The zero value is
// ready and safe for use by several goroutines. It forgets what was not asked for during the last few megabytes of new
// schemas.
type Cache struct {
	mu    sync.RWMutex
	young map[string]compiled
	old   map[string]compiled
	size  int // bytes of the keys in young
}

// compiled is what compiling a text came to, refusals included.
type compiled struct {
	schema *Schema
	err    error
}

// cacheBytes bounds the texts of one age. Compiled schemas are several times as large.
const cacheBytes = 4 << 20

// Compile is [Compile] with memory.
func (c *Cache) Compile(raw json.RawMessage) (*Schema, error) {
	if len(raw) > maxSchemaBytes {
		return Compile(raw)
	}
	c.mu.RLock()
	hit, ok := c.young[string(raw)]
	c.mu.RUnlock()
	if ok {
		return hit.schema, hit.err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	hit, ok = c.old[string(raw)]
	if !ok {
		hit.schema, hit.err = Compile(raw)
	}
	if c.young == nil || c.size > cacheBytes {
		c.old, c.young, c.size = c.young, map[string]compiled{}, 0
	}
	c.young[string(raw)] = hit
	c.size += len(raw)
	return hit.schema, hit.err
}
