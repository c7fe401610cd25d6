package home

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/plugins"
)

// Row is one directory below a plugins directory.
type Row struct {
	Entry
	Manifest Manifest
	inForce  bool // its plugin is governed by it
}

// Discovery is what the plugin directories of a host say.
type Discovery struct {
	Rows       []Row // by directory name, home before project
	Placements []plugins.Placement
	Notes      []Note
}

// Discover reads the plugin directories of home and of a project tree; a blank tree has none. A project directory hides
// the home directory of its name before its own manifest is parsed. known tells what the host is built with.
func Discover(h Dir, tree string, known Known) Discovery {
	var d Discovery
	for _, e := range pluginCatalog.entries(h, tree) {
		d.Rows = append(d.Rows, Row{Entry: e})
	}
	for i := range d.Rows {
		d.read(&d.Rows[i], known)
	}
	d.resolve(known)
	return d
}

// Known says which ids a host can serve.
type Known struct {
	Compiled func(id string) bool // the id is compiled in
}

// ReservedPrefix begins the ids of a host's own built-ins.
const ReservedPrefix = "crystal."

// problem names the plugin too.
func (r *Row) problem(code Code, text, fix string) {
	r.Entry.problem(code, text, fix)
	r.Problem.Plugin = r.Manifest.ID
}

// manifest returns the path of the row's manifest.
func (r *Row) manifest() string { return pluginCatalog.file(&r.Entry) }

// read reads the manifest of a row and judges it on its own.
func (d *Discovery) read(r *Row, known Known) {
	if r.Problem != nil {
		return
	}
	if !exists(r.manifest()) {
		r.noManifest()
		return
	}
	m, notes, err := ReadManifest(r.manifest())
	r.Manifest = m
	var broken *ManifestError
	if errors.As(err, &broken) {
		if broken.Field != "enabled" && broken.Field != "" {
			r.Enabled = &m.Enabled
		}
		r.problem(Code(broken.Code), fmt.Sprintf("plugin directory %s is skipped: %s", r.Directory, broken.Text), "put "+r.manifest()+" right")
		return
	}
	if r.Effective {
		d.Notes = append(d.Notes, notes...)
	}
	r.Enabled = &m.Enabled
	switch {
	case strings.HasPrefix(m.ID, ReservedPrefix):
		r.problem(Code(plugins.PluginReservedId), fmt.Sprintf("plugin directory %s is skipped: the id %s belongs to the host's own parts", r.Directory, m.ID), "use another id")
	case !known.Compiled(m.ID):
		r.problem(Code(plugins.PluginNotCompiled), fmt.Sprintf("plugin directory %s is skipped: this host was not built with %s", r.Directory, m.ID),
			"build a host that has it: crystal build --with <module path>")
	}
}

// resolve settles which directory governs which plugin, and collects the notes.
func (d *Discovery) resolve(known Known) {
	// Project beats home; within one tree the first name wins.
	order := make([]*Row, 0, len(d.Rows))
	for i := range d.Rows {
		order = append(order, &d.Rows[i])
	}
	slices.SortStableFunc(order, func(a, b *Row) int { return rank(a.Source) - rank(b.Source) })
	owner := make(map[string]*Row)
	for _, r := range order {
		if r.Problem != nil || !r.Effective || !r.Manifest.Enabled {
			continue
		}
		if first, taken := owner[r.Manifest.ID]; taken {
			r.problem(Code(plugins.PluginIdConflict), fmt.Sprintf(
				"plugin directory %s is skipped: %s is named by directory %s already", r.Directory, r.Manifest.ID, first.Directory), "disable or remove one of the two")
			continue
		}
		owner[r.Manifest.ID] = r
		r.inForce = true
	}
	// A plugin that some directory names is governed by it even when no directory turns it on.
	for _, r := range order {
		id := r.Manifest.ID
		if _, governed := owner[id]; id == "" || governed || !known.Compiled(id) {
			continue
		}
		owner[id] = r
		r.inForce = true
	}
	for i := range d.Rows {
		r := &d.Rows[i]
		if r.inForce {
			d.Placements = append(d.Placements, plugins.Placement{
				ID: r.Manifest.ID, Directory: r.Directory, Source: r.Source,
				Enabled: r.Problem == nil && r.Effective && r.Manifest.Enabled, Settings: r.Manifest.Settings,
			})
		}
		// What is hidden is no news, and neither is what is switched off; a broken manifest is.
		if r.Problem == nil || r.silent {
			continue
		}
		if !r.Effective && r.Problem.Code != Code(plugins.PluginDirectoryInvalid) {
			continue
		}
		off := r.Enabled != nil && !*r.Enabled && r.Problem.Code != Code(plugins.PluginManifestInvalid) && r.Problem.Code != Code(plugins.PluginManifestUnreadable)
		if !off {
			d.Notes = append(d.Notes, *r.Problem)
		}
	}
}

func rank(s plugins.Source) int {
	if s == plugins.SourceProject {
		return 0
	}
	return 1
}
