package builtin_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/internal/builtin"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a workspace with the built-in tools, and directories outside of it.
type desk struct {
	t             testing.TB
	source        *builtin.Source
	ws, out, home string
}

func newDesk(t testing.TB, configure ...func(*builtin.Config)) *desk {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	d := &desk{t: t, ws: filepath.Join(top, "ws"), out: filepath.Join(top, "out"), home: filepath.Join(top, "home")}
	for _, dir := range []string{d.ws, d.out, d.home} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	c := builtin.Config{Home: d.home, UserHome: filepath.Join(top, "user")}
	for _, f := range configure {
		f(&c)
	}
	d.source = builtin.New(c)
	return d
}

// file writes a file of the workspace, or one with an absolute path.
func (d *desk) file(name, content string) string {
	d.t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(d.ws, name)
	}
	require.NoError(d.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(d.t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func (d *desk) content(name string) string {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.ws, name))
	require.NoError(d.t, err)
	return string(data)
}

func (d *desk) link(target, name string) {
	d.t.Helper()
	require.NoError(d.t, os.Symlink(target, filepath.Join(d.ws, name)))
}

func (d *desk) registration(name string) tool.Registration {
	d.t.Helper()
	all, err := d.source.Tools(context.Background(), tool.Planning{})
	require.NoError(d.t, err)
	for _, r := range all {
		if r.Definition.Name == name {
			return r
		}
	}
	require.Fail(d.t, "no tool "+name)
	return tool.Registration{}
}

type args map[string]any

func (a args) encode(t testing.TB) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(a)
	require.NoError(t, err)
	return data
}

func (d *desk) classify(name string, a args) tool.Classification {
	d.t.Helper()
	c := tool.Call{ID: "c1", Tool: name, Arguments: a.encode(d.t), Thread: "t1"}
	return d.registration(name).Binding.Classify(context.Background(), c, d.ws)
}

// run runs a call as if all was approved that it was classified as.
func (d *desk) run(name string, a args) tool.Result {
	d.t.Helper()
	return d.runIn(context.Background(), "t1", name, a, d.classify(name, a))
}

func (d *desk) runIn(ctx context.Context, thread, name string, a args, approved tool.Classification) tool.Result {
	d.t.Helper()
	r, err := d.registration(name).Binding.Runtime.Invoke(ctx, tool.Invocation{
		Thread: thread, CallID: "c1", Tool: d.registration(name).Definition.Key, Arguments: a.encode(d.t),
		Workspace: d.ws, Mode: "work", Approved: approved,
	})
	require.NoError(d.t, err)
	return r
}

// ok runs a call that must succeed and returns its text.
func (d *desk) ok(name string, a args) string {
	d.t.Helper()
	r := d.run(name, a)
	require.False(d.t, r.Failed, "%+v", r.Error)
	return text(r)
}

// fails runs a call that must fail with the code and returns its message.
func (d *desk) fails(code, name string, a args) string {
	d.t.Helper()
	r := d.run(name, a)
	require.True(d.t, r.Failed, "%s", text(r))
	require.Equal(d.t, code, r.Error.Code, r.Error.Message)
	return r.Error.Message
}

func text(r tool.Result) string {
	out := ""
	for _, b := range r.Content {
		out += b.Text
	}
	return out
}
