package crystalcmd

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/deps"
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/plugins"
)

func (p *program) pluginsCommand() *cobra.Command {
	o := sourceOptions{host: true}
	verb := o.verb
	return group("plugins", "List plugins and switch them on and off",
		verb("list", "List the plugin directories of both trees, and compiled plugins without one", cobra.NoArgs,
			func(f terminal.Format, s plugins.Source, _ []string) error { return p.listPlugins(f, s) }),
		verb("show <name>", "Show one plugin", oneName,
			func(f terminal.Format, s plugins.Source, args []string) error { return p.showPlugin(f, s, args[0]) }),
		verb("enable <name>", "Switch a plugin on", oneName,
			func(f terminal.Format, s plugins.Source, args []string) error {
				return p.switchPlugin(f, s, args[0], true)
			}),
		verb("disable <name>", "Switch a plugin off", oneName,
			func(f terminal.Format, s plugins.Source, args []string) error {
				return p.switchPlugin(f, s, args[0], false)
			}),
		reserved("trust"), reserved("untrust"), reserved("install"), reserved("remove"), reserved("new"), reserved("doctor"),
	)
}

func oneName(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes one name: a plugin directory or a plugin id", c.CommandPath())
	}
	return nil
}

// catalog is what the plugin verbs work on: every directory, and every compiled plugin without one.
type catalog struct {
	place   *place
	rows    []pluginRow
	on      bool     // discovery is on
	disable []string // ids that the configuration of home or project disables
}

// pluginRow is one line of the listing.
type pluginRow struct {
	home.Row
	compiled *plugins.Plugin // nil: not compiled in
}

// catalog reads manifests and settings. It runs nothing, so it needs no trust.
func (p *program) catalog() (*catalog, error) {
	pl, err := p.directories()
	if err != nil {
		return nil, err
	}
	if err := p.load(pl); err != nil {
		return nil, err
	}
	c := &catalog{place: pl, on: pl.settings.Config.Plugins, disable: pl.settings.Config.DisabledPlugins}
	if tree := pl.workspace.Tree; tree != "" {
		if trusted, err := pl.home.Trusted(pl.workspace); err == nil && trusted {
			if err := pl.settings.AddProject(tree); err != nil {
				return nil, err
			}
		}
		for _, id := range disabledIn(projectConfig(pl.workspace)) {
			c.disable = append(c.disable, strings.ToLower(id))
		}
	}
	p.notes(pl.workspace.Notes)
	compiled := make(map[string]*plugins.Plugin)
	for i := range p.list {
		compiled[p.list[i].ID] = &p.list[i]
	}
	found := home.Discover(pl.home, pl.workspace.Tree, p.known())
	governed := make(map[string]bool)
	for _, r := range found.Rows {
		c.rows = append(c.rows, pluginRow{Row: r, compiled: compiled[r.Manifest.ID]})
		governed[r.Manifest.ID] = true
	}
	for i := range p.list {
		one := &p.list[i]
		if governed[one.ID] {
			continue
		}
		governed[one.ID] = true
		enabled := !slices.Contains(c.disable, one.ID)
		c.rows = append(c.rows, pluginRow{compiled: one, Row: home.Row{
			Entry:    home.Entry{Source: plugins.SourceHost, Enabled: &enabled, Effective: true},
			Manifest: home.Manifest{ID: one.ID, Runtime: home.Compiled},
		}})
	}
	return c, nil
}

// known says which ids this host can serve.
func (p *program) known() home.Known {
	return home.Known{Compiled: func(id string) bool {
		return slices.ContainsFunc(p.list, func(one plugins.Plugin) bool { return one.ID == id })
	}}
}

// projectConfig names the config.json of a project tree; blank where there can be none.
func projectConfig(ws home.Workspace) string {
	if ws.Project == "" {
		return ""
	}
	return filepath.Join(ws.Project, home.ConfigFile)
}

