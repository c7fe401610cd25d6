package schema

// smallInt reads a plain integer of at most 18 digits: what nearly every number of a call is.
func smallInt(lit string) (int64, bool) {
	if len(lit) > 18 {
		return 0, false
	}
	negative := lit[0] == '-'
	if negative {
		lit = lit[1:]
	}
	n := int64(0)
	for i := range len(lit) {
		c := lit[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

// bound is a number of a schema, ready to be compared with.
type bound struct {
	lit   string
	exact decimal
	small int64
	fits  bool
}

func newBound(lit string) *bound {
	b := &bound{lit: lit, exact: parseDecimal(lit)}
	b.small, b.fits = smallInt(lit)
	return b
}

// compare compares the number with the bound.
func (b *bound) compare(lit string) int {
	if b.fits {
		if n, ok := smallInt(lit); ok {
			switch {
			case n < b.small:
				return -1
			case n > b.small:
				return 1
			}
			return 0
		}
	}
	return parseDecimal(lit).compare(b.exact)
}

// divides reports whether the number is a multiple of the bound.
func (b *bound) divides(lit string) bool {
	if b.fits {
		if n, ok := smallInt(lit); ok {
			return n%b.small == 0
		}
	}
	return parseDecimal(lit).multipleOf(b.exact)
}
