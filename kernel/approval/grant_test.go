package approval_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/points/tool"
)

// FIELD-X5
func TestAlwaysHoldsForTheSameCallAndNoMore(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	op := answers(approval.Always, approval.Once, approval.Once)
	s := approval.New(approval.Config{Home: home}, op, nil)
	write := class(tool.Write, tool.Workspace)
	v := decide(t, s, bashCall("default", "make test", write))
	assert.Equal(t, "persistent", v.Scope)
	assert.Contains(t, op.prompts[0].Covers, "make test")

	assert.Equal(t, "grant", decide(t, s, bashCall("default", "make test", write)).By)
	assert.Equal(t, "operator", decide(t, s, bashCall("default", "make test; make clean", write)).By)
	required := write
	required.RequirePrompt = true
	assert.Equal(t, "operator", decide(t, s, bashCall("default", "make test", required)).By)
	raised := class(tool.Privileged, tool.Workspace)
	assert.Equal(t, "no_operator", decide(t, s, bashCall("default", "make test", raised)).By)

	anew := approval.New(approval.Config{Home: home}, nil, nil)
	assert.Equal(t, "grant", decide(t, anew, bashCall("default", "make test", write)).By, "a new process")
	elsewhere := bashCall("default", "make test", write)
	elsewhere.Workspace = "/other"
	assert.Equal(t, "no_operator", decide(t, anew, elsewhere).By)

	info, err := os.Stat(filepath.Join(home, "permissions.json"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// APPR-5
func TestAlwaysForAPluginsTool(t *testing.T) {
	home := t.TempDir()
	s := approval.New(approval.Config{Home: home}, answers(approval.Always), nil)
	c := bashCall("default", "", class(tool.Write, tool.Workspace))
	c.Definition = pluginTool("acme.a", "send")
	assert.Equal(t, "operator", decide(t, s, c).By)
	c.Arguments = json.RawMessage(`{"other":1}`)
	assert.Equal(t, "grant", decide(t, s, c).By)
	c.Classification.Risk = tool.Read
	c.Classification.Authority = tool.Network
	assert.Equal(t, "no_operator", decide(t, s, c).By, "another authority")
	c.Classification = class(tool.Privileged, tool.Workspace)
	assert.Equal(t, "no_operator", decide(t, s, c).By, "a raised risk")

	anew := approval.New(approval.Config{Home: home}, nil, nil)
	c.Classification = class(tool.Write, tool.Workspace)
	assert.Equal(t, "grant", decide(t, anew, c).By)
	c.Definition = pluginTool("acme.b", "send")
	assert.Equal(t, "no_operator", decide(t, anew, c).By, "a name alone carries no grant")
}

// A grant of a tool set holds for that set of that tree: neither a set of the same name elsewhere nor a plugin of its name has it.
func TestAlwaysForAToolOfASet(t *testing.T) {
	s := approval.New(approval.Config{Home: t.TempDir()}, answers(approval.Always), nil)
	external := func(set string) *tool.Definition {
		d := pluginTool(set, "lookup")
		d.Key.Kind = tool.OwnerExternal
		return d
	}
	c := bashCall("default", "", class(tool.Write, tool.Workspace))
	for _, tt := range []struct {
		d    *tool.Definition
		want string
	}{
		{external("home/x"), "operator"},
		{external("home/x"), "grant"},
		{external("project/x"), "no_operator"},
		{external("x"), "no_operator"},
		{pluginTool("home/x", "lookup"), "no_operator"},
		{pluginTool("x", "lookup"), "no_operator"},
	} {
		c.Definition = tt.d
		assert.Equal(t, tt.want, decide(t, s, c).By, tt.d.Key.String())
	}
}

func TestSessionGrantsEndWithTheSession(t *testing.T) {
	home := t.TempDir()
	s := approval.New(approval.Config{Home: home}, answers(approval.Session), nil)
	c := bashCall("default", "make", class(tool.Write, tool.Workspace))
	assert.Equal(t, "session", decide(t, s, c).Scope)
	assert.Equal(t, "grant", decide(t, s, c).By)
	other := c
	other.Thread = "t2"
	assert.Equal(t, "no_operator", decide(t, s, other).By)
	s.EndSession("t1")
	assert.Equal(t, "no_operator", decide(t, s, c).By)
	assert.NoFileExists(t, filepath.Join(home, "permissions.json"))
}

func TestAnAnswerToAForbiddenCallIsNotStored(t *testing.T) {
	home := t.TempDir()
	s := approval.New(approval.Config{Home: home}, answers(approval.Always), nil)
	c := bashCall("default", "rm -rf /", class(tool.Forbidden, tool.PrivilegedEscalation))
	v := decide(t, s, c)
	assert.True(t, v.Allow)
	assert.Equal(t, "once", v.Scope)
	assert.Equal(t, "no_operator", decide(t, s, c).By)
	assert.NoFileExists(t, filepath.Join(home, "permissions.json"))
}

func TestABuiltinWithoutAFingerprintIsNeverCovered(t *testing.T) {
	s := approval.New(approval.Config{}, answers(approval.Session), nil)
	c := bashCall("default", "", class(tool.Write, tool.Workspace))
	assert.Equal(t, "once", decide(t, s, c).Scope)
	assert.Equal(t, "no_operator", decide(t, s, c).By)
}

func TestPermissionsKeepWhatTheReaderWrote(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "permissions.json")
	before := "\ufeff{\n  // mine\n  \"version\": 1,\n  \"note\": true,\n  \"grants\": [\n" +
		"    {\"workspace\": \"/ws\", \"tool\": \"builtin:tools:builtin:bash\", \"fingerprint\": \"ls\", \"risk\": \"Write\", \"authority\": \"Workspace\", \"grantedAt\": \"2026-01-01T00:00:00Z\"}, // why\n" +
		"    {\"workspace\": \"/ws\", \"tool\": \"\"},\n  ],\n}\n"
	require.NoError(t, os.WriteFile(path, []byte(before), 0o640))
	s := approval.New(approval.Config{Home: home}, answers(approval.Always), nil)
	write := class(tool.Write, tool.Workspace)
	assert.Equal(t, "grant", decide(t, s, bashCall("default", "ls", write)).By)
	assert.Equal(t, "persistent", decide(t, s, bashCall("default", "make", write)).Scope)

	after, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, kept := range []string{"\ufeff{", "// mine", "// why", "\"note\": true", "{\"workspace\": \"/ws\", \"tool\": \"\"}", "\"fingerprint\":\"make\""} {
		assert.Contains(t, string(after), kept)
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	assert.Equal(t, "grant", decide(t, approval.New(approval.Config{Home: home}, nil, nil), bashCall("default", "make", write)).By)
	assert.Equal(t, "grant", decide(t, approval.New(approval.Config{Home: home}, nil, nil), bashCall("default", "ls", write)).By)
}

func TestAFileThatDoesNotParseIsLeftAlone(t *testing.T) {
	for _, content := range []string{"{", "[]", `{"version": 2, "grants": []}`, `{"grants": 1}`} {
		home := t.TempDir()
		path := filepath.Join(home, "permissions.json")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		s := approval.New(approval.Config{Home: home}, answers(approval.Always), nil)
		c := bashCall("default", "make", class(tool.Write, tool.Workspace))
		v := decide(t, s, c)
		assert.True(t, v.Allow)
		assert.Equal(t, "session", v.Scope, content)
		assert.Contains(t, v.Message, "can't be parsed")
		assert.Equal(t, "grant", decide(t, s, c).By, "it holds until the session ends")
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, content, string(after))
	}
}

func TestAGrantTakenOutByHandEndsAtOnce(t *testing.T) {
	home := t.TempDir()
	c := bashCall("default", "make", class(tool.Write, tool.Workspace))
	assert.Equal(t, "persistent", decide(t, approval.New(approval.Config{Home: home}, answers(approval.Always), nil), c).Scope)
	s := approval.New(approval.Config{Home: home}, nil, nil)
	assert.Equal(t, "grant", decide(t, s, c).By)
	require.NoError(t, os.Remove(filepath.Join(home, "permissions.json")))
	assert.Equal(t, "no_operator", decide(t, s, c).By)
}

func TestEntriesThatDoNotCount(t *testing.T) {
	good := map[string]any{
		"workspace": "/ws", "tool": "builtin:tools:builtin:bash", "fingerprint": "make", "risk": "Write", "authority": "Workspace", "grantedAt": "2026-01-01T00:00:00Z",
	}
	c := bashCall("default", "make", class(tool.Write, tool.Workspace))
	check := func(change func(map[string]any)) string {
		home := t.TempDir()
		entry := map[string]any{}
		for k, v := range good {
			entry[k] = v
		}
		change(entry)
		data, err := json.Marshal(map[string]any{"version": 1, "grants": []any{entry}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(home, "permissions.json"), data, 0o600))
		return decide(t, approval.New(approval.Config{Home: home}, nil, nil), c).By
	}
	assert.Equal(t, "grant", check(func(map[string]any) {}))
	for name := range good {
		assert.Equal(t, "no_operator", check(func(e map[string]any) { e[name] = "" }), name)
		assert.Equal(t, "no_operator", check(func(e map[string]any) { delete(e, name) }), name)
	}
	assert.Equal(t, "no_operator", check(func(e map[string]any) { e["extra"] = "x" }))
	assert.Equal(t, "no_operator", check(func(e map[string]any) { e["risk"] = "Forbidden" }))
	assert.Equal(t, "no_operator", check(func(e map[string]any) { e["risk"] = "Read" }), "below the risk of the call")
	assert.Equal(t, "grant", check(func(e map[string]any) { e["authority"] = "Network" }), "a call that stays inside is covered")
}

func TestWritersInManyProcessesLoseNothing(t *testing.T) {
	home := t.TempDir()
	const n = 16
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			s := approval.New(approval.Config{Home: home}, answers(approval.Always), nil)
			v, err := s.Approve(context.Background(), bashCall("default", fmt.Sprintf("make %d", i), class(tool.Write, tool.Workspace)))
			assert.NoError(t, err)
			assert.Equal(t, "persistent", v.Scope, v.Message)
		})
	}
	group.Wait()
	s := approval.New(approval.Config{Home: home}, nil, nil)
	for i := range n {
		assert.Equal(t, "grant", decide(t, s, bashCall("default", fmt.Sprintf("make %d", i), class(tool.Write, tool.Workspace))).By)
	}
	names, err := os.ReadDir(home)
	require.NoError(t, err)
	assert.Len(t, names, 2, "the file and its lock: no temporary file is left")
}

