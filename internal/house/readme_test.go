package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// blocks returns the fenced blocks of a Markdown file that have the given language.
func blocks(t *testing.T, file, language string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), file))
	require.NoError(t, err)
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}

// plain takes the layout of a text away, so that code can be found wherever gofmt has put its spaces.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestReadmeCodeIsThatOfTheExamples(t *testing.T) {
	var examples string
	err := filepath.WalkDir(filepath.Join(root(t), "examples"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		code, err := os.ReadFile(path)
		examples += plain(string(code)) + " "
		return err
	})
	require.NoError(t, err)
	code := blocks(t, "README.md", "go")
	require.NotEmpty(t, code)
	for _, b := range code {
		require.Contains(t, examples, plain(b), "the README shows code that no example holds")
	}
}

func TestReadmeOutputIsThatOfTheFirstPlugin(t *testing.T) {
	test, err := os.ReadFile(filepath.Join(root(t), "examples", "firstplugin", "main_test.go"))
	require.NoError(t, err)
	var want []string
	_, output, _ := strings.Cut(string(test), "// Output:\n")
	for line := range strings.Lines(output) {
		if text, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "\t// "); ok {
			want = append(want, text)
		}
	}
	shown := blocks(t, "README.md", "text")
	require.Len(t, shown, 1)
	require.Equal(t, strings.Join(want, "\n")+"\n", shown[0])
}

func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "README.md"))
	require.NoError(t, err)
	require.Less(t, strings.Count(string(text), "\n"), 150)
}

func TestReadmeCommandIsTheOneOfCI(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root(t), "README.md"))
	require.NoError(t, err)
	ci, err := os.ReadFile(filepath.Join(root(t), ".ci", "run"))
	require.NoError(t, err)
	require.Contains(t, string(readme), "\ngo test ./... ")
	require.Contains(t, string(ci), "\ngo test ./...\n")
}
