package builtin

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/points/tool"
)

const (
	maxSimilar  = 3
	maxNames    = 10_000 // of a directory, that are looked at
	maxDistance = 2
)

// missing is fault, with names that are close when the file isn't there.
func (s *Source) missing(i *tool.Invocation, spot *fence.Spot, asked string, err error) tool.Result {
	r := fault(asked, err)
	if !errors.Is(err, fs.ErrNotExist) {
		return r
	}
	f := s.fence(i.Workspace, i.Thread)
	if names := similar(spot, f); len(names) > 0 {
		r.Error.Message = strings.TrimSuffix(r.Error.Message, ".") + "; did you mean " + strings.Join(names, ", ") + "?"
		r.Error.Params["similar"] = names
	}
	return r
}

// similar lists names in the same directory that differ little from one that isn't there.
func similar(spot *fence.Spot, f *fence.Fence) []string {
	dir, err := spot.Root.Open(path.Dir(spot.Name))
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(maxNames)
	if err != nil {
		return nil
	}
	type candidate struct {
		name     string
		distance int
	}
	want := path.Base(spot.Name)
	wantFolded := fold(want)
	var found []candidate
	for _, name := range names {
		if f.Credential(name) {
			continue
		}
		if d, near := distance(fold(name), wantFolded); near {
			found = append(found, candidate{name, d})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, c := range found[:min(maxSimilar, len(found))] {
		shown := path.Dir(f.Show(spot.Place().Path))
		out = append(out, path.Join(shown, c.name))
	}
	return out
}

// fold makes names equal that differ in case and kinds of space.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Zs, r) || r == '\u200b' || r == '\ufeff' {
			return ' '
		}
		return unicode.ToLower(r)
	}, name)
}

// distance counts the insertions, deletions, replacements and swaps of neighbours between two names, up to what counts as
// near.
func distance(a, b string) (int, bool) {
	if a == b {
		return 0, true
	}
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > maxDistance || len(y)-len(x) > maxDistance || len(x) > 255 {
		return 0, false
	}
	var before []int
	last := make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	d := last[len(y)]
	// Of a short name little may differ, else everything is near.
	return d, d <= maxDistance && d*3 <= len(x)
}