func TestALockThatIsHeld(t *testing.T) {
	home := t.TempDir()
	held := flock.New(filepath.Join(home, "permissions.json.lock"))
	require.NoError(t, held.Lock())
	defer func() { _ = held.Unlock() }()
	s := approval.New(approval.Config{Home: home}, answers(approval.Always), nil)
	v := decide(t, s, bashCall("default", "make", class(tool.Write, tool.Workspace)))
	assert.True(t, v.Allow)
	assert.Equal(t, "session", v.Scope)
	assert.Contains(t, v.Message, "permissions.json.lock")
}

func TestALinkedFileKeepsItsPlace(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	target := filepath.Join(elsewhere, "shared.json")
	require.NoError(t, os.WriteFile(target, []byte(`{"version": 1}`), 0o600))
	require.NoError(t, os.Symlink(target, filepath.Join(home, "permissions.json")))
	c := bashCall("default", "make", class(tool.Write, tool.Workspace))
	assert.Equal(t, "persistent", decide(t, approval.New(approval.Config{Home: home}, answers(approval.Always), nil), c).Scope)
	info, err := os.Lstat(filepath.Join(home, "permissions.json"))
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink)
	data, err := os.ReadFile(target)
	require.NoError(t, err)
	assert.Contains(t, string(data), "make")
}
