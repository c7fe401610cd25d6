package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/points/tool"
)

const (
	maxGrepMatches = 500
	maxGrepFile    = 8 << 20
	grepTime       = 60 * time.Second
)

var grepTool = kind{
	name: "grep",
	description: "Searches the contents of files with a regular expression (RE2 syntax) and returns path:line:text, sorted by path. " +
		"path is a file or a directory and defaults to the workspace; include is a pattern for file names, for example *.go or src/**/*.ts. " +
		"literal takes the pattern as plain text, ignoreCase ignores case, context adds that many lines around each match. " +
		"Files that git ignores, binary files and files over 8 MiB are left out. At most 500 matches are shown.",
	schema: `{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"},"include":{"type":"string"},` +
		`"ignoreCase":{"type":"boolean"},"literal":{"type":"boolean"},"context":{"type":"integer","minimum":0,"maximum":10}},` +
		`"required":["pattern"],"additionalProperties":false}`,
	hints: tool.Hints{ReadOnly: true}, catalogs: tool.CatalogBoth,
	classify: classifyReading, run: (*Source).grep,
}

type grepArguments struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Include    string `json:"include"`
	IgnoreCase bool   `json:"ignoreCase"`
	Literal    bool   `json:"literal"`
	Context    int    `json:"context"`
}

func (s *Source) grep(ctx context.Context, i *tool.Invocation) tool.Result {
	var args grepArguments
	if err := arguments(i.Arguments, &args); err != nil {
		return invalid("The arguments can't be read: %v.", err)
	}
	if args.Include != "" {
		if err := checkPattern(args.Include); err != nil {
			return invalid("include is not usable: %v.", err)
		}
	}
	m, err := newMatcher(args.Pattern, args.Literal, args.IgnoreCase)
	if err != nil {
		return invalid("The pattern does not compile: %v. To search for plain text, set literal.", err)
	}
	spot, result := s.enter(i, args.Path)
	if spot == nil {
		return result
	}
	defer func() { _ = spot.Close() }()

	bounded, cancel := context.WithTimeout(ctx, grepTime)
	defer cancel()
	g := search{ctx: bounded, match: m, context: args.Context}
	if err := s.searchPlace(&g, i, spot, args); err != nil {
		return s.missing(i, spot, shownPath(args.Path), err)
	}
	if ctx.Err() != nil {
		return cancelled()
	}
	text := g.text(bounded.Err() != nil)
	return succeeded(text, facts{Path: spot.Place().Path, Count: &g.matches, More: g.more})
}

// searchPlace searches the file or the directory of the call.
func (s *Source) searchPlace(g *search, i *tool.Invocation, spot *fence.Spot, args grepArguments) error {
	f := s.fence(i.Workspace, i.Thread)
	place := spot.Place()
	dir, err := spot.OpenDir()
	if errors.Is(err, fence.ErrNotDirectory) {
		file, err := spot.Open()
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		g.file(f.Show(place.Path), file)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	w := newWalker(g.ctx, f, spot, dir)
	start := w.base
	shown := f.Show(place.Path)
	w.visit = func(rel string, e fs.DirEntry) bool {
		name := below(start, rel)
		if args.Include != "" && !included(args.Include, name) {
			return true
		}
		file, info, err := fence.OpenRegular(w.root, rel)
		if err != nil {
			return true
		}
		defer func() { _ = file.Close() }()
		if info.Size() > maxGrepFile {
			g.skipped++
			return true
		}
		return g.file(path.Join(shown, name), file)
	}
	w.walk()
	return nil
}

// included matches a name pattern against the last part of a path, and one with a slash against the path.
func included(pattern, name string) bool {
	if !strings.Contains(pattern, "/") {
		name = path.Base(name)
	}
	ok, err := doublestar.Match(pattern, name)
	return ok && err == nil
}

// text is the result with the lines that say what is not in it.
func (g *search) text(late bool) string {
	var notes []string
	if g.more {
		notes = append(notes, fmt.Sprintf("[more than %d matches; narrow the search]", maxGrepMatches))
	}
	if late {
		notes = append(notes, fmt.Sprintf("[stopped after %s; the search is not complete]", grepTime))
	}
	if g.skipped > 0 {
		notes = append(notes, fmt.Sprintf("[%d binary or very large files were skipped]", g.skipped))
	}
	text := strings.TrimSuffix(g.out.String(), "\n")
	if g.matches == 0 {
		text = "(no match)"
	}
	return strings.Join(append([]string{text}, notes...), "\n")
}
