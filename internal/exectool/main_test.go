//go:build unix

package exectool_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/internal/exectool"
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shed is a home directory with tool sets, and a workspace.
type shed struct {
	t        testing.TB
	home, ws string
	approval home.ExternalApproval
}

func newShed(t testing.TB) *shed {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	s := &shed{t: t, home: filepath.Join(top, "home"), ws: filepath.Join(top, "ws"), approval: home.DefaultConfig().ExternalApproval}
	require.NoError(t, os.MkdirAll(s.ws, 0o755))
	return s
}

// script puts a shell script into a set.
func (s *shed) script(set, name, body string) {
	s.t.Helper()
	s.file(filepath.Join(s.home, "tools", set, name), "#!/bin/sh\n"+body+"\n", 0o755)
}

func (s *shed) file(path, text string, mode os.FileMode) {
	s.t.Helper()
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(s.t, os.WriteFile(path, []byte(text), mode))
}

// set makes a set with one tool, which has the name of its directory. more are members of the manifest.
func (s *shed) set(name, more string) {
	s.t.Helper()
	s.manifest(filepath.Join(s.home, "tools"), name, more)
}

func (s *shed) manifest(root, name, more string) {
	s.t.Helper()
	s.file(filepath.Join(root, name, home.ToolSetFile),
		`{"runner": "exec", "approval": "always", "description": "Does.", "schema": {"type": "object"}, `+more+`}`, 0o600)
}

// tool returns the tool of a set.
func (s *shed) tool(name string) tool.Registration {
	s.t.Helper()
	found := home.DiscoverToolSets(home.Dir(s.home), filepath.Join(s.ws, home.TreeName), func(string) bool { return false })
	require.Empty(s.t, found.Notes)
	source := exectool.New(exectool.Config{Sets: found.Rows, Approval: s.approval, Home: s.home, UserHome: filepath.Join(s.ws, "..", "user")})
	list, err := source.Tools(context.Background(), tool.Planning{})
	require.NoError(s.t, err)
	for _, r := range list {
		if r.Definition.Name == name {
			return r
		}
	}
	require.Failf(s.t, "no tool", "%s", name)
	return tool.Registration{}
}

// call runs the tool of a set.
func (s *shed) call(name, arguments string) tool.Result {
	s.t.Helper()
	return s.callIn(context.Background(), name, arguments)
}

func (s *shed) callIn(ctx context.Context, name, arguments string) tool.Result {
	s.t.Helper()
	r, err := s.tool(name).Binding.Runtime.Invoke(ctx, tool.Invocation{
		Thread: "thread-1", Arguments: json.RawMessage(arguments), Workspace: s.ws, Approval: "edit", Images: true,
		Data: tool.DataDirs{Global: filepath.Join(s.home, "data", "tools", name)},
	})
	require.NoError(s.t, err)
	return r
}

// text is what the model gets of a result.
func text(r tool.Result) string {
	out := ""
	for _, b := range r.Content {
		if b.IsImage() {
			out += "<" + b.MediaType + ">"
			continue
		}
		out += b.Text
	}
	if out == "" && r.Error != nil {
		return r.Error.Message
	}
	return out
}

func code(r tool.Result) string {
	if r.Error == nil {
		return ""
	}
	return r.Error.Code
}
