package schema

import (
	"math/big"
	"strconv"
	"strings"
)

// decimal is a number without loss: digits × 10^exp. digits has no zero at either end and is blank for zero.
type decimal struct {
	negative bool
	digits   string
	exp      int64
}

// farExponent bounds exponents: beyond it no two numbers that fit in a text of 16 MiB are told apart.
const farExponent = 1 << 50

// parseDecimal reads a JSON number.
func parseDecimal(lit string) decimal {
	var d decimal
	if lit[0] == '-' {
		d.negative = true
		lit = lit[1:]
	}
	if i := strings.IndexAny(lit, "eE"); i >= 0 {
		exp, err := strconv.ParseInt(lit[i+1:], 10, 64)
		if err != nil || exp > farExponent || exp < -farExponent {
			exp = farExponent
			if lit[i+1] == '-' {
				exp = -farExponent
			}
		}
		d.exp = exp
		lit = lit[:i]
	}
	if i := strings.IndexByte(lit, '.'); i >= 0 {
		fraction := strings.TrimRight(lit[i+1:], "0")
		d.exp -= int64(len(fraction))
		if fraction == "" {
			lit = lit[:i]
		} else {
			lit = lit[:i] + fraction
		}
	}
	lit = strings.TrimLeft(lit, "0")
	d.digits = strings.TrimRight(lit, "0")
	d.exp += int64(len(lit) - len(d.digits))
	if d.digits == "" {
		return decimal{}
	}
	return d
}

// integral reports whether d has no fraction.
func (d decimal) integral() bool { return d.digits == "" || d.exp >= 0 }

// int64 returns d when it is integral and fits.
func (d decimal) int64() (int64, bool) {
	if !d.integral() || int64(len(d.digits))+d.exp > 19 {
		return 0, false
	}
	s := d.digits + strings.Repeat("0", int(d.exp))
	if d.negative {
		s = "-" + s
	}
	if s == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// compare returns -1, 0 or 1.
func (d decimal) compare(o decimal) int {
	switch {
	case d.sign() != o.sign():
		return sign(d.sign() - o.sign())
	case d.digits == "":
		return 0
	}
	by := sign64(int64(len(d.digits)) + d.exp - int64(len(o.digits)) - o.exp)
	if by == 0 {
		by = strings.Compare(d.digits, o.digits)
	}
	if d.negative {
		return -by
	}
	return by
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// multipleOf reports whether d divided by m, which is positive, is an integer. Since neither has a zero at its end, d
// can be a multiple only when its exponent is not the lower one.
func (d decimal) multipleOf(m decimal) bool {
	if d.digits == "" {
		return true
	}
	if d.exp < m.exp {
		return false
	}
	shift := d.exp - m.exp
	if len(m.digits) <= 9 {
		by, _ := strconv.ParseUint(m.digits, 10, 64)
		rest := uint64(0)
		for i := range len(d.digits) {
			rest = (rest*10 + uint64(d.digits[i]-'0')) % by
		}
		return rest*power10(shift, by)%by == 0
	}
	value, _ := new(big.Int).SetString(d.digits, 10)
	by, _ := new(big.Int).SetString(m.digits, 10)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(shift), by)
	value.Mod(value, by)
	return value.Mul(value, scale).Mod(value, by).Sign() == 0
}

// power10 returns 10^n modulo m, for m below 2^32.
func power10(n int64, m uint64) uint64 {
	result, base := 1%m, 10%m
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result = result * base % m
		}
		base = base * base % m
	}
	return result
}

func sign(n int) int { return sign64(int64(n)) }

func sign64(n int64) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
