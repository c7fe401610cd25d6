package home

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/plugins"
)

// Entry is one directory of a catalog: of plugins, or of external tool sets.
type Entry struct {
	Directory string
	Source    plugins.Source
	Path      string // of the directory
	Enabled   *bool  // nil: not known
	Effective bool   // its name is legal, and no project directory of that name hides it
	Problem   *Note  // why it is not loaded, or what it lacks
	silent    bool   // the problem is shown in listings only
}

// catalogKind is what differs between the catalogs.
type catalogKind struct {
	root     string // below the home directory and the project tree
	manifest string // of each entry
	misnamed Code   // of a directory whose name is not allowed
	twice    Code   // of a directory that another entry leads to as well
}

var (
	pluginCatalog  = catalogKind{"plugins", ManifestFile, Code(plugins.PluginDirectoryInvalid), Code(plugins.PluginIdConflict)}
	toolSetCatalog = catalogKind{"tools", ToolSetFile, ToolSetInvalid, ToolSetInvalid}
)

// entries lists the directories of both trees, by name and home before project. A project directory hides the home
// directory of its name before its own manifest is parsed. A blank tree has none.
func (k catalogKind) entries(h Dir, tree string) []Entry {
	out := k.scan(h.Path(k.root), plugins.SourceHome, "")
	if tree != "" {
		out = append(out, k.scan(filepath.Join(tree, k.root), plugins.SourceProject, filepath.Dir(tree))...)
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return strings.Compare(a.Directory, b.Directory) })
	hidden := make(map[string]bool)
	for i := range out {
		e := &out[i]
		if e.Source == plugins.SourceProject && e.Problem == nil && exists(k.file(e)) {
			hidden[e.Directory] = true
		}
	}
	for i := range out {
		e := &out[i]
		e.Effective = ValidDirectory(e.Directory) && (e.Source == plugins.SourceProject || !hidden[e.Directory])
	}
	return out
}

// file names the manifest of an entry.
func (k catalogKind) file(e *Entry) string { return filepath.Join(e.Path, k.manifest) }

// scan lists the immediate subdirectories of a root. fence, when it is not blank, is a directory that no link may leave.
func (k catalogKind) scan(root string, source plugins.Source, fence string) []Entry {
	found, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	var out []Entry
	seen := make(map[string]string) // resolved path to the name that has it
	for _, d := range found {
		path := filepath.Join(root, d.Name())
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if info, err := os.Stat(real); err != nil || !info.IsDir() {
			continue
		}
		e := Entry{Directory: d.Name(), Source: source, Path: path}
		switch first, twice := seen[real]; {
		case !ValidDirectory(d.Name()):
			e.problem(k.misnamed, fmt.Sprintf(
				"%s is not loaded: a directory name is a letter and then up to 63 letters, digits, _, . or -", path), "rename the directory")
		case fence != "" && !inside(fence, real):
			e.problem(ProjectTreeIgnored, path+" leads out of the workspace and is not followed", "")
		case twice:
			e.problem(k.twice, fmt.Sprintf("%s is the same directory as %s, which keeps it", path, first), "remove one of the two")
		default:
			seen[real] = d.Name()
		}
		out = append(out, e)
	}
	return out
}

// ValidDirectory reports whether a directory may be an entry: a letter, then letters, digits, _, . and -, at most 64.
func ValidDirectory(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-')) {
			return false
		}
	}
	return true
}

func (e *Entry) problem(code Code, text, fix string) {
	n := Note{Code: code, Severity: Warning, Directory: e.Directory, Source: string(e.Source), Text: text, Fix: fix}.Cleaned()
	e.Problem = &n
}

// noManifest tells, in listings alone, that the directory is ignored.
func (e *Entry) noManifest() {
	e.problem("", "no manifest", "")
	e.silent = true
}
