package crystalcmd

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/plugins"
)

// toolSetVerbs are the verbs about external tool sets.
func (p *program) toolSetVerbs() []*cobra.Command {
	var o sourceOptions
	verb := o.verb
	one := func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes one name: the directory of an external tool set", c.CommandPath())
		}
		return nil
	}
	return []*cobra.Command{
		verb("list", "List the external tool sets of both trees", cobra.NoArgs,
			func(f terminal.Format, s plugins.Source, _ []string) error { return p.listToolSets(f, s) }),
		verb("show <directory>", "Show one external tool set", one,
			func(f terminal.Format, s plugins.Source, args []string) error { return p.showToolSet(f, s, args[0]) }),
		verb("enable <directory>", "Switch an external tool set on", one,
			func(f terminal.Format, s plugins.Source, args []string) error {
				return p.switchToolSet(f, s, args[0], true)
			}),
		verb("disable <directory>", "Switch an external tool set off", one,
			func(f terminal.Format, s plugins.Source, args []string) error {
				return p.switchToolSet(f, s, args[0], false)
			}),
	}
}

// reservedTool reports whether a name belongs to a tool of the host, which compares without case.
func reservedTool(name string) bool {
	return slices.ContainsFunc(reservedTools, func(r string) bool { return strings.EqualFold(r, name) })
}

// toolSets are the external tool sets that a host loads: none when they are switched off, and none in safe mode.
func (p *program) toolSets(b blueprint) home.ToolSets {
	if !b.config.ExternalTools || p.safe() {
		return home.ToolSets{}
	}
	return home.DiscoverToolSets(b.place.home, b.place.tree, reservedTool)
}

// toolSetCatalog is what the verbs about tool sets work on.
type toolSetCatalog struct {
	rows []home.ToolSetRow
	off  string // why no set is loaded, whatever its switch; blank when they are
}

// readToolSets reads manifests and settings. It runs nothing, so it needs no trust.
func (p *program) readToolSets() (*toolSetCatalog, error) {
	pl, err := p.directories()
	if err != nil {
		return nil, err
	}
	if err := p.load(pl); err != nil {
		return nil, err
	}
	if pl.workspace.Tree != "" {
		if trusted, err := pl.home.Trusted(pl.workspace); err == nil && trusted {
			if err := pl.settings.AddProject(pl.workspace.Tree); err != nil {
				return nil, err
			}
		}
	}
	p.notes(pl.workspace.Notes)
	c := &toolSetCatalog{rows: home.DiscoverToolSets(pl.home, pl.workspace.Tree, reservedTool).Rows}
	if !pl.settings.Config.ExternalTools {
		c.off = "crystal: external tools are off (externalTools: false in config.json)"
	}
	return c, nil
}

// notice tells that no set is loaded.
func (c *toolSetCatalog) notice(p *program) {
	if c.off != "" {
		p.say(c.off)
	}
}

func (c *toolSetCatalog) find(s plugins.Source, name string) (*home.ToolSetRow, error) {
	for _, source := range []plugins.Source{plugins.SourceProject, plugins.SourceHome} {
		for i := range c.rows {
			if r := &c.rows[i]; r.Source == source && (s == "" || s == source) && r.Directory == name {
				return r, nil
			}
		}
	}
	where := ""
	if s != "" {
		where = fmt.Sprintf(" in the %s tree", s)
	}
	if !home.ValidDirectory(name) {
		return nil, fmt.Errorf("%q is no name of a tool set directory%s; crystal tools list shows what there is", name, where)
	}
	return nil, fmt.Errorf("there is no external tool set %q%s; crystal tools list shows what there is", name, where)
}

var toolSetColumns = []string{"Directory", "Source", "Enabled", "Effective", "Path", "Runner", "Catalogs", "Approval", "Tools"}

func (p *program) listToolSets(f terminal.Format, s plugins.Source) error {
	c, err := p.readToolSets()
	if err != nil {
		return err
	}
	c.notice(p)
	l := terminal.Listing{Columns: toolSetColumns, Empty: "There are no external tool sets."}
	for i := range c.rows {
		r := &c.rows[i]
		if s != "" && r.Source != s {
			continue
		}
		record := newToolSetRecord(r)
		l.Records = append(l.Records, record)
		l.Rows = append(l.Rows, record.cells())
	}
	return l.Print(p.out(), f)
}

