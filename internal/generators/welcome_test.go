package generators_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/internal/generators"
	"github.com/crystalkernel/crystal/points/generator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// tree makes a workspace of files; a name that ends in a slash is a directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shop")
	require.NoError(t, os.Mkdir(dir, 0o755))
	for name, text := range files {
		path := filepath.Join(dir, name)
		if name[len(name)-1] == '/' {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

func texts(t *testing.T, w *generators.Welcome, workspace string) (out []string) {
	t.Helper()
	list, err := w.Suggest(t.Context(), generator.WelcomeRequest{Workspace: workspace})
	require.NoError(t, err)
	for _, s := range list {
		out = append(out, s.Text)
	}
	return out
}

const (
	explain = "Explain how shop is put together"
	agents  = "Write AGENTS.md: how this project is built and tested, and what to watch out for"
	readme  = "Write a README that says what this project is for and how to start"
	todos   = "Find the TODO comments and say which one to do first"
)

func TestSuggestionsFitTheWorkspace(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"nothing":           {nil, []string{"Start a project here: say what it should do"}},
		"nothing but git":   {map[string]string{".git/": ""}, []string{"Start a project here: say what it should do"}},
		"something":         {map[string]string{"a.txt": ""}, []string{explain, agents, readme, todos}},
		"Go":                {map[string]string{"go.mod": "", "README.md": "", "AGENTS.md": ""}, []string{explain, "Run go test ./... and repair what fails", todos}},
		"a Makefile":        {map[string]string{"Makefile": "all:\n\ntest : all\n", "go.mod": "", "readme": "", "CONTEXT.md": ""}, []string{explain, "Run make test and repair what fails", todos}},
		"no target of make": {map[string]string{"Makefile": "test := x\n", "readme": "", "CONTEXT.md": ""}, []string{explain, todos}},
		"a test script":     {map[string]string{"package.json": `{"scripts": {"test": "jest"}}`, "README": "", "AGENTS.md": ""}, []string{explain, "Run npm test and repair what fails", todos}},
		"no test script":    {map[string]string{"package.json": `{"scripts": []}`, "README": "", "AGENTS.md": ""}, []string{explain, todos}},
		"Python":            {map[string]string{"pytest.ini": "", "README": "", "AGENTS.md": ""}, []string{explain, "Run pytest and repair what fails", todos}},
		"a merge": {
			map[string]string{".git/MERGE_HEAD": "x", ".git/rebase-merge/": "", "Cargo.toml": "", "README": "", "AGENTS.md": ""},
			[]string{"Finish the merge that was begun: look at the conflicts", "Finish the rebase that was begun", explain, "Run cargo test and repair what fails", todos},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := generators.NewWelcome("", quiet)
			defer w.Close()
			assert.Equal(t, c.want, texts(t, w, tree(t, c.files)))
		})
	}
}

func TestWorkspaceThatIsNotThere(t *testing.T) {
	w := generators.NewWelcome(t.TempDir(), quiet)
	defer w.Close()
	assert.Empty(t, texts(t, w, ""))
	require.NoError(t, w.Schedule(t.Context(), ""))
	gone := filepath.Join(t.TempDir(), "gone")
	_, err := w.Suggest(t.Context(), generator.WelcomeRequest{Workspace: gone})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, w.Schedule(t.Context(), gone))
	require.NoError(t, w.Clear(t.Context(), gone))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, w.Schedule(ctx, gone), context.Canceled)
	require.ErrorIs(t, w.Clear(ctx, gone), context.Canceled)
	_, err = w.Suggest(ctx, generator.WelcomeRequest{Workspace: gone})
	require.ErrorIs(t, err, context.Canceled)
}

// What was made beforehand is what the next process shows, until it is cleared.
func TestScheduledSuggestionsAreKept(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	ws, other := tree(t, map[string]string{"a.txt": ""}), tree(t, nil)
	w := generators.NewWelcome(home, quiet)
	assert.NotEmpty(t, texts(t, w, ws))
	assert.NoDirExists(t, home, "a look writes nothing")
	require.NoError(t, w.Schedule(t.Context(), ws))
	require.NoError(t, w.Schedule(t.Context(), ws))
	w.Close()
	require.NoError(t, w.Schedule(t.Context(), other))
	files, err := filepath.Glob(filepath.Join(home, "data", "welcome", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	info, err := os.Stat(files[0])
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, os.WriteFile(filepath.Join(ws, "README"), nil, 0o600))
	next := generators.NewWelcome(home, quiet)
	defer next.Close()
	assert.Equal(t, []string{explain, agents, readme, todos}, texts(t, next, ws), "as it was when it was made")
	assert.Equal(t, []string{"Start a project here: say what it should do"}, texts(t, next, other))
	require.NoError(t, next.Clear(t.Context(), ws))
	assert.Equal(t, []string{explain, agents, todos}, texts(t, next, ws))
	require.NoError(t, next.Clear(t.Context(), ws), "it is cleared already")
}

func TestFileThatIsBrokenCountsAsNothing(t *testing.T) {
	home, ws := t.TempDir(), tree(t, map[string]string{"a.txt": ""})
	make := func() string {
		w := generators.NewWelcome(home, quiet)
		require.NoError(t, w.Schedule(t.Context(), ws))
		w.Close()
		files, err := filepath.Glob(filepath.Join(home, "data", "welcome", "*.json"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		return files[0]
	}
	path := make()
	w := generators.NewWelcome(home, quiet)
	defer w.Close()
	require.NoError(t, os.WriteFile(filepath.Join(ws, "README"), nil, 0o600))
	now := time.Now().UTC().Format(time.RFC3339)
	for _, text := range []string{
		"{", "[]", `{"workspace": "/elsewhere", "made": "` + now + `", "suggestions": ["x"]}`,
		`{"workspace": "` + filepath.ToSlash(ws) + `", "made": "2999-01-01T00:00:00Z", "suggestions": ["x"]}`,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		assert.Equal(t, []string{explain, agents, todos}, texts(t, w, ws), text)
	}
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	make()
	require.NoError(t, os.Remove(filepath.Join(ws, "README")))
	assert.Equal(t, []string{explain, agents, todos}, texts(t, w, ws), "it was written anew")
}

func TestKeptSuggestionsGrowOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := tree(t, map[string]string{"a.txt": ""})
		w := generators.NewWelcome("", quiet)
		defer w.Close()
		require.NoError(t, w.Schedule(t.Context(), ws))
		synctest.Wait()
		require.NoError(t, os.WriteFile(filepath.Join(ws, "README"), nil, 0o600))
		assert.Contains(t, texts(t, w, ws), readme)
		time.Sleep(25 * time.Hour)
		assert.NotContains(t, texts(t, w, ws), readme)
	})
}
