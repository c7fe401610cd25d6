package schema

// evaluated remembers which members or items a schema has looked at.
type evaluated struct {
	every bool
	seen  []bool
}

func (e *evaluated) mark(i int) {
	if e == nil {
		return
	}
	for len(e.seen) <= i {
		e.seen = append(e.seen, false)
	}
	e.seen[i] = true
}

func (e *evaluated) markAll() {
	if e != nil {
		e.every = true
	}
}

func (e *evaluated) has(i int) bool { return e.every || i < len(e.seen) && e.seen[i] }

func (e *evaluated) merge(o *evaluated) {
	if e == nil || o == nil {
		return
	}
	e.every = e.every || o.every
	for i, s := range o.seen {
		if s {
			e.mark(i)
		}
	}
}
