package home_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home"
)

// write makes a file and its directories.
func write(t *testing.T, text string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// vars is an environment.
func vars(pairs ...string) func(string) string {
	m := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

func codes(notes []home.Note) []string {
	out := []string{}
	for _, n := range notes {
		out = append(out, string(n.Code))
	}
	return out
}

// resolved returns a fresh directory without links in its path.
func resolved(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func TestFindTakesTheFirstPlaceThatIsNamed(t *testing.T) {
	cwd, err := os.Getwd()
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		option string
		env    func(string) string
		want   string
	}{
		"option":                 {"/opt/h", vars("CRYSTAL_HOME", "/env/h", "HOME", "/u"), "/opt/h"},
		"variable":               {"", vars("CRYSTAL_HOME", "/env/h", "HOME", "/u"), "/env/h"},
		"blank variable":         {"", vars("CRYSTAL_HOME", "  ", "HOME", "/u"), "/u/.crystal"},
		"relative to the caller": {"h", vars(), filepath.Join(cwd, "h")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := home.Find(tt.option, tt.env)
			require.NoError(t, err)
			assert.Equal(t, home.Dir(tt.want), got)
		})
	}
}

func TestOpenWorkspace(t *testing.T) {
	t.Run("is the resolved directory", func(t *testing.T) {
		dir := resolved(t)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "real", ".crystal"), 0o755))
		require.NoError(t, os.Symlink(filepath.Join(dir, "real"), filepath.Join(dir, "link")))
		ws, err := home.OpenWorkspace(home.Dir(filepath.Join(dir, "home")), filepath.Join(dir, "link"))
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(dir, "real"), ws.Path)
		assert.Equal(t, filepath.Join(dir, "real", ".crystal"), ws.Tree)
	})
	t.Run("must be a directory", func(t *testing.T) {
		file := write(t, "", resolved(t), "file")
		for _, path := range []string{file, file + "-none"} {
			_, err := home.OpenWorkspace("/h", path)
			assert.ErrorIs(t, err, home.ErrWorkspace)
		}
	})
	t.Run("FIELD-L5 a tree that leads out is ignored", func(t *testing.T) {
		dir, out := resolved(t), resolved(t)
		require.NoError(t, os.Symlink(out, filepath.Join(dir, ".crystal")))
		ws, err := home.OpenWorkspace("/h", dir)
		require.NoError(t, err)
		assert.Empty(t, ws.Tree)
		assert.Empty(t, ws.Project, "nothing is written through it")
		assert.Equal(t, []string{"ProjectTreeIgnored"}, codes(ws.Notes))
	})
	t.Run("a tree that is a file is ignored", func(t *testing.T) {
		dir := resolved(t)
		write(t, "", dir, ".crystal")
		ws, err := home.OpenWorkspace("/h", dir)
		require.NoError(t, err)
		assert.Empty(t, ws.Tree)
		assert.Equal(t, []string{"ProjectTreeIgnored"}, codes(ws.Notes))
	})
	t.Run("FIELD-C1 the home directory is no project tree", func(t *testing.T) {
		dir := resolved(t)
		tree := filepath.Join(dir, ".crystal")
		for range 2 { // before and after it exists
			ws, err := home.OpenWorkspace(home.Dir(tree), dir)
			require.NoError(t, err)
			assert.Empty(t, ws.Tree)
			assert.Empty(t, ws.Project)
			assert.Empty(t, ws.Notes)
			require.NoError(t, os.MkdirAll(tree, 0o755))
		}
	})
	t.Run("without a tree", func(t *testing.T) {
		dir := resolved(t)
		ws, err := home.OpenWorkspace("/h", dir)
		require.NoError(t, err)
		assert.Empty(t, ws.Tree)
		assert.Equal(t, filepath.Join(dir, ".crystal"), ws.Project)
		assert.Empty(t, ws.Waiting())
	})
}

func TestTrustIsForExactlyOnePath(t *testing.T) {
	h, dir := home.Dir(filepath.Join(resolved(t), "home")), resolved(t)
	write(t, "{}", dir, ".crystal", "config.json")
	write(t, "", dir, ".crystal", "commands", "a.md")
	write(t, "", dir, ".crystal", "notes.txt")
	ws, err := home.OpenWorkspace(h, dir)
	require.NoError(t, err)
	assert.Equal(t, []string{".crystal/config.json", ".crystal/commands"}, ws.Waiting())
	trusted, err := h.Trusted(ws)
	require.NoError(t, err)
	assert.False(t, trusted)
	assert.NoDirExists(t, string(h), "asking creates nothing")

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600))
	require.NoError(t, h.Trust(ws, now))
	require.NoError(t, h.Trust(ws, now), "twice is once")
	trusted, err = h.Trusted(ws)
	require.NoError(t, err)
	assert.True(t, trusted)
	trusted, err = h.Trusted(home.Workspace{Path: filepath.Dir(dir)})
	require.NoError(t, err)
	assert.False(t, trusted)
	text, err := os.ReadFile(h.Path(home.TrustFile))
	require.NoError(t, err)
	assert.JSONEq(t, fmt.Sprintf(`{"version":1,"workspaces":[{"path":%q,"grantedAt":"2026-01-02T02:04:05Z"}]}`, dir), string(text))

	write(t, "{", h.Path(home.TrustFile))
	trusted, err = h.Trusted(ws)
	assert.Error(t, err)
	assert.False(t, trusted, "a record that can't be read is no trust")
}

func TestNotesAreOneCleanLine(t *testing.T) {
	n := home.Note{Text: "a\x1b[31m\nb" + strings.Repeat("x", 600), Directory: "\x1b]0;x\a"}.Cleaned()
	assert.Equal(t, 500, len([]rune(n.Text)))
	assert.True(t, strings.HasPrefix(n.Text, "a bx"))
	assert.Empty(t, n.Directory)
}

func TestCodesAreDocumentedOnce(t *testing.T) {
	seen := make(map[home.Code]bool)
	for _, c := range home.Codes() {
		assert.False(t, seen[c.Code])
		seen[c.Code] = true
		assert.NotEmpty(t, c.Meaning)
		assert.False(t, strings.HasSuffix(c.Meaning, "."))
	}
}
