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

// search holds the tables of one breadth-first walk, reused from node to node.
type search struct {
	from, to []int // distance from and to the node; -1 when not reached
	queue    []int
}

func newSearch(n int) *search { return &search{from: make([]int, n), to: make([]int, n)} }

// walk fills dist with the distances from start along arcs.
func (s *search) walk(dist []int, arcs [][]int, start int) {
	for i := range dist {
		dist[i] = -1
	}
	dist[start] = 0
	s.queue = append(s.queue[:0], start)
	for next := 0; next < len(s.queue); next++ {
		for _, p := range arcs[s.queue[next]] {
			if dist[p] < 0 {
				dist[p] = dist[s.queue[next]] + 1
				s.queue = append(s.queue, p)
			}
		}
	}
}

// shortestCycle finds the cycle of one node. A node v lies on a shortest cycle through i when the way from i to v and
// the way back add up to its length; the smallest of them is where the smallest sequence starts. From there the walk
// takes the smallest next node that still leads home: first to i, then from i to the start.
func (g *Graph) shortestCycle(i int, arcs, back [][]int, s *search) []int {
	s.walk(s.from, arcs, i)
	s.walk(s.to, back, i)
	length := -1
	for _, v := range back[i] {
		if s.from[v] >= 0 && (length < 0 || s.from[v]+1 < length) {
			length = s.from[v] + 1
		}
	}
	start := i
	for _, v := range s.queue {
		if s.from[v]+s.to[v] == length && g.byID(v, start) < 0 {
			start = v
		}
	}
	cycle := make([]int, 0, length)
	at := start
	for at != i {
		cycle = append(cycle, at)
		at = s.step(arcs[at], func(v int) bool { return s.to[v] == s.to[at]-1 })
	}
	cycle = append(cycle, i)
	if start == i {
		for range length - 1 {
			n := len(cycle)
			at = s.step(arcs[at], func(v int) bool { return v != i && s.from[v] == n && s.to[v] == length-n })
			cycle = append(cycle, at)
		}
		return cycle
	}
	// Distances to start decide here: not every node at the right distance from i leads to start.
	distance := s.from[start]
	s.walk(s.to, back, start)
	for left := distance - 1; left > 0; left-- {
		at = s.step(arcs[at], func(v int) bool { return s.to[v] == left })
		cycle = append(cycle, at)
	}
	return cycle
}

// step returns the first of the candidates, which are sorted by id, that fits.
func (s *search) step(candidates []int, fits func(int) bool) int {
	return candidates[slices.IndexFunc(candidates, fits)]
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
