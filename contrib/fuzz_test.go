package contrib_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
)

func FuzzTargetName(f *testing.F) {
	for _, seed := range []string{"x", "", " ", " x", "x ", "a\x00b", "\xff", "ü", strings.Repeat("x", 129), "\u00a0x", "a\u0085b", "g"} {
		f.Add(seed)
	}
	r, err := contrib.New(pointP)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, name string) {
		valid := len(name) >= 1 && len(name) <= 128 && utf8.ValidString(name) && strings.TrimSpace(name) == name
		for _, c := range name {
			valid = valid && !unicode.IsControl(c)
		}
		for _, o := range []contrib.Option{named(name), replaces(name)} {
			h, err := pointP.Add(r.Builtin(), word("v"), o)
			if !valid {
				refused(t, err, contrib.ErrInvalidName, "invalidName")
				continue
			}
			require.NoError(t, err)
			e := pointP.Entries(r.View(), "")[0]
			assert.True(t, e.Occupies(name))
			h.Revoke()
		}
		assert.Empty(t, pointP.In(r.View(), ""))
	})
}

// FuzzOptions puts options together in any way: an add is accepted, or refused with a reason and without effect.
func FuzzOptions(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7}, "x", "y", int64(time.Second))
	f.Add([]byte{2, 2, 3}, "T1", "", int64(0))
	f.Add([]byte{0, 0}, "a", "a", int64(-5))
	f.Add([]byte{5, 8, 9}, "label", "\x00", int64(time.Hour))
	f.Fuzz(func(t *testing.T, kinds []byte, a, b string, n int64) {
		if len(kinds) > 20 {
			kinds = kinds[:20]
		}
		r, err := contrib.New(pointP, plain, timed)
		require.NoError(t, err)
		opts := []contrib.Option{}
		for _, k := range kinds {
			text := a
			if k >= 128 {
				text = b
			}
			opts = append(opts, []contrib.Option{
				named(text), replaces(text), inThread(contrib.ThreadID(text)), order(int(n)), order(int(k)),
				contrib.Label(text), contrib.Deadline(time.Duration(n)), contrib.Owned(), nil,
				contrib.Deadline(time.Duration(k) * time.Second),
			}[k%10])
		}
		for _, o := range opts {
			if o != nil {
				assert.NotEmpty(t, o.String())
			}
		}
		for _, p := range []*contrib.Point[thing]{pointP, plain, timed} {
			before := r.View()
			h, err := p.Add(r.Builtin(), word("v"), opts...)
			if err != nil {
				var refusal *contrib.RefusedError
				require.ErrorAs(t, err, &refusal)
				assert.NotEmpty(t, refusal.Reason)
				assert.Same(t, before, r.View())
				continue
			}
			assert.True(t, h.Live())
			h.Revoke()
			assert.Equal(t, before.Version()+2, r.View().Version())
		}
	})
}
