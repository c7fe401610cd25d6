package schema

import (
	"encoding/json"
	"math/big"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func number10() *rapid.Generator[string] {
	return rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?`)
}

// These properties are about parts that only show through a validator, so they stand inside of the package.
func TestDecimalsAgreeWithRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := number10().Draw(t, "a"), number10().Draw(t, "b")
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		da, db := parseDecimal(a), parseDecimal(b)
		require.Equal(t, x.Cmp(y), da.compare(db))
		require.Equal(t, x.Cmp(y), newBound(b).compare(a))
		require.Equal(t, x.IsInt(), da.integral())
		if n, ok := da.int64(); ok {
			require.Zero(t, x.Cmp(new(big.Rat).SetInt64(n)))
		} else if x.IsInt() {
			require.False(t, x.Num().IsInt64())
		}
		if y.Sign() > 0 {
			require.Equal(t, new(big.Rat).Quo(x, y).IsInt(), newBound(b).divides(a), "%s / %s", a, b)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"\u00e9\n",null,true,false]}`, `"\ud800"`, "{", `[1,]`, `-`, `{"a":1,"a":2}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var p tape
		reason, at := p.parse(s, maxDepth)
		switch reason {
		case "":
			if !json.Valid([]byte(s)) {
				t.Fatalf("taken, and no JSON: %q", s)
			}
			if p.tok[0].kind == text {
				var want string
				if err := json.Unmarshal([]byte(s), &want); err != nil || want != p.str(0) {
					t.Fatalf("%q is %q and not %q", s, want, p.str(0))
				}
			}
			first, again := p.hash(0), p.hash(0)
			if !equal(&p, 0, &p, 0) || first != again {
				t.Fatalf("%q differs from itself", s)
			}
		case NotJSON, TrailingText:
			if at < 0 || at > len(s) {
				t.Fatalf("offset %d of %d", at, len(s))
			}
			if json.Valid([]byte(s)) && utf8.ValidString(s) {
				t.Fatalf("JSON that was refused: %q (%s at %d)", s, reason, at)
			}
		}
	})
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{`^[\S\d]+$`, `\u{1F600}`, `\ud83d\ude00`, `[^]`, `(?<a>x)\cA`, `\p{Script=Greek}`, `[[:alpha:]]`, `\`} {
		f.Add(s, "x")
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		re, err := compilePattern(pattern)
		if err == nil {
			re.MatchString(s)
		}
	})
}