func (p *program) listPlugins(f terminal.Format, s plugins.Source) error {
	c, err := p.catalog()
	if err != nil {
		return err
	}
	c.off(p)
	l := terminal.Listing{
		Columns: []string{"Directory", "Source", "Enabled", "Effective", "Id", "Version", "Path", "Problem"},
		Empty:   "There are no plugins.",
	}
	for _, r := range c.rows {
		if s != "" && r.Source != s {
			continue
		}
		l.Rows = append(l.Rows, r.cells())
		l.Records = append(l.Records, r.record())
	}
	return l.Print(p.out(), f)
}

// off tells that discovery is switched off.
func (c *catalog) off(p *program) {
	if !c.on {
		p.say("crystal: discovery of plugins is off (plugins: false in " + c.place.home.Path(home.ConfigFile) + ")")
	}
}

func (r *pluginRow) version() string {
	if r.compiled == nil {
		return ""
	}
	return r.compiled.Version
}

func (r *pluginRow) enabled() string {
	if r.Enabled == nil {
		return ""
	}
	return terminal.Yes(*r.Enabled)
}

func (r *pluginRow) problem() string {
	if r.Problem == nil {
		return ""
	}
	return r.Problem.Text
}

func (r *pluginRow) cells() []string {
	return []string{
		r.Directory, string(r.Source), r.enabled(), terminal.Yes(r.Effective), r.Manifest.ID, r.version(), r.Path, r.problem(),
	}
}

// pluginRecord is one plugin as a line of JSON.
type pluginRecord struct {
	Directory *string        `json:"directory"`
	Source    string         `json:"source"`
	Enabled   *bool          `json:"enabled"`
	Effective bool           `json:"effective"`
	ID        *string        `json:"id"`
	Version   *string        `json:"version"`
	Path      *string        `json:"path"`
	Loaded    *bool          `json:"loaded"` // not known outside a session
	Problem   *problemRecord `json:"problem"`
}

type problemRecord struct {
	Code *string `json:"code"`
	Text string  `json:"text"`
}

func (r *pluginRow) record() pluginRecord {
	out := pluginRecord{
		Directory: orNull(r.Directory), Source: string(r.Source), Enabled: r.Enabled, Effective: r.Effective,
		ID: orNull(r.Manifest.ID), Version: orNull(r.version()), Path: orNull(r.Path),
	}
	if r.Problem != nil {
		out.Problem = &problemRecord{orNull(string(r.Problem.Code)), r.Problem.Text}
	}
	return out
}

// find finds the row that a name stands for: a directory, project before home, or else a plugin id.
func (c *catalog) find(s plugins.Source, name string) (*pluginRow, error) {
	in := func(r *pluginRow) bool { return s == "" || r.Source == s }
	order := []plugins.Source{plugins.SourceProject, plugins.SourceHome, plugins.SourceHost}
	for _, source := range order {
		for i := range c.rows {
			if r := &c.rows[i]; in(r) && r.Source == source && r.Directory == name && name != "" {
				return r, nil
			}
		}
	}
	id := strings.ToLower(name)
	var first *pluginRow
	for _, source := range order {
		for i := range c.rows {
			r := &c.rows[i]
			if !in(r) || r.Source != source || r.Manifest.ID != id || id == "" {
				continue
			}
			if r.Effective {
				return r, nil
			}
			if first == nil {
				first = r
			}
		}
	}
	if first != nil {
		return first, nil
	}
	// With the source of a tree, a plugin without a directory has its switch in the configuration of that tree.
	for i := range c.rows {
		if r := &c.rows[i]; r.Source == plugins.SourceHost && r.Manifest.ID == id && s != plugins.SourceHost {
			return r, nil
		}
	}
	where := ""
	if s != "" {
		where = fmt.Sprintf(" in the %s tree", s)
	}
	if !home.ValidDirectory(name) && !deps.ValidID(id) {
		return nil, fmt.Errorf("%q is no name of a plugin directory or plugin%s; crystal plugins list shows what there is", name, where)
	}
	return nil, fmt.Errorf("there is no plugin directory or plugin %q%s; crystal plugins list shows what there is", name, where)
}

func (p *program) showPlugin(f terminal.Format, s plugins.Source, name string) error {
	c, err := p.catalog()
	if err != nil {
		return err
	}
	r, err := c.find(s, name)
	if err != nil {
		return err
	}
	c.off(p)
	return p.printPlugin(f, r)
}

