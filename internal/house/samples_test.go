package house

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home"
)

// FIELD-N6: a block of a page that is a file of a host says so in its first line, and the loader of that file takes it
// without a note.
func TestSampleFilesLoad(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root(t), "docs", "*.md"))
	require.NoError(t, err)
	seen := 0
	for _, page := range append(pages, filepath.Join(root(t), "README.md")) {
		rel, err := filepath.Rel(root(t), page)
		require.NoError(t, err)
		for _, language := range []string{"json", "jsonc"} {
			for _, text := range blocks(t, rel, language) {
				seen++
				loadSample(t, rel, text)
			}
		}
	}
	require.NotZero(t, seen)
}

func loadSample(t *testing.T, page, text string) {
	t.Helper()
	first, _, _ := strings.Cut(text, "\n")
	name, ok := strings.CutPrefix(first, "// ~/.crystal/")
	require.True(t, ok, "%s: a block of JSON begins with a comment that names its file: %s", page, first)
	name, _, _ = strings.Cut(name, ":")
	h := home.Dir(t.TempDir())
	path := h.Path(filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	var notes []home.Note
	switch filepath.Base(name) {
	case home.ConfigFile, home.ProvidersFile:
		s, err := home.LoadSettings(h, func(string) string { return "" }, false)
		require.NoError(t, err, name)
		notes = s.Notes
	case home.ToolSetFile:
		_, notes, err := home.ReadToolSet(path, filepath.Base(filepath.Dir(path)), func(string) bool { return false })
		require.NoError(t, err, name)
		require.Empty(t, notes)
	case home.ManifestFile:
		_, notes, err := home.ReadManifest(path)
		require.NoError(t, err, name)
		require.Empty(t, notes)
	default:
		t.Fatalf("%s: no loader for %s", page, name)
	}
	require.Empty(t, notes, name)
}
