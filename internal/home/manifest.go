package home

import (
	"errors"
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/deps"
	"github.com/crystalkernel/crystal/internal/home/jsonc"
	"github.com/crystalkernel/crystal/plugins"
)

// Compiled is the runtime of a plugin that is part of the host.
const Compiled = "compiled"

// laterRuntimes are known names that this host can't serve.
var laterRuntimes = []string{"process", "wasm"}

// Manifest is what a plugin.json says.
type Manifest struct {
	Enabled  bool
	ID       string // lowered
	Runtime  string
	Settings map[string]any
}

// ManifestError is the first thing that is wrong with a manifest.
type ManifestError struct {
	Code  plugins.Code // PluginManifestUnreadable, PluginManifestInvalid or PluginRuntimeUnsupported
	Field string       // of PluginManifestInvalid; blank when the file is no JSON object
	Text  string
	Err   error // cause, when there is one
}

// Error says what is wrong.
func (e *ManifestError) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *ManifestError) Unwrap() error { return e.Err }

// ReadManifest reads a plugin.json. Keys that mean nothing are ignored. The error is a *[ManifestError]; with it comes what
// had been read before, so that a listing can show it.
func ReadManifest(path string) (Manifest, []Note, error) {
	m := Manifest{Enabled: true, Runtime: Compiled}
	if err := readable(path); err != nil {
		return m, nil, &ManifestError{Code: plugins.PluginManifestUnreadable, Text: "the manifest can't be read: " + err.Error(), Err: err}
	}
	o, err := jsonc.Read(path)
	var syntax *jsonc.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return m, nil, &ManifestError{Code: plugins.PluginManifestUnreadable, Text: err.Error(), Err: err}
	case err != nil:
		return m, nil, &ManifestError{Code: plugins.PluginManifestUnreadable, Text: "the manifest can't be read: " + err.Error(), Err: err}
	}
	var notes []Note
	var first *jsonc.Problem
	f := o.Fields(func(p jsonc.Problem) {
		switch {
		case p.Kind == jsonc.Repeated:
			notes = append(notes, problemNote(path, p))
		case first == nil:
			first = &p
		}
	})
	bad := func(field string) error {
		return &ManifestError{Code: plugins.PluginManifestInvalid, Field: field, Text: first.String()}
	}
	set(&m.Enabled)(f.Bool("enabled"))
	if first != nil {
		return m, notes, bad("enabled")
	}
	if id, ok := f.Text("id"); ok {
		m.ID = strings.ToLower(strings.TrimSpace(id))
	}
	if first == nil && !deps.ValidID(m.ID) {
		f.Bad("id", "the id of a plugin, such as acme.review-core")
	}
	if first != nil {
		m.ID = ""
		return m, notes, bad("id")
	}
	if runtime, ok := f.OneOf("runtime", append([]string{Compiled}, laterRuntimes...)...); ok && runtime != Compiled {
		m.Runtime = runtime
		return m, notes, &ManifestError{
			Code: plugins.PluginRuntimeUnsupported, Field: "runtime",
			Text: fmt.Sprintf("the runtime %q is not available in this build; only %q is", runtime, Compiled),
		}
	}
	if first != nil {
		first.Allowed = fmt.Sprintf("%q", Compiled)
		return m, notes, bad("runtime")
	}
	if _, ok := f.Object("settings"); ok {
		if m.Settings, err = o.Decode("settings"); err != nil {
			return m, notes, &ManifestError{Code: plugins.PluginManifestInvalid, Field: "settings", Text: err.Error(), Err: err}
		}
	}
	if first != nil {
		return m, notes, bad("settings")
	}
	return m, notes, nil
}

// EnableManifest changes the switch of a manifest and nothing else. The manifest must be whole: else the error says what
// is wrong with it and the file stays as it is.
func EnableManifest(path string, on bool) (changed bool, err error) {
	if _, _, err := ReadManifest(path); err != nil {
		return false, err
	}
	return setEnabled(path, on)
}

// setEnabled changes the switch of a file. A file that says nothing is switched on.
func setEnabled(path string, on bool) (changed bool, err error) {
	return jsonc.Edit(path, func(d *jsonc.Draft) error {
		o := d.Object()
		if now, ok := o.Fields(func(jsonc.Problem) {}).Bool("enabled"); on == now && ok || on && !o.Has("enabled") {
			return nil
		}
		return d.Set(on, "enabled")
	})
}

// DisablePlugin adds an id to disabledPlugins of a config.json, or takes it out.
func DisablePlugin(config, id string, off bool) (changed bool, err error) {
	is := func(text string) bool { return strings.EqualFold(strings.TrimSpace(text), id) }
	return jsonc.Edit(config, func(d *jsonc.Draft) error {
		if !off {
			return d.Drop(is, "disabledPlugins")
		}
		ids, _ := d.Object().Fields(func(jsonc.Problem) {}).TextsThat("disabledPlugins", is, "")
		if len(ids) > 0 {
			return nil
		}
		return d.Append(id, "disabledPlugins")
	})
}
