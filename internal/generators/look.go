package generators

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/points/generator"
)

// Limits of a look at a workspace.
const (
	maxEntries = 2000     // entries of the top directory
	maxFile    = 64 << 10 // bytes of a file
)

// look suggests what to do first in a workspace, from the names in its top directory and a few files there. A directory that
// can't be read is an error.
func look(workspace string) ([]string, error) {
	names, err := topNames(workspace)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 || len(names) == 1 && names[".git"] {
		return []string{"Start a project here: say what it should do"}, nil
	}
	w := view{workspace, names}
	var out []string
	out = append(out, w.unfinished()...)
	out = append(out, "Explain how "+terminal.Line(filepath.Base(workspace), 80)+" is put together")
	if command := w.test(); command != "" {
		out = append(out, "Run "+command+" and repair what fails")
	}
	if !names["AGENTS.md"] && !names["CONTEXT.md"] {
		out = append(out, "Write AGENTS.md: how this project is built and tested, and what to watch out for")
	}
	if !w.hasReadme() {
		out = append(out, "Write a README that says what this project is for and how to start")
	}
	out = append(out, "Find the TODO comments and say which one to do first")
	return out[:min(len(out), generator.MaxSuggestions)], nil
}

// topNames returns the names in a directory.
func topNames(dir string) (map[string]bool, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	list, err := d.Readdirnames(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	names := make(map[string]bool, len(list))
	for _, n := range list {
		names[n] = true
	}
	return names, nil
}

// view is a workspace that is looked at.
type view struct {
	workspace string
	names     map[string]bool
}

// unfinished is what git was left in the middle of.
func (w view) unfinished() []string {
	if !w.names[".git"] {
		return nil
	}
	var out []string
	for _, s := range []struct{ file, text string }{
		{"MERGE_HEAD", "Finish the merge that was begun: look at the conflicts"},
		{"rebase-merge", "Finish the rebase that was begun"},
		{"rebase-apply", "Finish the rebase that was begun"},
		{"CHERRY_PICK_HEAD", "Finish the cherry-pick that was begun"},
		{"BISECT_LOG", "Go on with the bisection that was begun"},
	} {
		if _, err := os.Lstat(filepath.Join(w.workspace, ".git", s.file)); err == nil {
			out = append(out, s.text)
		}
	}
	return out
}

// test is the command that runs the tests; blank when none is known.
func (w view) test() string {
	switch {
	case w.makes("test"):
		return "make test"
	case w.names["go.mod"]:
		return "go test ./..."
	case w.names["Cargo.toml"]:
		return "cargo test"
	case w.scripted("test"):
		return "npm test"
	case w.names["pytest.ini"] || w.names["tox.ini"] || w.names["conftest.py"]:
		return "pytest"
	case w.names["mix.exs"]:
		return "mix test"
	}
	return ""
}

func (w view) hasReadme() bool {
	for name := range w.names {
		if strings.HasPrefix(strings.ToLower(name), "readme") {
			return true
		}
	}
	return false
}

// makes reports whether the Makefile has a target.
func (w view) makes(target string) bool {
	if !w.names["Makefile"] {
		return false
	}
	lines := bufio.NewScanner(strings.NewReader(w.read("Makefile")))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), target); ok && strings.HasPrefix(strings.TrimSpace(rest), ":") &&
			!strings.HasPrefix(strings.TrimSpace(rest), ":=") {
			return true
		}
	}
	return false
}

// scripted reports whether package.json has a script.
func (w view) scripted(name string) bool {
	var p struct {
		Scripts map[string]string `json:"scripts"`
	}
	return w.names["package.json"] && json.Unmarshal([]byte(w.read("package.json")), &p) == nil && p.Scripts[name] != ""
}

// read returns the beginning of a regular file of the top directory; blank when it can't be read.
func (w view) read(name string) string {
	path := filepath.Join(w.workspace, name)
	// Nothing but a regular file: opening a pipe would wait for its writer.
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return ""
	}
	return string(text)
}
