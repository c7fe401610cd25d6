package home

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/crystalkernel/crystal/internal/home/jsonc"
)

// ExecRunner runs each call of a tool as a child process. It is the only runner.
const ExecRunner = "exec"

// toolSetTimeout is the time of a call when a manifest names none.
const toolSetTimeout = 120 * time.Second

// ToolSet is what a tools.json says.
type ToolSet struct {
	Enabled bool
	Runner  string
	Offer   // of the set; each tool may have its own
	Tools   []ExternalTool
}

// Offer says when a tool is offered and how its calls are approved.
type Offer struct {
	Plan, Work bool // the catalogs that it is in
	Always     bool // its author wishes that calls which stay in the workspace run unasked
}

// ExternalTool is one tool of a set.
type ExternalTool struct {
	Name, Description string
	Schema            json.RawMessage // of its arguments
	Command           []string        // program and first arguments; empty: there is no program, and each call fails
	Flags             []Flag          // in their order
	Paths             []string        // names of arguments that are paths
	Offer
	Timeout time.Duration // of one call; Unlimited for none
	Stdin   bool          // the arguments are sent on standard input
	Content bool          // the output is a JSON object with text and images
}

// Flag passes one argument of a call as an option of the program.
type Flag struct{ Argument, Option string }

// ToolSetRow is one directory below a tools directory.
type ToolSetRow struct {
	Entry
	ToolSet ToolSet
}

// Loaded reports whether the tools of the set are offered.
func (r *ToolSetRow) Loaded() bool { return r.Problem == nil && r.Effective && r.ToolSet.Enabled }

// ToolSets is what the tools directories of a host say.
type ToolSets struct {
	Rows  []ToolSetRow // by directory name, home before project
	Notes []Note
}

