package plugins

import (
	"fmt"
	"slices"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Diagnose records a diagnostic of a plugin that the host found, such as a tool that is not admitted. One slot is kept
// for each (code, phase, generation); a newer one replaces the older. The time is set here when it is zero, the text
// when it is blank. It waits for nothing: the diagnostic shows in a snapshot soon after. The error matches
// [ErrUnknownPlugin].
func (r *Runtime) Diagnose(id string, d Diagnostic) error {
	r.mu.Lock()
	_, err := r.node(id)
	r.mu.Unlock()
	if err != nil {
		return fmt.Errorf("plugins: diagnose: %w", err)
	}
	if d.Time.IsZero() {
		d.Time = time.Now()
	}
	d.Plugin = id
	r.post(d)
	return nil
}

// diagnose records a diagnostic among those of the plugin and those of the operation.
func (r *Runtime) diagnose(n *node, d Diagnostic) {
	d.Plugin = n.id()
	if d.Time.IsZero() {
		d.Time = time.Now()
	}
	if d.Text == "" {
		d.Text = text(d.Code)
	}
	if d.Severity == "" {
		d.Severity = contrib.Warning
	}
	if r.op != nil {
		r.op.diagnostics = append(r.op.diagnostics, d)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n.diagnosed = slices.DeleteFunc(slices.Clone(n.diagnosed), func(old Diagnostic) bool {
		return old.Code == d.Code && old.Phase == d.Phase && old.Generation == d.Generation
	})
	n.diagnosed = append(n.diagnosed, d)
	if over := len(n.diagnosed) - r.limits.Diagnostics; over > 0 {
		n.diagnosed = n.diagnosed[over:]
	}
}

// text is the fixed text of a code: its meaning as a sentence, or, where text of plugin code would stand, what stands
// everywhere for that.
func text(code Code) string {
	if code == PluginActivationFailed || code == PluginCleanupFailed {
		return "Plugin operation failed."
	}
	for _, d := range codeDocs {
		if d.Code == code {
			return sentence(d.Meaning)
		}
	}
	return "Plugin operation failed."
}

func sentence(s string) string { return string(s[0]-'a'+'A') + s[1:] + "." }
