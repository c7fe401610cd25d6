package generators_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/internal/generators"
	"github.com/crystalkernel/crystal/internal/modelaccess"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/points/generator"
	"github.com/crystalkernel/crystal/points/model"
)

// completer answers with a text, and keeps what it was asked.
type completer struct {
	answer string
	err    error
	asked  []string
}

func (c *completer) Complete(_ context.Context, _, user string) (string, error) {
	c.asked = append(c.asked, user)
	return c.answer, c.err
}

func suggest(t *testing.T, answer, diff string) *generator.CommitMessage {
	t.Helper()
	m, err := generators.CommitMessages(&completer{answer: answer}).Suggest(t.Context(), generator.CommitRequest{Diff: diff})
	require.NoError(t, err)
	return m
}

func TestAnswersBecomeCommitMessages(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   *generator.CommitMessage
	}{
		"a title":             {"Fix the test\n", &generator.CommitMessage{Title: "Fix the test"}},
		"title and body":      {"Fix it\n\nIt was\nbroken.\n\nVery.\n", &generator.CommitMessage{Title: "Fix it", Body: "It was\nbroken.\n\nVery."}},
		"a fence":             {"```\nFix it\n\nBody\n```", &generator.CommitMessage{Title: "Fix it", Body: "Body"}},
		"a fence with a word": {"```text\nFix it\n```\n", &generator.CommitMessage{Title: "Fix it"}},
		"a fence in the body": {"Fix it\n\n```\nx\n```", &generator.CommitMessage{Title: "Fix it", Body: "```\nx\n```"}},
		"control characters":  {"\x1b[31mFix\x07 it\x1b[0m\r\n\r\nA\tB\x00", &generator.CommitMessage{Title: "Fix it", Body: "A\tB"}},
		"nothing":             {" \n\x1b[0m\n", nil},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, suggest(t, c.answer, "+x")) })
	}
	m := suggest(t, "Fix it\n"+strings.Repeat("é", 5000), "+x")
	assert.LessOrEqual(t, len(m.Title)+len(m.Body), generator.MaxCommitMessage)
	assert.Greater(t, len(m.Body), 8000)
	assert.True(t, utf8.ValidString(m.Body))
	assert.Len(t, []rune(suggest(t, strings.Repeat("a", 9000), "+x").Title), 200)
}

func TestDiffsOfAnySizeAreAsked(t *testing.T) {
	c := &completer{answer: "Fix it"}
	ask := func(r generator.CommitRequest) string {
		m, err := generators.CommitMessages(c).Suggest(t.Context(), r)
		require.NoError(t, err)
		require.NotNil(t, m)
		return c.asked[len(c.asked)-1]
	}
	assert.Equal(t, "The diff:\n\n+x", ask(generator.CommitRequest{Diff: "+\x1b[31mx"}))
	assert.Equal(t, "The author says about it: for #7\n\nThe diff:\n\n+x", ask(generator.CommitRequest{Diff: "+x", Hint: " for #7\n"}))

	var diff strings.Builder
	for i := range 400 {
		fmt.Fprintf(&diff, "diff --git a/f%d b/f%d\n--- a/f%d\n+++ b/f%d\n@@ -1 +1 @@\n%s\n", i, i, i, i, strings.Repeat("+line\n", 60))
	}
	asked := ask(generator.CommitRequest{Diff: diff.String(), Hint: strings.Repeat("h", 100_000)})
	assert.Less(t, len(asked), 80_000)
	assert.Contains(t, asked, "bytes of the diff are left out. They change f")
	assert.Regexp(t, `and \d+ more\.$`, asked)
	assert.Less(t, len(ask(generator.CommitRequest{Diff: strings.Repeat("é", 1<<20)})), 80_000)
	assert.True(t, utf8.ValidString(c.asked[len(c.asked)-1]))
}

func TestBlankDiffAsksNobody(t *testing.T) {
	c := &completer{}
	m, err := generators.CommitMessages(c).Suggest(t.Context(), generator.CommitRequest{Diff: " \n", Hint: "x"})
	require.NoError(t, err)
	assert.Nil(t, m)
	assert.Empty(t, c.asked)
	c.err = errors.New("no")
	_, err = generators.CommitMessages(c).Suggest(t.Context(), generator.CommitRequest{Diff: "+x"})
	require.ErrorIs(t, err, c.err)
}

// The built-in generator of a whole host asks the model of the open session.
func TestCommitMessageOfASession(t *testing.T) {
	k := kerneltest.Start(t, modelaccess.Module, generators.Module, kerneltest.Script(kerneltest.Step{Text: "Fix the test"}),
		fx.Supply(modelaccess.Config{}))
	held := generator.CurrentCommitMessage(k.Registry())
	r := generator.CommitRequest{Diff: "--- a/x\n+++ b/x\n+y\n"}
	_, err := held.Suggest(t.Context(), r)
	require.ErrorIs(t, err, model.ErrNoSession)
	k.NewThread(kernel.Options{})
	m, err := held.Suggest(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, &generator.CommitMessage{Title: "Fix the test"}, m)
	require.Len(t, k.Model.Requests(), 1)
	assert.Contains(t, k.Model.Requests()[0].Items[0].Text, r.Diff)
	assert.Contains(t, k.Model.Requests()[0].System, "commit messages")
}

func FuzzCommitMessage(f *testing.F) {
	f.Add("Fix it\n\nbody", "--- a/x\n+++ b/y\t2020\n")
	f.Add("```go\nx\n```", "+++ \x1b]0;")
	f.Fuzz(func(t *testing.T, answer, diff string) {
		c := &completer{answer: answer}
		m, err := generators.CommitMessages(c).Suggest(context.Background(), generator.CommitRequest{Diff: diff})
		if err != nil {
			t.Fatal(err)
		}
		if m == nil {
			return
		}
		bad := func(s string, allowed string) bool {
			return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune(allowed, r) })
		}
		if m.Title == "" || bad(m.Title, "") || bad(m.Body, "\n\t") || len(m.Title)+len(m.Body) > generator.MaxCommitMessage {
			t.Fatalf("%q became %q", answer, m)
		}
	})
}
