package crystalcmd

import (
	"fmt"

	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/home/jsonc"
)

// place is where a command works: home directory, workspace, settings.
type place struct {
	home      home.Dir
	workspace home.Workspace
	settings  *home.Settings
	// tree is the project tree that has force; blank when there is none, or it is ignored or not trusted.
	tree string
}

// safe reports whether the host starts in safe mode.
func (p *program) safe() bool {
	switch p.env("CRYSTAL_SAFE_MODE") {
	case "1", "true":
		return true
	}
	return p.options.safeMode
}

// directories finds home and workspace.
func (p *program) directories() (*place, error) {
	h, err := home.Find(p.options.home, p.env)
	if err != nil {
		return nil, err
	}
	dir := p.options.workspace
	if dir == "" {
		dir = "."
	}
	ws, err := home.OpenWorkspace(h, dir)
	if err != nil {
		return nil, fmt.Errorf("opening the workspace: %w", err)
	}
	if p.safe() {
		ws.Tree, ws.Notes = "", nil
	}
	return &place{home: h, workspace: ws}, nil
}

// load reads the settings of home.
func (p *program) load(pl *place) error {
	s, err := home.LoadSettings(pl.home, p.env, p.safe())
	if err != nil {
		return err
	}
	pl.settings = s
	return nil
}

// trusted gives the project tree force when the workspace is trusted, and reads its settings. What waits for trust is
// returned when it is not.
func (p *program) trusted(pl *place, given bool) (waiting []string, err error) {
	ws := pl.workspace
	if ws.Tree == "" {
		return nil, nil
	}
	if waiting = ws.Waiting(); len(waiting) > 0 && !given {
		ok, err := pl.home.Trusted(ws)
		if err != nil {
			return nil, err
		}
		if !ok {
			return waiting, nil
		}
	}
	pl.tree = ws.Tree
	return nil, pl.settings.AddProject(ws.Tree)
}

// open finds directories and settings for a verb that obeys trust and asks nobody: an untrusted project tree is ignored
// with a notice.
func (p *program) open() (*place, error) {
	pl, err := p.directories()
	if err != nil {
		return nil, err
	}
	if err := p.load(pl); err != nil {
		return nil, err
	}
	waiting, err := p.trusted(pl, false)
	if err != nil {
		return nil, err
	}
	if len(waiting) > 0 {
		p.note(untrusted(pl.workspace, waiting))
	}
	p.notes(pl.workspace.Notes)
	p.notes(pl.settings.Notes)
	return pl, nil
}

func untrusted(ws home.Workspace, waiting []string) home.Note {
	return home.Note{
		Code: home.WorkspaceUntrusted, Severity: home.Warning,
		Text: fmt.Sprintf("the workspace %s is not trusted, so these have no force: %s", ws.Path, list(waiting)),
		Fix:  "look at them, then use --workspace-trust on",
	}.Cleaned()
}

// disabledIn returns the ids that a config.json lists as disabled; a file that can't be read lists none.
func disabledIn(file string) []string {
	o, err := jsonc.Read(file)
	if err != nil {
		return nil
	}
	ids, _ := o.Fields(func(jsonc.Problem) {}).TextsThat("disabledPlugins", func(string) bool { return true }, "")
	return ids
}

// notes prints notes on stderr.
func (p *program) notes(list []home.Note) {
	for _, n := range list {
		p.note(n)
	}
}

func (p *program) note(n home.Note) {
	p.say("[Note] " + noteLine(n))
}

// noteLine is a note as people read it.
func noteLine(n home.Note) string {
	text := n.Text
	if n.Code != "" {
		text = fmt.Sprintf("%s: %s", n.Code, text)
	}
	if n.Fix != "" {
		text += " (" + n.Fix + ")"
	}
	return text
}
