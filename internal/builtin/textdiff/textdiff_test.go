package textdiff_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/internal/builtin/textdiff"
)

func TestUnified(t *testing.T) {
	numbers := func(n int) string {
		var b strings.Builder
		for i := 1; i <= n; i++ {
			fmt.Fprintf(&b, "%d\n", i)
		}
		return b.String()
	}
	assert.Empty(t, textdiff.Unified("a\n", "a\n", 200))
	assert.Equal(t, "@@ -0,0 +1 @@\n+a", textdiff.Unified("", "a\n", 200))
	assert.Equal(t, "@@ -1 +0,0 @@\n-a", textdiff.Unified("a\n", "", 200))
	assert.Equal(t, "@@ -7,4 +7,3 @@\n 7\n 8\n 9\n-10", textdiff.Unified(numbers(10), numbers(9), 200))
	changed := strings.NewReplacer("\n5\n", "\nfive\n", "\n15\n", "\nfifteen\n").Replace(numbers(20))
	assert.Equal(t, "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -12,7 +12,7 @@\n 12\n 13\n 14\n-15\n+fifteen\n 16\n 17\n 18",
		textdiff.Unified(numbers(20), changed, 200))
	near := strings.NewReplacer("\n5\n", "\nfive\n", "\n9\n", "\nnine\n").Replace(numbers(20))
	assert.Equal(t, 1, strings.Count(textdiff.Unified(numbers(20), near, 200), "@@ -"), "hunks that touch are one")
	assert.Equal(t, "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a", textdiff.Unified("a", "a\n", 200))
	long := strings.Split(textdiff.Unified(numbers(1000), "", 200), "\n")
	assert.Len(t, long, 201)
	assert.Equal(t, "[… 801 more lines of the diff]", long[200])
}

// apply replays a diff on the text before.
func apply(t *rapid.T, before, diff string) string {
	lines := strings.SplitAfter(before, "\n")
	var out strings.Builder
	at := 0
	for _, line := range strings.Split(diff, "\n") {
		if line == "" {
			continue
		}
		switch line[0] {
		case '@':
			head := strings.Fields(line)[1][1:]
			from, size, many := strings.Cut(head, ",")
			start, err := strconv.Atoi(from)
			if err != nil {
				t.Fatalf("hunk %q", line)
			}
			if !many || size != "0" {
				start--
			}
			for ; at < start; at++ {
				out.WriteString(lines[at])
			}
		case ' ':
			out.WriteString(lines[at])
			at++
		case '-':
			if lines[at] != line[1:]+"\n" {
				t.Fatalf("removes %q where %q is", line, lines[at])
			}
			at++
		case '+':
			out.WriteString(line[1:] + "\n")
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String()
}

func TestADiffMakesTheOneTextFromTheOther(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.Custom(func(rt *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n"}), 0, 40).Draw(rt, "lines"), "")
		})
		before, after := text.Draw(rt, "before"), text.Draw(rt, "after")
		if got := apply(rt, before, textdiff.Unified(before, after, 10_000)); got != after {
			rt.Fatalf("got %q, want %q", got, after)
		}
	})
}

func TestTextsThatShareNothing(t *testing.T) {
	before, after := strings.Repeat("a\n", 50_000), strings.Repeat("b\n", 50_000)
	diff := textdiff.Unified(before, after, 200_000)
	assert.Equal(t, 100_001, len(strings.Split(diff, "\n")))
}

func ExampleUnified() {
	fmt.Println(textdiff.Unified("one\ntwo\n", "one\n2\n", 200))
	// Output:
	// @@ -1,2 +1,2 @@
	//  one
	// -two
	// +2
}
