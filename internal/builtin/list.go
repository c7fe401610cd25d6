package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/internal/plaintext"
	"github.com/crystalkernel/crystal/points/tool"
)

const maxListed = 1000

var listTool = kind{
	name: "list",
	description: "Lists a directory, one entry per line: directories end in /, links in @, entries of subdirectories are indented. " +
		"path defaults to the workspace, depth (1 to 5) to 1. At most 1000 entries are shown.",
	schema: `{"type":"object","properties":{"path":{"type":"string"},"depth":{"type":"integer","minimum":1,"maximum":5}},` +
		`"additionalProperties":false}`,
	hints: tool.Hints{ReadOnly: true}, catalogs: tool.CatalogBoth,
	classify: classifyReading, run: (*Source).list,
}

func (s *Source) list(ctx context.Context, i *tool.Invocation) tool.Result {
	var args struct {
		Path  string `json:"path"`
		Depth int    `json:"depth"`
	}
	if err := arguments(i.Arguments, &args); err != nil {
		return invalid("The arguments can't be read: %v.", err)
	}
	root, spot, result := s.enterDir(i, args.Path)
	if root == nil {
		return result
	}
	defer func() { _ = root.Close(); _ = spot.Close() }()
	l := listing{ctx: ctx, root: root, depth: max(1, args.Depth)}
	if err := l.add(".", 0); err != nil {
		return fault(shownPath(args.Path), err)
	}
	if ctx.Err() != nil {
		return cancelled()
	}
	text := "(empty directory)"
	if l.count > 0 {
		if l.left > 0 {
			fmt.Fprintf(&l.out, "[%d more entries were left out]", l.left)
		}
		text = strings.TrimSuffix(l.out.String(), "\n")
	}
	return succeeded(text, facts{Path: spot.Place().Path, Count: &l.count, More: l.left > 0})
}

// enterDir opens the directory of a call as a root. Without a root the result says why. The caller closes both.
func (s *Source) enterDir(i *tool.Invocation, path string) (*os.Root, *fence.Spot, tool.Result) {
	spot, result := s.enter(i, path)
	if spot == nil {
		return nil, nil, result
	}
	root, err := spot.OpenDir()
	if err != nil {
		defer func() { _ = spot.Close() }()
		return nil, nil, s.missing(i, spot, shownPath(path), err)
	}
	return root, spot, tool.Result{}
}

// shownPath names the workspace in messages when no path was given.
func shownPath(path string) string {
	if path == "" {
		return "."
	}
	return path
}

type listing struct {
	ctx   context.Context
	root  *os.Root
	depth int
	out   strings.Builder
	count int
	left  int
}

func (l *listing) add(dir string, level int) error {
	entries, err := readDir(l.root, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if l.ctx.Err() != nil {
			return nil
		}
		isDir := e.IsDir()
		if l.count == maxListed {
			l.left++
		} else {
			l.count++
			l.out.WriteString(strings.Repeat("  ", level))
			l.out.WriteString(oneLine(e.Name()))
			switch {
			case isDir:
				l.out.WriteByte('/')
			case e.Type()&fs.ModeSymlink != 0:
				l.out.WriteByte('@')
			}
			l.out.WriteByte('\n')
		}
		if isDir && level+1 < l.depth && e.Name() != ".git" {
			if err := l.add(path.Join(dir, e.Name()), level+1); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// readDir reads a directory below a root, sorted by name.
func readDir(root *os.Root, dir string) ([]fs.DirEntry, error) {
	f, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// oneLine keeps a name on one line.
func oneLine(name string) string {
	if !strings.ContainsAny(name, "\n\r\t") {
		return plaintext.Clean(name)
	}
	return plaintext.Clean(strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(name))
}
