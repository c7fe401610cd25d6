package builtin

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/internal/builtin/ignore"
)

// maxIgnoreFile is how much of one .gitignore is read.
const maxIgnoreFile = 1 << 20

// walker visits the files below a directory in the order of their paths. It leaves out what git ignores, everything under
// .git, and what holds credentials. Links to directories are not entered, and what can't be read is left out.
type walker struct {
	ctx  context.Context
	root *os.Root
	// base is the directory below the root where the walk starts. It was named: when it is itself ignored, the rules
	// don't count below it.
	base string
	// secret reports whether a path below the root is to be left out.
	secret func(rel string) bool
	// visit is called for each file with its path below the root; false ends the walk.
	visit func(rel string, e fs.DirEntry) bool
}

// newWalker makes a walker for a directory that was entered: from the workspace down, so that the rules on the way count,
// or for a directory outside from itself down. The caller closes dir after the walk.
func newWalker(ctx context.Context, f *fence.Fence, spot *fence.Spot, dir *os.Root) *walker {
	place := spot.Place()
	w := &walker{ctx: ctx, root: dir, base: "."}
	top := place.Path
	if !place.Outside {
		w.root, w.base, top = spot.Root, spot.Name, f.Workspace()
	}
	w.secret = func(rel string) bool { return f.Credential(filepath.Join(top, filepath.FromSlash(rel))) }
	if place.Credential {
		// The directory itself was approved as one with credentials.
		w.secret = func(string) bool { return false }
	}
	return w
}

// below returns a path of the walk as seen from dir, a directory of the walk.
func below(dir, rel string) string {
	if dir == "." {
		return rel
	}
	return strings.TrimPrefix(rel, dir+"/")
}

// walk runs the walk and reports whether it came to its end.
func (w *walker) walk() bool {
	rules, named := w.rules()
	return w.dir(w.base, rules, named)
}

// rules collects the rules from the root down to the base, the base's own not among them. It reports whether the base lies
// in what is ignored, or in .git.
func (w *walker) rules() (rules *ignore.List, named bool) {
	if w.base == "." {
		return nil, false
	}
	at := "."
	for part := range strings.SplitSeq(w.base, "/") {
		rules = rules.Add(at, w.ignoreFile(at))
		at = path.Join(at, part)
		if part == ".git" || rules.Ignored(at, true) {
			return nil, true
		}
	}
	return rules, false
}

func (w *walker) dir(dir string, rules *ignore.List, all bool) bool {
	if w.ctx.Err() != nil {
		return false
	}
	entries, err := readDir(w.root, dir)
	if err != nil {
		return true
	}
	if !all && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".gitignore" }) {
		rules = rules.Add(dir, w.ignoreFile(dir))
	}
	// The order of paths is that of names where a directory's name ends in a slash.
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(sortName(a), sortName(b)) })
	for _, e := range entries {
		rel := path.Join(dir, e.Name())
		if !all && (e.Name() == ".git" || rules.Ignored(rel, e.IsDir())) || w.secret(rel) {
			continue
		}
		if e.IsDir() {
			if !w.dir(rel, rules, all) {
				return false
			}
			continue
		}
		if !w.visit(rel, e) {
			return false
		}
	}
	return true
}

func sortName(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

func (w *walker) ignoreFile(dir string) []byte {
	return readSmall(w.root, path.Join(dir, ".gitignore"))
}

func readSmall(root *os.Root, name string) []byte {
	f, _, err := fence.OpenRegular(root, name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return nil
	}
	return data
}
