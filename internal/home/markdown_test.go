package home_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home"
)

func TestCommandsAreNamedByTheirPaths(t *testing.T) {
	tr := newTrees(t)
	write(t, "---\r\ndescription: yes\r\naliases: [on, Rev, \"a b\"]\r\n---\r\nReview $ARGUMENTS.\r\n", tr.tree, "commands", "Team", "Review.md")
	write(t, "\ufeffFirst line\nsecond", tr.home.Path("commands", "review.md"))
	write(t, "---\nnever: closed", tr.home.Path("commands", "open.md"))
	write(t, "x", tr.home.Path("commands", "9bad.md"))
	write(t, " \n", tr.home.Path("commands", "empty.md"))
	write(t, "---\n{\n---\nx", tr.home.Path("commands", "yaml.md"))
	write(t, strings.Repeat("a", 256<<10+1), tr.home.Path("commands", "long.md"))
	write(t, "x", tr.home.Path("commands", ".hidden", "a.md"))
	write(t, "x", tr.home.Path("commands", "notes.txt"))
	write(t, "secret", filepath.Dir(string(tr.home)), "outside.md")
	require.NoError(t, os.Symlink(filepath.Join(filepath.Dir(string(tr.home)), "outside.md"), tr.home.Path("commands", "out.md")))

	list, notes := home.Commands(tr.home, tr.tree)
	var names []string
	for _, c := range list {
		names = append(names, c.Owner+":"+c.Name)
	}
	assert.Equal(t, []string{"workspace:team:review", "user:open", "user:review"}, names)
	assert.Equal(t, "yes", list[0].Description, "FIELD-N7: words of YAML are text")
	assert.Equal(t, []string{"on", "rev"}, list[0].Aliases)
	assert.Equal(t, "Review $ARGUMENTS.", list[0].Body)
	assert.Equal(t, "First line", list[2].Description)
	assert.Equal(t, []string{"CommandFileInvalid", "CommandFileInvalid", "CommandFileInvalid", "CommandFileInvalid", "CommandFileInvalid"}, codes(notes))
}

func TestWorkspaceCommandsComeFirst(t *testing.T) {
	tr := newTrees(t)
	write(t, "theirs", tr.home.Path("commands", "launch.md"))
	write(t, "ours", tr.tree, "commands", "launch.md")
	list, notes := home.Commands(tr.home, tr.tree)
	assert.Empty(t, notes)
	require.Len(t, list, 2)
	assert.Equal(t, []string{"ours", "theirs"}, []string{list[0].Body, list[1].Body})
}

func TestOneNameInOneTreeIsOneCommand(t *testing.T) {
	tr := newTrees(t)
	write(t, "upper", tr.home.Path("commands", "Go.md"))
	write(t, "lower", tr.home.Path("commands", "go.md"))
	list, notes := home.Commands(tr.home, "")
	require.Len(t, list, 1)
	assert.Equal(t, "upper", list[0].Body)
	require.Len(t, notes, 1)
	assert.Contains(t, notes[0].Text, "Go.md defines the command go already")
}

func TestFirstLineDescribesACommand(t *testing.T) {
	tr := newTrees(t)
	write(t, strings.Repeat("é", 100)+"\nsecond", tr.home.Path("commands", "long.md"))
	list, _ := home.Commands(tr.home, "")
	require.Len(t, list, 1)
	assert.Equal(t, strings.Repeat("é", 79)+"…", list[0].Description)
}

func TestExpandInsertsArgumentsOnce(t *testing.T) {
	for name, tt := range map[string]struct{ body, argument, want string }{
		"RUN-16":                    {"Review $ARGUMENTS.", "a.go", "Review a.go."},
		"FIELD-U3":                  {"Do $ARGUMENTS now", "$1 {{workspace}} $(id)", "Do $1 {{workspace}} $(id) now"},
		"words":                     {"$2 before $1", `"a b" c`, "c before a b"},
		"a word that is missing":    {"$1 and $3 and $9", "x", "x and $3 and $9"},
		"other dollars":             {"$ $HOME $10 $$ cost $5", "", "$ $HOME $10 $$ cost $5"},
		"ten is one and a zero":     {"$10", "x", "x0"},
		"quotes that never end":     {"$1|$2", `'a b`, "a b|$2"},
		"an empty word":             {"[$1]", `""`, "[]"},
		"placeholders of the body":  {"{{mode}} $1", "{{mode}}", "work {{mode}}"},
		"nothing from the argument": {"$ARGUMENTS$ARGUMENTS", "$ARGUMENTS", "$ARGUMENTS$ARGUMENTS"},
	} {
		t.Run(name, func(t *testing.T) {
			bind := func(s string) string { return strings.ReplaceAll(s, "{{mode}}", "work") }
			assert.Equal(t, tt.want, home.Command{Body: tt.body}.Expand(tt.argument, bind))
		})
	}
}

func FuzzExpandCommand(f *testing.F) {
	f.Add("Do $ARGUMENTS now, $1 and $2", `"a b" {{mode}} $1`)
	f.Add("$$ARGUMENTS$9$", "x")
	f.Add("{{mode}}", "")
	f.Fuzz(func(t *testing.T, body, argument string) {
		var pieces []string
		text := home.Command{Body: body}.Expand(argument, func(s string) string {
			pieces = append(pieces, s)
			return s
		})
		rest := body
		for _, p := range pieces {
			_, after, ok := strings.Cut(rest, p)
			require.True(t, ok, "only text of the body is bound, in its order")
			rest = after
		}
		if !strings.Contains(body, "$") {
			assert.Equal(t, body, text)
		}
	})
}
