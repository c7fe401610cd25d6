package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/crystalkernel/crystal/internal/home/jsonc"
)

// needTrust are the entries of a project tree that can start programs or change prompts.
var needTrust = []string{
	ConfigFile, PluginSettingsFile, "plugins", "tools", "prompts", "prompt-attachments", "commands", "skills",
}

// Waiting returns what in the project tree has force only in a trusted workspace, as paths relative to the workspace. It
// is empty when the workspace needs no trust.
func (w Workspace) Waiting() []string {
	if w.Tree == "" {
		return nil
	}
	var out []string
	for _, name := range needTrust {
		if exists(filepath.Join(w.Tree, name)) {
			out = append(out, filepath.Join(TreeName, name))
		}
	}
	return out
}

// Trusted reports whether the workspace is recorded as trusted: exactly that path. A record that can't be read is an error
// and no trust.
func (d Dir) Trusted(w Workspace) (bool, error) {
	o, err := jsonc.Read(d.Path(TrustFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading trusted workspaces: %w", err)
	}
	for _, entry := range o.Objects("workspaces") {
		if path, ok := entry.Text("path"); ok && path == w.Path {
			return true, nil
		}
	}
	return false, nil
}

// Trust records the workspace as trusted.
func (d Dir) Trust(w Workspace, now time.Time) error {
	_, err := jsonc.Edit(d.Path(TrustFile), func(draft *jsonc.Draft) error {
		for _, entry := range draft.Object().Objects("workspaces") {
			if path, ok := entry.Text("path"); ok && path == w.Path {
				return nil
			}
		}
		return errors.Join(draft.Set(1, "version"), draft.Append(map[string]string{
			"path": w.Path, "grantedAt": now.UTC().Format(time.RFC3339),
		}, "workspaces"))
	})
	if err != nil {
		return fmt.Errorf("trusting %s: %w", w.Path, err)
	}
	return nil
}

// readable reports whether path is a plain file: nothing else is opened, because a pipe would never end.
func readable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a plain file", path)
	}
	return nil
}
