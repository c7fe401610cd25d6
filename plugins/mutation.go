package plugins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
)

// SettingsScope is a place where settings are written.
type SettingsScope string

// The scopes of settings.
const (
	SettingsHome      SettingsScope = "home"
	SettingsWorkspace SettingsScope = "workspace"
)

// SettingsChange sets or removes the value of one key in one scope. Make it with [SetSetting] or [UnsetSetting].
type SettingsChange struct {
	Key   string
	Value any  // as encoding/json decodes it; nil when Unset
	Unset bool // the key is removed, so that the layer below counts
}

// SetSetting gives key a value.
func SetSetting(key string, value any) SettingsChange {
	return SettingsChange{Key: key, Value: plain(value)}
}

// UnsetSetting removes the value of key.
func UnsetSetting(key string) SettingsChange { return SettingsChange{Key: key, Unset: true} }

// ChangeSettings changes the settings of a plugin in one scope: the plugin and its dependants are quiesced, the change is
// written, and they come back up with the new settings. Nothing is written when a change is not valid or the plugins do
// not stop; when the write fails they come back up with the old settings. The diagnostics of a [NotApplied] result say
// why. The error matches [ErrUnknownPlugin], or is that of ctx or of reading the host's files.
func (r *Runtime) ChangeSettings(ctx context.Context, id string, scope SettingsScope, changes ...SettingsChange) (Result, error) {
	done, err := r.begin(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("plugins: change settings of %q: %w", id, err)
	}
	defer done()
	n, err := r.node(id)
	if err != nil {
		return Result{}, err
	}
	current, err := r.read(ctx)
	if err != nil {
		return Result{}, err
	}
	changes = slices.Clone(changes)
	if refused := checkChanges(n, scope, current, changes); refused != nil {
		return r.refuse(*refused, id), nil
	}
	result, err := r.quiesce(ctx, []string{id})
	if err != nil || result.Outcome == NotApplied {
		return result, err
	}
	refused := r.writeSettings(ctx, n, scope, changes)
	result, err = r.reconcile(ctx, []string{id})
	if err != nil || refused == nil {
		return result, err
	}
	return r.refuse(*refused, id), nil
}

func (r *Runtime) writeSettings(ctx context.Context, n *node, scope SettingsScope, changes []SettingsChange) *Diagnostic {
	err := ErrNoScope
	if r.options.WriteSettings != nil {
		err = r.options.WriteSettings(ctx, scope, n.id(), changes)
	}
	if err == nil {
		return nil
	}
	r.options.Logger.Error("write settings of a plugin", "plugin", n.id(), "scope", scope, "error", err)
	code := PluginSettingsWriteFailed
	if errors.Is(err, ErrNoScope) {
		code = PluginSettingsScopeUnavailable
	}
	return settingsRefusal(n, code, map[string]any{"scope": string(scope)})
}

// checkChanges finds why a change of settings cannot be made. It gives each key the spelling of its declaration.
func checkChanges(n *node, scope SettingsScope, in Inputs, changes []SettingsChange) *Diagnostic {
	fields := n.plugin.Settings
	if len(fields) == 0 {
		return settingsRefusal(n, PluginSettingsNotDeclared, map[string]any{"pluginId": n.id()})
	}
	invalid := func(field, reason string) *Diagnostic {
		return settingsRefusal(n, PluginSettingsMutationInvalid, map[string]any{"field": field, "reasonCode": reason})
	}
	var document SettingsLayer
	switch scope {
	case SettingsHome:
		document = in.Home
	case SettingsWorkspace:
		document = in.Workspace
	default:
		return invalid("", "scope")
	}
	if len(changes) == 0 {
		return invalid("", "operation")
	}
	for i, c := range changes {
		at := slices.IndexFunc(fields, func(f Field) bool { return strings.EqualFold(f.Key, c.Key) })
		if at < 0 {
			return invalid(c.Key, "unknown")
		}
		f := fields[at]
		changes[i].Key = f.Key
		if c.Unset {
			continue
		}
		if f.HomeOnly && scope == SettingsWorkspace {
			return invalid(f.Key, "homeOnly")
		}
		if _, fault := f.value(c.Value); fault != "" {
			return invalid(f.Key, fault)
		}
	}
	if document.Err != nil {
		return settingsRefusal(n, PluginSettingsDocumentInvalid, map[string]any{"layer": string(scope)})
	}
	existing := layer{string(scope), scope == SettingsWorkspace, document.Plugins[n.id()]}
	if _, fault := checkLayer(fields, existing); fault != nil {
		return settingsRefusal(n, PluginSettingsNamespaceInvalid, fault.params())
	}
	return nil
}

func settingsRefusal(n *node, code Code, params map[string]any) *Diagnostic {
	return &Diagnostic{Code: code, Severity: contrib.Error, Phase: PhaseSettings, Plugin: n.id(), Params: params}
}
