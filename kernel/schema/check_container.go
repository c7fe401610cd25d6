package schema

import "strconv"

// child checks a member or an item.
func (r *run) child(n *node, i int32, s step) bool {
	if !r.collect {
		return r.check(n, i, nil)
	}
	r.path = append(r.path, s)
	ok := r.check(n, i, nil)
	r.path = r.path[:len(r.path)-1]
	return ok
}

func (r *run) object(n *node, i int32, own *evaluated) bool {
	m, tok, ok := n.members, r.t.tok[i], true
	var have uint64
	at := 0
	for k := i + 1; k < tok.next; k = r.t.tok[k+1].next {
		name := r.t.str(k)
		known := false
		if p := m.find(name); p >= 0 {
			e := &m.list[p]
			if e.required >= 0 {
				have |= 1 << e.required
			}
			if e.schema != nil {
				known = true
				ok = r.child(e.schema, k+1, step{name, -1}) && ok
			}
		}
		for p := range m.patterns {
			if m.patterns[p].pattern.MatchString(name) {
				known = true
				ok = r.child(m.patterns[p].schema, k+1, step{name, -1}) && ok
			}
		}
		if !known && m.additional != nil {
			known = true
			ok = r.child(m.additional, k+1, step{name, -1}) && ok
		}
		if m.names != nil {
			ok = r.child(m.names, k, step{name, -1}) && ok
		}
		if !ok && !r.collect {
			return false
		}
		if known {
			own.mark(at)
		}
		at++
	}
	if have != m.mask || len(m.required) > 64 {
		for bit, p := range m.required {
			if (bit < 64 && have&(1<<bit) == 0) || bit >= 64 && r.t.member(i, m.list[p].name) < 0 {
				ok = r.fail(n, i, "required", "lacks the property "+strconv.Quote(quote(m.list[p].name, quoteOne)))
			}
		}
	}
	if int(tok.count) < m.minimum {
		ok = r.fail(n, i, "minProperties", "has to have at least "+counted(m.minimum, "member"))
	}
	if m.maximum >= 0 && int(tok.count) > m.maximum {
		ok = r.fail(n, i, "maxProperties", "has to have at most "+counted(m.maximum, "member"))
	}
	if m.unevaluated != nil {
		at := 0
		for k := i + 1; k < tok.next; k = r.t.tok[k+1].next {
			if !own.has(at) {
				ok = r.child(m.unevaluated, k+1, step{r.t.str(k), -1}) && ok
			}
			at++
		}
		own.markAll()
	}
	return ok
}

func (r *run) array(n *node, i int32, own *evaluated) bool {
	l, tok, ok := n.items, r.t.tok[i], true
	at, matches := 0, 0
	for k := i + 1; k < tok.next; k = r.t.tok[k].next {
		s := l.rest
		if at < len(l.prefix) {
			s = l.prefix[at]
		}
		if s != nil {
			if ok = r.child(s, k, step{index: at}) && ok; !ok && !r.collect {
				return false
			}
			own.mark(at)
		}
		if l.contains != nil && r.quiet(l.contains, k, nil) {
			matches++
			if r.schema.dialect == draft2020 {
				own.mark(at)
			}
		}
		at++
	}
	if l.contains != nil {
		if matches < l.least {
			key := "minContains"
			if l.least == 1 {
				key = "contains"
			}
			ok = r.fail(n, i, key, "has to contain at least "+counted(l.least, "matching item"))
		}
		if l.most >= 0 && matches > l.most {
			ok = r.fail(n, i, "maxContains", "has to contain at most "+counted(l.most, "matching item"))
		}
	}
	if int(tok.count) < l.minimum {
		ok = r.fail(n, i, "minItems", "has to have at least "+counted(l.minimum, "item"))
	}
	if l.maximum >= 0 && int(tok.count) > l.maximum {
		ok = r.fail(n, i, "maxItems", "has to have at most "+counted(l.maximum, "item"))
	}
	if l.unique {
		if twice := r.t.unique(i); twice >= 0 {
			ok = r.fail(n, i, "uniqueItems", "has an item twice")
		}
	}
	if l.unevaluated != nil {
		at := 0
		for k := i + 1; k < tok.next; k = r.t.tok[k].next {
			if !own.has(at) {
				ok = r.child(l.unevaluated, k, step{index: at}) && ok
			}
			at++
		}
		own.markAll()
	}
	return ok
}