// printPlugin prints one plugin, label and value per line.
func (p *program) printPlugin(f terminal.Format, r *pluginRow) error {
	var settings []string
	for key := range r.Manifest.Settings {
		settings = append(settings, key)
	}
	slices.Sort(settings)
	var display, requires string
	var needs deps.Requirements
	if r.compiled != nil {
		display, needs = r.compiled.DisplayName(), r.compiled.Requires
		var lines []string
		for id, version := range needs {
			lines = append(lines, id+" "+version)
		}
		slices.Sort(lines)
		requires = list(lines)
	}
	if f == terminal.JSON {
		return terminal.PrintJSON(p.out(), struct {
			pluginRecord
			DisplayName   *string           `json:"displayName"`
			Runtime       *string           `json:"runtime"`
			Settings      []string          `json:"settings"`
			Requires      deps.Requirements `json:"requires"`
			Contributions map[string]int    `json:"contributions"` // not known outside a session: nothing of the plugin runs here
		}{r.record(), orNull(display), orNull(r.Manifest.Runtime), append([]string{}, settings...), needs, nil})
	}
	labels := []string{"Directory", "Source", "Enabled", "Effective", "Id", "Version", "Path", "Problem"}
	var pairs []terminal.Pair
	for i, cell := range r.cells() {
		pairs = append(pairs, terminal.Pair{Label: labels[i], Value: cell})
	}
	pairs = append(pairs,
		terminal.Pair{Label: "Display name", Value: display}, terminal.Pair{Label: "Runtime", Value: r.Manifest.Runtime},
		terminal.Pair{Label: "Settings", Value: list(settings)}, terminal.Pair{Label: "Requires", Value: requires},
		terminal.Pair{Label: "Contributions"})
	return terminal.PrintPairs(p.out(), pairs...)
}

// switchPlugin turns one plugin on or off: in its manifest, or without one in the list of disabled plugins.
func (p *program) switchPlugin(f terminal.Format, s plugins.Source, name string, on bool) error {
	c, err := p.catalog()
	if err != nil {
		return err
	}
	r, err := c.find(s, name)
	if err != nil {
		return err
	}
	word := map[bool]string{true: "enabled", false: "disabled"}[on]
	var changed bool
	file := ""
	if r.Source == plugins.SourceHost {
		if file, err = c.config(s); err != nil {
			return err
		}
		changed, err = home.DisablePlugin(file, r.Manifest.ID, !on)
	} else {
		file = filepath.Join(r.Path, home.ManifestFile)
		changed, err = home.EnableManifest(file, on)
	}
	if err != nil {
		return fmt.Errorf("%s was not %s: %w", name, word, err)
	}
	if !changed {
		p.say(fmt.Sprintf("crystal: %s is already %s", name, word))
	}
	after, err := p.catalog()
	if err != nil {
		return err
	}
	if on {
		after.off(p)
		after.stillDisabled(p, r)
	}
	if r, err = after.find(s, name); err != nil {
		return err
	}
	return p.printPlugin(f, r)
}

// config names the config.json that holds the switch of a plugin without a directory.
func (c *catalog) config(s plugins.Source) (string, error) {
	if s != plugins.SourceProject {
		return c.place.home.Path(home.ConfigFile), nil
	}
	if c.place.workspace.Project == "" {
		return "", fmt.Errorf("the workspace %s has no project tree that can be written to", c.place.workspace.Path)
	}
	return projectConfig(c.place.workspace), nil
}

// stillDisabled tells that a list still keeps off what was just switched on.
func (c *catalog) stillDisabled(p *program, r *pluginRow) {
	for _, file := range []string{c.place.home.Path(home.ConfigFile), projectConfig(c.place.workspace)} {
		is := func(id string) bool { return strings.EqualFold(id, r.Manifest.ID) }
		if slices.ContainsFunc(disabledIn(file), is) {
			p.say(fmt.Sprintf("crystal: %s stays off: disabledPlugins in %s still holds it", r.Manifest.ID, file))
		}
	}
}
