package generations

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// labelledGoroutines takes one goroutine profile and returns, for each of the names of generations, the goroutines that
// carry its label. The text form of the profile is the only one that shows labels without decoding an archive.
func labelledGoroutines(names map[string]bool) map[string][]GoroutineGroup {
	var buf bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&buf, 1); err != nil {
		return nil // a buffer does not fail
	}
	return parseProfile(buf.Bytes(), names)
}

// Lines of the text form:
//
//	2 @ 0x1 0x2
//	# labels: {"crystal.generation":"acme@g1", "crystal.plugin":"acme"}
//	#	0x1	runtime.gopark+0x1	/src/runtime/proc.go:402
var (
	groupLine = regexp.MustCompile(`^(\d+) @`)
	labelPair = regexp.MustCompile(`"` + regexp.QuoteMeta(LabelGeneration) + `":("(?:[^"\\]|\\.)*")`)
)

// parseProfile reads the text form of a goroutine profile.
func parseProfile(text []byte, names map[string]bool) map[string][]GoroutineGroup {
	found := map[string][]GoroutineGroup{}
	count, owner, stack := 0, "", []string(nil)
	flush := func() {
		if owner != "" {
			found[owner] = merge(found[owner], GoroutineGroup{Count: count, Stack: strings.Join(stack, "\n")})
		}
		count, owner, stack = 0, "", nil
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case groupLine.MatchString(line):
			flush()
			count, _ = strconv.Atoi(groupLine.FindStringSubmatch(line)[1])
		case strings.HasPrefix(line, "# labels: "):
			if m := labelPair.FindStringSubmatch(line); m != nil {
				if n, err := strconv.Unquote(m[1]); err == nil && names[n] {
					owner = n
				}
			}
		case owner != "" && strings.HasPrefix(line, "#\t"):
			stack = append(stack, frame(line))
		}
	}
	flush()
	return found
}

// merge adds g to the group with the same stack; the profile keeps stacks apart that differ in addresses only.
func merge(groups []GoroutineGroup, g GoroutineGroup) []GoroutineGroup {
	for i := range groups {
		if groups[i].Stack == g.Stack {
			groups[i].Count += g.Count
			return groups
		}
	}
	return append(groups, g)
}

// frame shortens a line of a stack to the function and the name of the file: no path of the machine that built the host.
func frame(line string) string {
	fields := strings.Split(strings.TrimPrefix(line, "#\t"), "\t")
	fields = slices.DeleteFunc(fields, func(f string) bool { return f == "" })
	if len(fields) < 3 {
		return strings.TrimSpace(line)
	}
	fn, _, _ := strings.Cut(fields[1], "+0x")
	return fmt.Sprintf("%s %s", fn, path.Base(strings.TrimSpace(fields[2])))
}

// bound orders groups, the most numerous first, and cuts them down to the limits of one leak.
func bound(groups []GoroutineGroup, stacks, stackBytes int) []GoroutineGroup {
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b GoroutineGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Stack, b.Stack))
	})
	groups = groups[:min(len(groups), stacks)]
	for i, g := range groups {
		if len(g.Stack) > stackBytes {
			cut := g.Stack[:stackBytes]
			for !utf8.ValidString(cut) {
				cut = cut[:len(cut)-1]
			}
			groups[i].Stack = cut
		}
	}
	return groups
}
