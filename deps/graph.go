package deps

import (
	"slices"
	"strings"
)

// Node is one plugin as the graph sees it.
type Node struct {
	ID        string       // unique in a graph
	Version   string       // may be unreadable; it satisfies nothing then
	Directory string       // blank for a plugin that the host lists without a directory
	Requires  Requirements // nil for none
	Enabled   bool         // the operator's intent
	Absent    bool         // a directory names it, but the host has no code for it
}

// Graph is the dependency graph of one set of plugins. It never changes and may be used from any goroutine.
type Graph struct {
	nodes     []Node // in base order
	index     map[string]int
	providers [][]int // of each node, in base order; requirements that name no node are left out
	consumers [][]int // the reverse arcs, in base order
	order     []int   // load order
	rank      []int   // position of each node in order
	cycles    map[int][]string
}

// NewGraph makes the graph of nodes. The order of nodes without a directory is kept; nodes with a directory follow them,
// by directory name, byte by byte. Of two nodes with one id the first counts.
func NewGraph(nodes []Node) *Graph {
	g := &Graph{nodes: slices.Clone(nodes), index: make(map[string]int, len(nodes))}
	slices.SortStableFunc(g.nodes, func(a, b Node) int { return strings.Compare(a.Directory, b.Directory) })
	kept := g.nodes[:0]
	for _, n := range g.nodes {
		if _, twice := g.index[n.ID]; twice {
			continue
		}
		g.index[n.ID] = len(kept)
		kept = append(kept, n)
	}
	g.nodes = kept
	g.link()
	g.sort()
	g.findCycles()
	return g
}

// link turns requirements into arcs between positions.
func (g *Graph) link() {
	g.providers = make([][]int, len(g.nodes))
	g.consumers = make([][]int, len(g.nodes))
	for i, n := range g.nodes {
		for id := range n.Requires {
			if p, known := g.index[id]; known && p != i {
				g.providers[i] = append(g.providers[i], p)
			}
		}
		slices.Sort(g.providers[i])
		for _, p := range g.providers[i] {
			g.consumers[p] = append(g.consumers[p], i)
		}
	}
}

// sort visits the nodes in base order, providers first. It keeps its own stack, so that a long chain of requirements
// costs no deep recursion. An arc back into the path is part of a cycle and is passed over.
func (g *Graph) sort() {
	g.order = make([]int, 0, len(g.nodes))
	g.rank = make([]int, len(g.nodes))
	seen := make([]bool, len(g.nodes))
	type frame struct{ node, next int }
	var path []frame
	for start := range g.nodes {
		if seen[start] {
			continue
		}
		seen[start] = true
		path = append(path, frame{node: start})
		for len(path) > 0 {
			top := &path[len(path)-1]
			if top.next < len(g.providers[top.node]) {
				p := g.providers[top.node][top.next]
				top.next++
				if !seen[p] {
					seen[p] = true
					path = append(path, frame{node: p})
				}
				continue
			}
			g.rank[top.node] = len(g.order)
			g.order = append(g.order, top.node)
			path = path[:len(path)-1]
		}
	}
}

// Order returns the ids in load order: base order, providers first. Plugins activate in it.
func (g *Graph) Order() []string { return g.ids(g.order) }

// Providers returns the known direct providers of a plugin, in base order.
func (g *Graph) Providers(id string) []string {
	i, known := g.index[id]
	if !known {
		return nil
	}
	return g.ids(g.providers[i])
}

// Node returns the node of a plugin.
func (g *Graph) Node(id string) (Node, bool) {
	i, known := g.index[id]
	if !known {
		return Node{}, false
	}
	return g.nodes[i], true
}

// Closure returns the named plugins and their transitive dependants, sorted by id. Unknown ids are left out.
func (g *Graph) Closure(ids ...string) []string {
	out := g.ids(g.closure(ids))
	slices.Sort(out)
	return out
}

// StopOrder returns the same plugins in the order in which they have to stop: each one before its providers, which is
// the load order backwards.
func (g *Graph) StopOrder(ids ...string) []string {
	c := g.closure(ids)
	slices.SortFunc(c, func(a, b int) int { return g.rank[b] - g.rank[a] })
	return g.ids(c)
}

// Dependants returns the transitive dependants of a plugin without the plugin itself, sorted by id.
func (g *Graph) Dependants(id string) []string {
	return slices.DeleteFunc(g.Closure(id), func(other string) bool { return other == id })
}

func (g *Graph) closure(ids []string) []int {
	seen := make(map[int]bool, len(ids))
	var found []int
	visit := func(i int) {
		if !seen[i] {
			seen[i] = true
			found = append(found, i)
		}
	}
	for _, id := range ids {
		if i, known := g.index[id]; known {
			visit(i)
		}
	}
	for next := 0; next < len(found); next++ {
		for _, c := range g.consumers[found[next]] {
			visit(c)
		}
	}
	return found
}

func (g *Graph) ids(positions []int) []string {
	out := make([]string, len(positions))
	for i, p := range positions {
		out[i] = g.nodes[p].ID
	}
	return out
}
