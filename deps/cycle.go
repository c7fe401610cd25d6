package deps

import "slices"

// Cycle returns a shortest cycle of enabled plugins through id, along the requirements, from its byte-wise smallest
// member on; of several the smallest sequence. It is nil when the plugin is on no cycle.
func (g *Graph) Cycle(id string) []string {
	i, known := g.index[id]
	if !known {
		return nil
	}
	return slices.Clone(g.cycles[i])
}

// findCycles looks for the cycle of each node of each component with more than one node.
func (g *Graph) findCycles() {
	g.cycles = map[int][]string{}
	arcs := make([][]int, len(g.nodes))
	for i, n := range g.nodes {
		if !n.Enabled || n.Absent {
			continue
		}
		for _, p := range g.providers[i] {
			if g.nodes[p].Enabled && !g.nodes[p].Absent {
				arcs[i] = append(arcs[i], p)
			}
		}
		slices.SortFunc(arcs[i], g.byID)
	}
	component := components(arcs)
	back := make([][]int, len(arcs))
	size := map[int]int{}
	for i := range arcs {
		size[component[i]]++
		arcs[i] = slices.DeleteFunc(arcs[i], func(p int) bool { return component[p] != component[i] })
		for _, p := range arcs[i] {
			back[p] = append(back[p], i)
		}
	}
	s := newSearch(len(arcs))
	for i := range arcs {
		if size[component[i]] > 1 {
			g.cycles[i] = g.ids(g.shortestCycle(i, arcs, back, s))
		}
	}
}

func (g *Graph) byID(a, b int) int {
	switch x, y := g.nodes[a].ID, g.nodes[b].ID; {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// search holds the tables of the walks for one cycle, reused from node to node.
type search struct {
	from, to []int // distance from and to a node; -1 when not reached, and between the walks
	out, in  []int // what either reached, in order
}

func newSearch(n int) *search {
	s := &search{from: make([]int, n), to: make([]int, n)}
	for i := range n {
		s.from[i], s.to[i] = -1, -1
	}
	return s
}

func forget(dist, reached []int) []int {
	for _, v := range reached {
		dist[v] = -1
	}
	return reached[:0]
}

// away walks from i until it meets i again, and returns the length of that cycle. No node of a cycle of this length is
// further away than what it reached.
func (s *search) away(arcs [][]int, i int) int {
	s.out = append(forget(s.from, s.out), i)
	s.from[i] = 0
	for next := 0; next < len(s.out); next++ {
		at := s.out[next]
		for _, p := range arcs[at] {
			if p == i {
				return s.from[at] + 1
			}
			if s.from[p] < 0 {
				s.from[p] = s.from[at] + 1
				s.out = append(s.out, p)
			}
		}
	}
	return 0
}

// home walks back from target over the nodes that lie on a way of the given length from the start of away to target.
func (s *search) home(back [][]int, target, length int) {
	s.in = append(forget(s.to, s.in), target)
	s.to[target] = 0
	for next := 0; next < len(s.in); next++ {
		at := s.in[next]
		for _, p := range back[at] {
			if s.to[p] < 0 && s.from[p] >= 0 && s.from[p] == length-s.to[at]-1 {
				s.to[p] = s.to[at] + 1
				s.in = append(s.in, p)
			}
		}
	}
}

// shortestCycle finds the cycle of one node. A node lies on a shortest cycle through i when the way from i to it and the
// way back add up to its length; the smallest of them is where the smallest sequence starts. From there the walk takes the
// smallest next node that still leads home: first to i, then from i to the start.
func (g *Graph) shortestCycle(i int, arcs, back [][]int, s *search) []int {
	length := s.away(arcs, i)
	s.home(back, i, length)
	start := i
	for _, v := range s.in {
		if g.byID(v, start) < 0 {
			start = v
		}
	}
	cycle := make([]int, 0, length)
	at := start
	for at != i {
		cycle = append(cycle, at)
		at = s.step(arcs[at], s.to[at]-1)
	}
	cycle = append(cycle, i)
	if start == i {
		for left := length - 1; left > 0; left-- {
			at = s.step(arcs[at], left)
			cycle = append(cycle, at)
		}
		return cycle
	}
	// Distances to start decide here: not every node at the right distance from i leads to start.
	distance := s.from[start]
	s.home(back, start, distance)
	for left := distance - 1; left > 0; left-- {
		at = s.step(arcs[at], left)
		cycle = append(cycle, at)
	}
	return cycle
}

// step returns the first of the candidates, which are sorted by id, that is left steps from the target of home.
func (s *search) step(candidates []int, left int) int {
	return candidates[slices.IndexFunc(candidates, func(v int) bool { return s.to[v] == left })]
}

// components numbers the strongly connected components (Tarjan's algorithm, with a stack of its own).
func components(arcs [][]int) []int {
	n := len(arcs)
	number, low, component := make([]int, n), make([]int, n), make([]int, n)
	on := make([]bool, n)
	var open []int
	type frame struct{ node, next int }
	var path []frame
	counter := 0
	enter := func(i int) {
		counter++
		number[i], low[i], on[i] = counter, counter, true
		open = append(open, i)
		path = append(path, frame{node: i})
	}
	for start := range arcs {
		if number[start] != 0 {
			continue
		}
		enter(start)
		for len(path) > 0 {
			top := &path[len(path)-1]
			v := top.node
			if top.next < len(arcs[v]) {
				w := arcs[v][top.next]
				top.next++
				if number[w] == 0 {
					enter(w)
				} else if on[w] {
					low[v] = min(low[v], number[w])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				parent := path[len(path)-1].node
				low[parent] = min(low[parent], low[v])
			}
			if low[v] != number[v] {
				continue
			}
			for {
				w := open[len(open)-1]
				open = open[:len(open)-1]
				on[w] = false
				component[w] = v
				if w == v {
					break
				}
			}
		}
	}
	return component
}