// toolSetRecord is one tool set as a line of JSON.
type toolSetRecord struct {
	Directory string         `json:"directory"`
	Source    string         `json:"source"`
	Enabled   *bool          `json:"enabled"`
	Effective bool           `json:"effective"`
	Path      string         `json:"path"`
	Runner    *string        `json:"runner"`
	Catalogs  []string       `json:"catalogs"`
	Approval  *string        `json:"approval"`
	Tools     []string       `json:"tools"`
	Loaded    *bool          `json:"loaded"` // not known outside a session
	Problem   *problemRecord `json:"problem"`
}

func newToolSetRecord(r *home.ToolSetRow) toolSetRecord {
	out := toolSetRecord{
		Directory: r.Directory, Source: string(r.Source), Enabled: r.Enabled, Effective: r.Effective, Path: r.Path,
		Runner: orNull(r.ToolSet.Runner),
	}
	if r.Problem != nil {
		out.Problem = &problemRecord{orNull(string(r.Problem.Code)), r.Problem.Text}
		return out
	}
	out.Catalogs, out.Approval = catalogs(r.ToolSet.Offer), orNull(wish(r.ToolSet.Offer))
	for _, t := range r.ToolSet.Tools {
		out.Tools = append(out.Tools, t.Name)
	}
	return out
}

// cells are the values of the columns. A problem stands in place of the tools.
func (r *toolSetRecord) cells() []string {
	cell := func(text *string) string {
		if text == nil {
			return ""
		}
		return *text
	}
	enabled, tools := "", list(r.Tools)
	if r.Enabled != nil {
		enabled = terminal.Yes(*r.Enabled)
	}
	if r.Problem != nil {
		tools = r.Problem.Text
	}
	return []string{
		r.Directory, r.Source, enabled, terminal.Yes(r.Effective), r.Path, cell(r.Runner), list(r.Catalogs), cell(r.Approval), tools,
	}
}

func catalogs(o home.Offer) []string {
	var out []string
	if o.Plan {
		out = append(out, "plan")
	}
	if o.Work {
		out = append(out, "work")
	}
	return out
}

// wish is what a manifest says of approval.
func wish(o home.Offer) string {
	if o.Always {
		return "always"
	}
	return "inherit"
}

func (p *program) showToolSet(f terminal.Format, s plugins.Source, name string) error {
	c, err := p.readToolSets()
	if err != nil {
		return err
	}
	r, err := c.find(s, name)
	if err != nil {
		return err
	}
	c.notice(p)
	return p.printToolSet(f, r)
}

// printToolSet prints one tool set, label and value per line.
func (p *program) printToolSet(f terminal.Format, r *home.ToolSetRow) error {
	record := newToolSetRecord(r)
	if f == terminal.JSON {
		return terminal.PrintJSON(p.out(), record)
	}
	var pairs []terminal.Pair
	for i, cell := range record.cells() {
		pairs = append(pairs, terminal.Pair{Label: toolSetColumns[i], Value: cell})
	}
	for _, t := range r.ToolSet.Tools {
		pairs = append(pairs, terminal.Pair{Label: t.Name, Value: strings.Join(t.Command, " ") + ": " + t.Description})
	}
	return terminal.PrintPairs(p.out(), pairs...)
}

// switchToolSet turns one tool set on or off, in its manifest.
func (p *program) switchToolSet(f terminal.Format, s plugins.Source, name string, on bool) error {
	c, err := p.readToolSets()
	if err != nil {
		return err
	}
	r, err := c.find(s, name)
	if err != nil {
		return err
	}
	word := map[bool]string{true: "enabled", false: "disabled"}[on]
	changed, err := home.EnableToolSet(filepath.Join(r.Path, home.ToolSetFile), r.Directory, on, reservedTool)
	if err != nil {
		return fmt.Errorf("%s was not %s: %w", name, word, err)
	}
	if !changed {
		p.say(fmt.Sprintf("crystal: %s is already %s", name, word))
	}
	if c, err = p.readToolSets(); err != nil {
		return err
	}
	if on {
		c.notice(p)
	}
	if r, err = c.find(s, name); err != nil {
		return err
	}
	return p.printToolSet(f, r)
}
