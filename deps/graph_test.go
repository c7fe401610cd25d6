package deps_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/deps"
)

func node(id string, providers ...string) deps.Node {
	n := deps.Node{ID: id, Version: "1.0.0", Enabled: true, Requires: deps.Requirements{}}
	for _, p := range providers {
		n.Requires[p] = "1.0.0"
	}
	return n
}

func in(directory string, n deps.Node) deps.Node {
	n.Directory = directory
	return n
}

func ExampleGraph() {
	g := deps.NewGraph([]deps.Node{
		{ID: "acme.core", Version: "1.2.0", Enabled: true, Requires: deps.Requirements{"acme.base": "1.0.0"}},
		{ID: "acme.base", Version: "1.4.0", Enabled: true},
	})
	fmt.Println(g.Order())
	fmt.Println(g.StopOrder("acme.base"))
	for _, d := range g.Unmet("acme.core", func(string) deps.Reason { return deps.Faulted }) {
		fmt.Println(d.Provider, d.Status)
	}
	// Output:
	// [acme.base acme.core]
	// [acme.core acme.base]
	// acme.base faulted
}

func TestLoadOrder(t *testing.T) {
	t.Parallel()
	g := deps.NewGraph([]deps.Node{
		in("zeta", node("d")), in("Alpha", node("e", "b", "d")), node("a", "c"), node("b"), node("c", "none"), node("b", "a"),
	})
	assert.Equal(t, []string{"c", "a", "b", "d", "e"}, g.Order())
	assert.Equal(t, []string{"b", "d"}, g.Providers("e"))
	assert.Equal(t, []string{"a", "c"}, g.Closure("c"))
	assert.Equal(t, []string{"a"}, g.Dependants("c"))
	assert.Equal(t, []string{"e", "d", "a", "c"}, g.StopOrder("c", "d", "unknown"))
	assert.Empty(t, g.Providers("unknown"))
	assert.Empty(t, g.Dependencies("unknown", nil))
	_, known := g.Node("unknown")
	assert.False(t, known)
	b, known := g.Node("b")
	assert.True(t, known)
	assert.Empty(t, b.Requires, "of two nodes with one id the first counts")
}

func TestStatusOfDependencies(t *testing.T) {
	t.Parallel()
	old, off, absent, absentOff := node("old"), node("off"), node("absent"), node("absent-off")
	old.Version, off.Enabled, absent.Absent, absent.Version = "0.9.0", false, true, ""
	absentOff.Absent, absentOff.Enabled = true, false
	oldAndOff := node("old-and-off")
	oldAndOff.Version, oldAndOff.Enabled = "2.0.0", false
	g := deps.NewGraph([]deps.Node{
		old, off, absent, absentOff, oldAndOff, node("fine"), node("bad"),
		node("c", "old", "off", "absent", "absent-off", "old-and-off", "fine", "bad", "none"),
	})
	asked := []string{}
	state := func(id string) deps.Reason {
		asked = append(asked, id)
		return map[string]deps.Reason{"fine": deps.Active, "bad": deps.Faulted}[id]
	}
	got := map[string]deps.Reason{}
	for _, d := range g.Dependencies("c", state) {
		got[d.Provider] = d.Status
	}
	assert.Equal(t, map[string]deps.Reason{
		"old": deps.VersionUnsatisfied, "off": deps.Disabled, "absent": deps.Unavailable, "absent-off": deps.Disabled,
		"old-and-off": deps.VersionUnsatisfied, "fine": deps.Active, "bad": deps.Faulted, "none": deps.Missing,
	}, got)
	assert.Equal(t, []string{"bad", "fine"}, asked)
	assert.Len(t, g.Unmet("c", state), 7)
}

func TestCycles(t *testing.T) {
	t.Parallel()
	off := node("off", "on")
	off.Enabled = false
	g := deps.NewGraph([]deps.Node{
		node("x", "m", "y"), node("y", "x"), node("m", "n"), node("n", "x"),
		node("p", "q2", "q1"), node("q1", "p"), node("q2", "p"), node("outside", "x"),
		off, node("on", "off"), node("self", "self"),
	})
	for id, want := range map[string][]string{
		"x": {"x", "y"}, "y": {"x", "y"}, "m": {"m", "n", "x"}, "n": {"m", "n", "x"},
		"p": {"p", "q1"}, "q1": {"p", "q1"}, "q2": {"p", "q2"}, "outside": nil, "on": nil, "off": nil, "self": nil, "unknown": nil,
	} {
		assert.Equal(t, want, g.Cycle(id), id)
	}
	assert.Len(t, g.Order(), 11)
}

