package textdiff

// diff returns a shortest list of edits, as long as it is not too long.
func diff(a, b []string) []edit {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA--
		endB--
	}
	if start == endA && start == endB {
		return nil
	}
	edits, ok := shortest(a[start:endA], b[start:endB])
	if !ok {
		edits = []edit{{0, endA - start, 0, endB - start}}
	}
	for i := range edits {
		e := &edits[i]
		e.fromA += start
		e.toA += start
		e.fromB += start
		e.toB += start
	}
	return edits
}

// shortest is the greedy algorithm of Myers: for each number of steps it keeps how far each diagonal reaches.
func shortest(a, b []string) ([]edit, bool) {
	limit := min(len(a)+len(b), maxSteps)
	reach := make([]int, 2*limit+3) // by diagonal k = x - y, from -limit-1 on
	at := func(k int) int { return k + limit + 1 }
	var trace [][]int // trace[d] is the reach, from diagonal -d on, before step d
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), reach[at(-d-1):at(d+1)+1]...))
		for k := -d; k <= d; k += 2 {
			x := reach[at(k-1)] + 1
			if k == -d || k != d && reach[at(k-1)] < reach[at(k+1)] {
				x = reach[at(k+1)]
			}
			if d == 0 {
				x = 0
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x++
				y++
			}
			reach[at(k)] = x
			if x >= len(a) && y >= len(b) {
				return walkBack(trace, len(a), len(b)), true
			}
		}
	}
	return nil, false
}

// walkBack follows the trace from the end to the start.
func walkBack(trace [][]int, x, y int) []edit {
	var steps []edit // single lines, last first
	for d := len(trace) - 1; d > 0; d-- {
		before := trace[d] // before[i] is diagonal i-d-1
		at := func(k int) int { return before[k+d+1] }
		k := x - y
		from := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			from = k + 1
		}
		px := at(from)
		py := px - from
		if from == k-1 {
			steps = append(steps, edit{px, px + 1, py, py})
		} else {
			steps = append(steps, edit{px, px, py, py + 1})
		}
		x, y = px, py
	}
	var out []edit
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		if n := len(out); n > 0 && out[n-1].toA == s.fromA && out[n-1].toB == s.fromB {
			out[n-1].toA, out[n-1].toB = s.toA, s.toB
			continue
		}
		out = append(out, s)
	}
	return out
}
