package plugins

import (
	"errors"
	"maps"

	"github.com/crystalkernel/crystal/deps"
)

// manifestBlockers checks the declared fields of a plugin.
func manifestBlockers(p Plugin) []Blocker {
	var out []Blocker
	refuse := func(field, reason string, more map[string]any) {
		params := map[string]any{"field": field, "reasonCode": reason}
		maps.Copy(params, more)
		out = append(out, blocker(PluginManifestInvalid, PhaseAdmission, params))
	}
	switch {
	case p.ID == "":
		refuse("id", "missing", nil)
	case !deps.ValidID(p.ID):
		refuse("id", "invalidFormat", nil)
	}
	switch _, err := deps.ParseVersion(p.Version); {
	case p.Version == "":
		refuse("version", "missing", nil)
	case err != nil:
		refuse("version", "invalidFormat", nil)
	}
	if p.MinHostVersion != "" {
		if _, err := deps.ParseVersion(p.MinHostVersion); err != nil {
			refuse("minHostVersion", "invalidFormat", nil)
		}
	}
	var bad *deps.RequirementError
	if errors.As(p.Requires.Check(p.ID), &bad) {
		refuse("requires", string(bad.Fault), map[string]any{"id": bad.ID})
	}
	if key, reason := checkFields(p.Settings); reason != "" {
		refuse("settings", reason, map[string]any{"key": key})
	}
	return out
}

// blocker makes a blocker with the fixed text of its code.
func blocker(code Code, phase Phase, params map[string]any) Blocker {
	return Blocker{Code: code, Phase: phase, Text: text(code), Params: params}
}