// DiscoverToolSets reads the external tool sets of home and of a project tree, by the rules of [Discover]. reserved says
// which names belong to tools of the host; a set with one of them is skipped.
func DiscoverToolSets(h Dir, tree string, reserved func(name string) bool) ToolSets {
	var out ToolSets
	for _, e := range toolSetCatalog.entries(h, tree) {
		r := ToolSetRow{Entry: e}
		notes := r.read(reserved)
		switch {
		case !r.Effective && (r.Problem == nil || ValidDirectory(r.Directory)):
			// What is hidden is no news.
		case r.Problem != nil && !r.silent:
			out.Notes = append(out.Notes, *r.Problem)
		case r.Loaded():
			out.Notes = append(out.Notes, notes...)
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

func (r *ToolSetRow) read(reserved func(string) bool) []Note {
	if r.Problem != nil {
		return nil
	}
	path := toolSetCatalog.file(&r.Entry)
	if !exists(path) {
		r.noManifest()
		return nil
	}
	s, notes, err := ReadToolSet(path, r.Directory, reserved)
	var broken *ToolSetError
	if errors.As(err, &broken) {
		if broken.Key != "" && broken.Key != "enabled" {
			r.Enabled = &s.Enabled
		}
		r.problem(ToolSetInvalid, fmt.Sprintf("tool set %s is skipped: %s", r.Directory, broken.Text), "put "+path+" right")
		return nil
	}
	r.ToolSet, r.Enabled = s, &s.Enabled
	return notes
}

// ToolSetError is the first thing that is wrong with a tools.json.
type ToolSetError struct {
	Key  string // where; blank when the file is no JSON object or can't be read
	Text string // with the path of the file
	Err  error  // cause, when there is one
}

// Error says what is wrong.
func (e *ToolSetError) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *ToolSetError) Unwrap() error { return e.Err }

// ReadToolSet reads a tools.json; directory is the name of its directory, which may stand for the name of a tool. Keys that
// mean nothing are ignored with a note. The error is a *[ToolSetError]: a set with one fault is not used at all.
func ReadToolSet(path, directory string, reserved func(string) bool) (ToolSet, []Note, error) {
	s := ToolSet{Enabled: true}
	if err := readable(path); err != nil {
		return s, nil, &ToolSetError{Text: "the manifest can't be read: " + err.Error(), Err: err}
	}
	o, err := jsonc.Read(path)
	if err != nil {
		return s, nil, &ToolSetError{Text: err.Error(), Err: err}
	}
	r := toolSetReader{path: path, reserved: reserved}
	r.set(o, directory, &s)
	if r.fault != nil {
		return s, nil, r.fault
	}
	return s, r.notes, nil
}

// EnableToolSet changes the switch of a tools.json and nothing else. The manifest must be whole: else the error is a
// *[ToolSetError] and the file stays as it is.
func EnableToolSet(path, directory string, on bool, reserved func(string) bool) (changed bool, err error) {
	if _, _, err := ReadToolSet(path, directory, reserved); err != nil {
		return false, err
	}
	return setEnabled(path, on)
}

// toolSetReader reads one tools.json.
type toolSetReader struct {
	path     string
	reserved func(string) bool
	notes    []Note
	fault    *ToolSetError // the first one
}

func (r *toolSetReader) report(p jsonc.Problem) {
	if p.Kind == jsonc.BadValue {
		r.fail(p.Path, p.String())
		return
	}
	r.notes = append(r.notes, problemNote(r.path, p))
}

func (r *toolSetReader) fail(key, text string) {
	if r.fault == nil {
		r.fault = &ToolSetError{Key: key, Text: r.path + ": " + text}
	}
}

// shorthand are the keys at the root that stand for one tool of the directory's name.
var shorthand = []string{"description", "schema", "argv", "pathArguments", "output"}

func (r *toolSetReader) set(o *jsonc.Object, directory string, s *ToolSet) {
	f := o.Fields(r.report)
	f.Known("$schema")
	set(&s.Enabled)(f.Bool("enabled"))
	if runner, ok := f.Text("runner"); ok && runner != ExecRunner {
		f.Bad("runner", fmt.Sprintf("%q; a Go library becomes a tool in a compiled plugin", ExecRunner))
	} else if !ok && !o.Has("runner") {
		f.Bad("runner", fmt.Sprintf("%q", ExecRunner))
	}
	s.Runner = ExecRunner
	root := ExternalTool{Offer: Offer{Plan: true, Work: true}, Timeout: toolSetTimeout, Stdin: true}
	r.common(f, o, &root)
	set(&root.Stdin)(f.Bool("stdin"))
	s.Offer = root.Offer
	short := slices.ContainsFunc(shorthand, o.Has)
	tools, listed := f.Objects("tools")
	switch {
	case listed && short:
		f.Bad("tools", "what stands beside none of "+fmt.Sprint(shorthand))
	case listed && len(tools) == 0:
		f.Bad("tools", "an array with at least one tool")
	case listed:
		for _, inner := range tools {
			one := root
			g := inner.Fields(r.report)
			set(&one.Name)(g.Text("name"))
			if r.named(g, &one) {
				r.tool(g, inner, &one)
				one.Command = slices.Concat(root.Command, one.Command)
				g.Done()
			}
			s.Tools = append(s.Tools, one)
		}
	case short:
		one := root
		one.Name = directory
		if !validPart(directory) || r.reserved(directory) {
			r.fail("description", fmt.Sprintf("%q can't be the name of a tool; use tools", directory))
		}
		r.shape(f, o, &one)
		s.Tools = []ExternalTool{one}
	case !o.Has("tools"):
		f.Bad("tools", "an array with at least one tool")
	}
	r.whole(f, s)
	f.Done()
}

// named checks the name of a tool.
func (r *toolSetReader) named(f *jsonc.Fields, t *ExternalTool) bool {
	switch {
	case !validPart(t.Name):
		f.Bad("name", "a letter, then up to 63 letters, digits, _ and -")
	case r.reserved(t.Name):
		f.Bad("name", fmt.Sprintf("a name that no tool of the host has; %q is one of its own", t.Name))
	default:
		return true
	}
	return false
}

// whole checks what only shows in the whole set.
func (r *toolSetReader) whole(f *jsonc.Fields, s *ToolSet) {
	seen := make(map[string]bool)
	program := false
	for _, t := range s.Tools {
		if seen[t.Name] {
			r.fail("tools", fmt.Sprintf("two tools have the name %q", t.Name))
		}
		seen[t.Name] = true
		program = program || len(t.Command) > 0
	}
	if len(s.Tools) > 0 && !program {
		f.Bad("command", "the program to run, here or in each tool")
	}
}

// common takes the keys that a set and a tool have alike.
func (r *toolSetReader) common(f *jsonc.Fields, o *jsonc.Object, t *ExternalTool) {
	if word, ok := f.OneOf("approval", "inherit", "always"); ok {
		t.Always = word == "always"
	}
	t.Command, _ = f.Texts("command")
	set(&t.Timeout)(f.DurationOrUnlimited("timeout"))
	if words, ok := f.Texts("catalogs"); ok {
		t.Plan, t.Work = slices.Contains(words, "plan"), slices.Contains(words, "work")
		if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return w != "plan" && w != "work" }) {
			f.Bad("catalogs", `"plan", "work" or both`)
		}
	}
	if old := "timeoutSeconds"; o.Has(old) {
		f.Known(old)
		r.report(jsonc.Problem{Kind: jsonc.UnknownKey, Path: o.Path(old), Near: "timeout"})
	}
}

// tool takes what a tool of a list says.
func (r *toolSetReader) tool(f *jsonc.Fields, o *jsonc.Object, t *ExternalTool) {
	r.common(f, o, t)
	r.shape(f, o, t)
}

// shape takes what makes a tool.
func (r *toolSetReader) shape(f *jsonc.Fields, o *jsonc.Object, t *ExternalTool) {
	if text, ok := f.Text("description"); ok {
		t.Description = text
	} else if !o.Has("description") {
		f.Bad("description", "a text that tells the model what the tool does")
	}
	if _, ok := f.Object("schema"); ok {
		t.Schema = o.JSON("schema")
	} else if !o.Has("schema") {
		f.Bad("schema", "the JSON schema of the arguments")
	}
	if inner, ok := f.Object("argv"); ok {
		g := inner.Fields(r.report)
		for _, argument := range inner.Keys() {
			if option, ok := g.Text(argument); ok {
				t.Flags = append(t.Flags, Flag{argument, option})
			}
		}
	}
	t.Paths, _ = f.Texts("pathArguments")
	if word, ok := f.OneOf("output", "text", "content"); ok {
		t.Content = word == "content"
	}
}

// validPart reports whether a name may be that of a tool.
func validPart(name string) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || r == '_' || r == '-')) {
			return false
		}
	}
	return name != "" && len(name) <= 64
}