// The cycle of each node is what walking every simple cycle finds.
func TestCyclesAgreeWithANaiveSearch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "nodes")
		nodes := make([]deps.Node, n)
		for i := range nodes {
			var providers []string
			for p := range n {
				if p != i && rapid.IntRange(0, 2).Draw(t, "arc") == 0 {
					providers = append(providers, string(rune('a'+p)))
				}
			}
			nodes[i] = node(string(rune('a'+i)), providers...)
			nodes[i].Enabled = rapid.IntRange(0, 5).Draw(t, "enabled") > 0
		}
		nodes = rapid.Permutation(nodes).Draw(t, "order")
		g := deps.NewGraph(nodes)
		for _, from := range nodes {
			if want := naiveCycle(nodes, from.ID); !slices.Equal(want, g.Cycle(from.ID)) {
				t.Fatalf("cycle of %s: %v, want %v", from.ID, g.Cycle(from.ID), want)
			}
		}
		checkOrders(t, g, nodes)
	})
}

func naiveCycle(nodes []deps.Node, id string) []string {
	byID := map[string]deps.Node{}
	for _, n := range nodes {
		byID[n.ID] = n
	}
	var best []string
	var walk func(path []string)
	walk = func(path []string) {
		for provider := range byID[path[len(path)-1]].Requires {
			if provider == id {
				at := slices.Index(path, slices.Min(path))
				rotated := append(slices.Clone(path[at:]), path[:at]...)
				if best == nil || len(rotated) < len(best) || len(rotated) == len(best) && slices.Compare(rotated, best) < 0 {
					best = rotated
				}
			} else if byID[provider].Enabled && !slices.Contains(path, provider) {
				walk(append(slices.Clone(path), provider))
			}
		}
	}
	if byID[id].Enabled {
		walk([]string{id})
	}
	return best
}

func checkOrders(t *rapid.T, g *deps.Graph, nodes []deps.Node) {
	order := g.Order()
	if len(order) != len(nodes) {
		t.Fatal("order loses nodes", order)
	}
	for _, n := range nodes {
		for provider := range n.Requires {
			apart := !slices.Contains(g.Closure(n.ID), provider) // not on a cycle with it
			if apart && slices.Index(order, provider) > slices.Index(order, n.ID) {
				t.Fatalf("%s comes before its provider %s: %v", n.ID, provider, order)
			}
			stop := g.StopOrder(provider)
			if apart && slices.Index(stop, n.ID) > slices.Index(stop, provider) {
				t.Fatalf("%s stops after its provider %s: %v", n.ID, provider, stop)
			}
			if !slices.Contains(g.Dependants(provider), n.ID) {
				t.Fatalf("%s is no dependant of %s", n.ID, provider)
			}
		}
	}
}

// BenchmarkPlan1000 makes the order and all blockers of 1,000 plugins.
func BenchmarkPlan1000(b *testing.B) {
	for name, cyclic := range map[string]bool{"acyclic": false, "one-cycle": true} {
		b.Run(name, func(b *testing.B) {
			var nodes []deps.Node
			for i := range 1000 {
				n := node(fmt.Sprintf("acme.p%04d", i))
				for _, back := range []int{1, 7, 100} {
					if i >= back {
						n.Requires[fmt.Sprintf("acme.p%04d", i-back)] = "1.0.0"
					}
				}
				nodes = append(nodes, n)
			}
			if cyclic {
				nodes[0].Requires["acme.p0999"] = "1.0.0"
			}
			slices.SortFunc(nodes, func(a, b deps.Node) int { return strings.Compare(b.ID, a.ID) })
			blocked := func(string) deps.Reason { return deps.Blocked }
			b.ReportAllocs()
			for b.Loop() {
				g := deps.NewGraph(nodes)
				found := 0
				for _, id := range g.Order() {
					found += len(g.Unmet(id, blocked))
				}
				require.Equal(b, 1000*3-108+map[bool]int{true: 1}[cyclic], found)
			}
		})
	}
}
