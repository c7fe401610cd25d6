package builtin

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/crystalkernel/crystal/points/tool"
)

const maxMatches = 1000

var globTool = kind{
	name: "glob",
	description: "Finds files by a pattern with *, ?, [abc], {a,b} and ** (any number of directories), for example src/**/*.go. " +
		"The pattern is matched against paths below path, which defaults to the workspace. Files that git ignores are left out unless the " +
		"pattern names their directory from its start. Newest files come first, at most 1000.",
	schema: `{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"}},"required":["pattern"],` +
		`"additionalProperties":false}`,
	hints: tool.Hints{ReadOnly: true}, catalogs: tool.CatalogBoth,
	classify: classifyReading, run: (*Source).glob,
}

func (s *Source) glob(ctx context.Context, i *tool.Invocation) tool.Result {
	var args struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path"`
	}
	if err := arguments(i.Arguments, &args); err != nil {
		return invalid("The arguments can't be read: %v.", err)
	}
	if err := checkPattern(args.Pattern); err != nil {
		return invalid("The pattern is not usable: %v.", err)
	}
	dir, spot, result := s.enterDir(i, args.Path)
	if dir == nil {
		return result
	}
	defer func() { _ = dir.Close(); _ = spot.Close() }()
	w := newWalker(ctx, s.fence(i.Workspace, i.Thread), spot, dir)
	found := findMatches(w, args.Pattern)
	if ctx.Err() != nil {
		return cancelled()
	}
	count := len(found)
	if count == 0 {
		return succeeded("(no match)", facts{Path: spot.Place().Path, Count: &count})
	}
	slices.SortFunc(found, func(a, b match) int {
		if !a.changed.Equal(b.changed) {
			return b.changed.Compare(a.changed)
		}
		return strings.Compare(a.name, b.name)
	})
	more := count > maxMatches
	if more {
		count = maxMatches
	}
	var out strings.Builder
	for _, m := range found[:count] {
		out.WriteString(oneLine(m.name))
		out.WriteByte('\n')
	}
	if more {
		out.WriteString("[more files match; narrow the pattern]")
	}
	return succeeded(strings.TrimSuffix(out.String(), "\n"), facts{Path: spot.Place().Path, Count: &count, More: more})
}

// match is a file that was found, named from where the search started.
type match struct {
	name    string
	changed time.Time
}

// findMatches walks to what the pattern matches. It narrows the walk to the directories that the pattern names.
func findMatches(w *walker, pattern string) []match {
	start := w.base
	prefix, rest := staticPrefix(pattern)
	var found []match
	add := func(rel string) {
		if info, err := w.root.Lstat(rel); err == nil && isFile(w.root, rel, info) {
			found = append(found, match{below(start, rel), info.ModTime()})
		}
	}
	if linked(w.root, start, prefix) {
		return nil
	}
	w.base = path.Join(start, prefix)
	if !hasMeta(rest) {
		if rel := path.Join(w.base, rest); !w.secret(rel) {
			add(rel)
		}
		return found
	}
	w.visit = func(rel string, _ fs.DirEntry) bool {
		if ok, err := doublestar.Match(rest, below(w.base, rel)); ok && err == nil {
			add(rel)
		}
		return true
	}
	w.walk()
	return found
}

// isFile reports whether an entry is a file or a link to one; links to directories aren't listed.
func isFile(root *os.Root, rel string, info fs.FileInfo) bool {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := root.Stat(rel)
		return err != nil || !target.IsDir()
	}
	return !info.IsDir()
}

// linked reports whether a directory below start is reached through a link.
func linked(root *os.Root, start, dir string) bool {
	if dir == "." {
		return false
	}
	at := start
	for part := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, part)
		if info, err := root.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}
