package toolset_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/tool"
)

// TOOL-11, FIELD-D5, FIELD-D6: flat names differ, are stable, and lead back to their own tool.
func TestFlatNames(t *testing.T) {
	h := newHost(t)
	long := strings.Repeat("n", 40) + "." + strings.Repeat("t", 40)
	h.builtin(named("x__y"))
	h.plugin("acme.a", offers("s", spaced("a", "b__c"), spaced("a__b", "c"), spaced("x", "y"), named("ping"),
		spaced(strings.Repeat("n", 40), strings.Repeat("t", 40)), spaced(strings.Repeat("N", 64), strings.Repeat("T", 64))))
	s, notes := h.plan()
	assert.Empty(t, notes)
	flat := map[string]string{}
	for _, p := range s.Tools() {
		flat[p.Canonical] = p.Flat
		found, exact := s.ByFlat(p.Flat)
		assert.True(t, exact)
		assert.Same(t, p, found)
		assert.Regexp(t, `^[A-Za-z0-9_-]{1,64}$`, p.Flat)
		assert.Equal(t, p.Flat, s.Project(p.Flat))
		assert.Equal(t, p.Flat, s.Project(p.Canonical))
	}
	assert.Equal(t, "a__b__c_01b8a75bced8", flat["a.b__c"])
	assert.Equal(t, "a__b__c_a92700ced282", flat["a__b.c"])
	assert.Equal(t, "x__y", flat["x__y"])
	assert.Regexp(t, `^x__y_[0-9a-f]{12}$`, flat["x.y"])
	assert.Equal(t, "ping", flat["ping"])
	assert.Equal(t, strings.Repeat("n", 40)+"__"+strings.Repeat("t", 9)+"_7377d443f856", flat[long])
}

// FIELD-D8: what an older turn called is shown as something that a protocol takes.
func TestProjectingNamesThatAreGone(t *testing.T) {
	s := &toolset.Snapshot{}
	assert.Equal(t, "unnamed", s.Project(""))
	assert.Equal(t, "bash_", s.Project("bash\n"))
	assert.Equal(t, strings.Repeat("a", 64), s.Project(strings.Repeat("a", 300)))
	assert.Equal(t, "web__get", s.Project("web.get"))
	assert.Equal(t, "___x", s.Project("読む.x"))
	assert.Equal(t, "gone", s.Project("gone"))
	assert.Equal(t, "a__b", toolset.FlatName("a", "b"))
	assert.Len(t, toolset.FlatName(strings.Repeat("a", 64), "b"), 64)
}

func TestOverridesOfFlatNames(t *testing.T) {
	with := func(name, flat string) tool.Registration {
		return named(name, func(r *tool.Registration) { r.Definition.FlatName = flat })
	}
	h := newHost(t)
	h.module("a", with("one", "pick"), with("two", "pick"), named("pick"))
	s, notes := h.plan()
	one, _ := s.ByCanonical("one")
	two, _ := s.ByCanonical("two")
	pick, _ := s.ByCanonical("pick")
	assert.Equal(t, "pick", one.Flat)
	assert.Equal(t, "two", two.Flat)
	assert.Regexp(t, `^pick_[0-9a-f]{12}$`, pick.Flat)
	require.Len(t, notes, 1)
	assert.Equal(t, tool.CodeDuplicateFlatName, notes[0].Code)
	assert.Equal(t, map[string]any{"flatName": "pick", "name": "two", "owner": "module:a", "keptBy": "module:a"}, notes[0].Params)
}

// A tool that is named like the short name of another one gives way itself.
func TestShortNamesAreNotTaken(t *testing.T) {
	h := newHost(t)
	h.module("m", named("a__b__c_01b8a75bced8"), spaced("a", "b__c"), spaced("a__b", "c"))
	s, notes := h.plan()
	assert.Empty(t, notes)
	victim, _ := s.ByCanonical("a.b__c")
	assert.Equal(t, "a__b__c_01b8a75bced8", victim.Flat)
	squatter, _ := s.ByCanonical("a__b__c_01b8a75bced8")
	assert.Regexp(t, `^a__b__c_01b8a75bced8_[0-9a-f]{12}$`, squatter.Flat)
}

func TestFlatNamesAreDistinct(t *testing.T) {
	part := rapid.StringMatching(`[ab](_|__)?[ab]?`).Filter(regexp.MustCompile(`^[A-Za-z]`).MatchString)
	rapid.Check(t, func(rt *rapid.T) {
		h := newHost(t)
		seen := map[string]bool{}
		var list []tool.Registration
		for range rapid.IntRange(1, 12).Draw(rt, "count") {
			r := spaced(rapid.OneOf(rapid.Just(""), part).Draw(rt, "namespace"), part.Draw(rt, "name"))
			if !seen[r.Definition.Canonical()] {
				seen[r.Definition.Canonical()] = true
				list = append(list, r)
			}
		}
		h.module("m", list...)
		s, notes := h.plan()
		require.Empty(rt, notes)
		require.Len(rt, s.Tools(), len(list))
		for _, p := range s.Tools() {
			found, _ := s.ByFlat(p.Flat)
			require.Same(rt, p, found)
		}
	})
}
