package deps_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/deps"
)

// DEP-6: version strings at the edges.
func TestVersionsAtTheEdges(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"0.0.0", "1.2.3", "2147483647.0.0"} {
		v, err := deps.ParseVersion(s)
		require.NoError(t, err)
		assert.Equal(t, s, v.String())
	}
	for _, s := range []string{
		"1.2", "1.2.3.4", "01.2.3", "1.02.3", "1.2.-3", "+1.2.3", "v1.2.3", "1.2.3-beta", "1.2.3+b", " 1.2.3", "1.2.3 ",
		"1..3", "", "2147483648.0.0", "٣.0.0", "1_0.0.0", "0x1.0.0", "1.2.3\n", "..", "99999999999999999999.0.0",
	} {
		_, err := deps.ParseVersion(s)
		require.ErrorIs(t, err, deps.ErrVersion, "%q", s)
	}
	assert.True(t, deps.Satisfied("0.0.0", "0.0.7"))
	assert.True(t, deps.Satisfied("1.2.0", "1.10.0"))
	host, err := deps.ParseHostVersion("1.4.0-rc.1+b5")
	require.NoError(t, err)
	assert.Equal(t, "1.4.0", host.String())
}

// DEP-3: the line of 0.x, and the other lines.
func TestCompatibilityLines(t *testing.T) {
	t.Parallel()
	for required, observed := range map[string]struct{ accepts, refuses []string }{
		"1.2.0": {[]string{"1.2.0", "1.2.9", "1.10.0"}, []string{"1.1.9", "2.0.0", "0.9.0", "x", ""}},
		"0.2.1": {[]string{"0.2.1", "0.2.5"}, []string{"0.2.0", "0.3.0", "1.0.0", "1.2.1"}},
		"0.0.0": {[]string{"0.0.0", "0.0.7"}, []string{"0.1.0", "1.0.0"}},
		"x":     {nil, []string{"1.0.0", "x"}},
	} {
		for _, o := range observed.accepts {
			assert.True(t, deps.Satisfied(required, o), "%s accepts %s", required, o)
		}
		for _, o := range observed.refuses {
			assert.False(t, deps.Satisfied(required, o), "%s refuses %s", required, o)
		}
	}
}

func TestHostFloor(t *testing.T) {
	t.Parallel()
	assert.True(t, deps.HostSatisfied("", "anything"))
	assert.True(t, deps.HostSatisfied("1.4.0", "1.4.0-rc.1+b5"))
	assert.True(t, deps.HostSatisfied("1.4.0", "2.0.0"), "no line rule")
	assert.False(t, deps.HostSatisfied("1.4.1", "1.4.0"))
	assert.False(t, deps.HostSatisfied("1.4.1", "devel"))
	assert.False(t, deps.HostSatisfied("one", "1.4.0"))
}

func TestVersionOrder(t *testing.T) {
	t.Parallel()
	version := rapid.Custom(func(t *rapid.T) deps.Version {
		n := rapid.IntRange(0, 3)
		v, err := deps.ParseVersion(fmt.Sprintf("%d.%d.%d", n.Draw(t, "major"), n.Draw(t, "minor"), n.Draw(t, "patch")))
		require.NoError(t, err)
		return v
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := version.Draw(t, "a"), version.Draw(t, "b"), version.Draw(t, "c")
		if a.Compare(b) != -b.Compare(a) || (a.Compare(b) == 0) != (a == b) {
			t.Fatal("no order", a, b)
		}
		if a.Satisfies(b) && b.Satisfies(c) && !a.Satisfies(c) {
			t.Fatal("not transitive", a, b, c)
		}
		if !a.Satisfies(a) || a.Satisfies(b) && a.Line() != b.Line() {
			t.Fatal("lines", a, b)
		}
	})
}

func TestIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "acme.review-core", "a1.b2-c3", "z9", "a.z", strings.Repeat("a", 64)} {
		assert.True(t, deps.ValidID(id), id)
	}
	for _, id := range []string{"", "A", "1a", ".a", "a.", "a..b", "a-", "a.-b", "a_b", "a b", "é", "{", "a{", "a`", "a:", "a/", strings.Repeat("a", 65)} {
		assert.False(t, deps.ValidID(id), id)
	}
}

func TestRequirements(t *testing.T) {
	t.Parallel()
	require.NoError(t, deps.Requirements(nil).Check("acme"))
	require.NoError(t, deps.Requirements{"a": "1.0.0", "b": "0.0.0"}.Check("acme"))
	for name, c := range map[string]struct {
		requires deps.Requirements
		want     deps.RequirementError
	}{
		"itself":         {deps.Requirements{"acme": "1.0.0"}, deps.RequirementError{ID: "acme", Fault: deps.SelfDependency}},
		"in other case":  {deps.Requirements{"ACME": "1.0.0"}, deps.RequirementError{ID: "ACME", Fault: deps.SelfDependency}},
		"twice":          {deps.Requirements{"b": "1.0.0", "B": "1.0.0"}, deps.RequirementError{ID: "b", Fault: deps.Duplicate}},
		"bad id":         {deps.Requirements{"b_": "1.0.0"}, deps.RequirementError{ID: "b_", Fault: deps.InvalidFormat}},
		"bad version":    {deps.Requirements{"b": "^1"}, deps.RequirementError{ID: "b", Fault: deps.InvalidFormat}},
		"upper case one": {deps.Requirements{"B": "1.0.0"}, deps.RequirementError{ID: "B", Fault: deps.InvalidFormat}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got *deps.RequirementError
			require.ErrorAs(t, c.requires.Check("acme"), &got)
			assert.Equal(t, c.want, *got)
			assert.Contains(t, got.Error(), string(c.want.Fault))
		})
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"0.0.0", "1.2.3", "2147483648.0.0", "1.2", "v1.2.3", "٣.0.0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := deps.ParseVersion(s)
		if err == nil && v.String() != s {
			t.Fatalf("%q was read as %s", s, v)
		}
		if h, err2 := deps.ParseHostVersion(s); err == nil && (err2 != nil || h != v) {
			t.Fatalf("%q is another host version: %s, %v", s, h, err2)
		}
	})
}

func FuzzRequirements(f *testing.F) {
	f.Add("acme", "b", "1.0.0", "B", "1.0.0")
	f.Add("acme", "acme", "1.0.0", "c", "x")
	f.Fuzz(func(t *testing.T, self, id1, v1, id2, v2 string) {
		r := deps.Requirements{id1: v1, id2: v2}
		if r.Check(self) != nil {
			return
		}
		for id, v := range r {
			if _, err := deps.ParseVersion(v); err != nil || !deps.ValidID(id) || strings.EqualFold(id, self) {
				t.Fatalf("accepted %q: %q", id, v)
			}
		}
	})
}
