package schema

import (
	"hash/maphash"
	"strconv"
)

// equal reports whether two values are the same JSON value: numbers by value, objects without regard to order.
func equal(a *tape, i int32, b *tape, j int32) bool {
	x, y := &a.tok[i], &b.tok[j]
	if x.kind != y.kind || x.count != y.count {
		return false
	}
	switch x.kind {
	case number:
		l, r := a.raw(i), b.raw(j)
		if l == r {
			return true
		}
		return parseDecimal(l).compare(parseDecimal(r)) == 0
	case text:
		return a.str(i) == b.str(j)
	case array:
		for i, j = i+1, j+1; i < x.next; i, j = a.tok[i].next, b.tok[j].next {
			if !equal(a, i, b, j) {
				return false
			}
		}
	case object:
		for k := i + 1; k < x.next; k = a.tok[k+1].next {
			other := b.member(j, a.str(k))
			if other < 0 || !equal(a, k+1, b, other) {
				return false
			}
		}
	}
	return true
}

var seed = maphash.MakeSeed()

// hash returns the same number for equal values.
func (t *tape) hash(i int32) uint64 {
	tok := &t.tok[i]
	var h maphash.Hash
	h.SetSeed(seed)
	_ = h.WriteByte(byte(tok.kind))
	switch tok.kind {
	case number:
		d := parseDecimal(t.raw(i))
		if d.negative {
			_ = h.WriteByte('-')
		}
		_, _ = h.WriteString(d.digits)
		_ = h.WriteByte('e')
		_, _ = h.WriteString(strconv.FormatInt(d.exp, 10))
	case text:
		_, _ = h.WriteString(t.str(i))
	case array:
		for k := i + 1; k < tok.next; k = t.tok[k].next {
			writeSum(&h, t.hash(k))
		}
	case object:
		sum := uint64(0)
		for k := i + 1; k < tok.next; k = t.tok[k+1].next {
			var m maphash.Hash
			m.SetSeed(seed)
			_, _ = m.WriteString(t.str(k))
			writeSum(&m, t.hash(k+1))
			sum += m.Sum64()
		}
		writeSum(&h, sum)
	}
	return h.Sum64()
}

func writeSum(h *maphash.Hash, n uint64) {
	var b [8]byte
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	_, _ = h.Write(b[:])
}

// unique returns the first item that equals an earlier one; -1 when there is none.
func (t *tape) unique(i int32) int32 {
	tok := &t.tok[i]
	if tok.count <= 12 {
		for k := i + 1; k < tok.next; k = t.tok[k].next {
			for e := i + 1; e < k; e = t.tok[e].next {
				if equal(t, e, t, k) {
					return k
				}
			}
		}
		return -1
	}
	seen := make(map[uint64][]int32, tok.count)
	for k := i + 1; k < tok.next; k = t.tok[k].next {
		h := t.hash(k)
		for _, e := range seen[h] {
			if equal(t, e, t, k) {
				return k
			}
		}
		seen[h] = append(seen[h], k)
	}
	return -1
}
