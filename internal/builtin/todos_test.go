package builtin_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/builtin"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestTodosAreReplacedAsAWhole(t *testing.T) {
	d := newDesk(t)
	assert.Equal(t, "(no todos)", d.ok("todoread", args{}))
	first := args{"todos": []any{
		map[string]any{"content": "one", "status": "in_progress", "priority": "high"},
		map[string]any{"content": "two", "status": "in_progress"},
	}}
	want := "[in_progress] one (high)\n[in_progress] two\n2 todos: 2 in_progress\n[more than one todo is in progress; work on one at a time]"
	assert.Equal(t, want, d.ok("todowrite", first))
	assert.Equal(t, want, d.ok("todoread", args{}))
	assert.Equal(t, "[completed] one\n1 todo: 1 completed",
		d.ok("todowrite", args{"todos": []any{map[string]any{"content": "one", "status": "completed"}}}))
	r := d.runIn(context.Background(), "t2", "todoread", args{}, tool.Classification{})
	assert.Equal(t, "(no todos)", text(r), "each thread has its own")
	require.NoError(t, d.source.ReleaseThread(context.Background(), "t1"))
	assert.Equal(t, "(no todos)", d.ok("todoread", args{}))
}

type brokenTodos struct{}

func (brokenTodos) Todos(context.Context, string) ([]threadlog.Todo, error) {
	return nil, errors.New("secret path")
}

func (brokenTodos) SetTodos(context.Context, string, []threadlog.Todo) error {
	return errors.New("secret path")
}

func TestTodosThatCanNotBeKept(t *testing.T) {
	d := newDesk(t, func(c *builtin.Config) { c.Todos = brokenTodos{} })
	assert.NotContains(t, d.fails(tool.CodeExecutionFailed, "todoread", args{}), "secret")
	assert.NotContains(t, d.fails(tool.CodeExecutionFailed, "todowrite", args{"todos": []any{}}), "secret")
}

type asker func(ctx context.Context, q builtin.Question) (string, error)

func (a asker) AskQuestion(ctx context.Context, q builtin.Question) (string, error) { return a(ctx, q) }

func TestQuestion(t *testing.T) {
	var asked builtin.Question
	answer, fault := "blue\x1b[31m", error(nil)
	d := newDesk(t, func(c *builtin.Config) {
		c.Asker = asker(func(_ context.Context, q builtin.Question) (string, error) {
			asked = q
			return answer, fault
		})
	})
	a := args{"question": "Which?", "options": []string{"red", "blue"}, "multiple": true}
	assert.Equal(t, "blue", d.ok("question", a))
	assert.Equal(t, builtin.Question{Thread: "t1", Text: "Which?", Options: []string{"red", "blue"}, Multiple: true}, asked)
	answer = ""
	assert.Equal(t, "(an empty answer)", d.ok("question", a))
	fault = builtin.ErrDismissed
	assert.Equal(t, "the operator did not answer", d.fails(tool.CodeApprovalRejected, "question", a))
	fault = errors.New("secret")
	assert.NotContains(t, d.fails(tool.CodeExecutionFailed, "question", a), "secret")
}

func TestAQuestionToNobody(t *testing.T) {
	d := newDesk(t)
	r := d.run("question", args{"question": "Which?"})
	require.True(t, r.Failed)
	assert.Equal(t, map[string]any{"by": "no_operator"}, r.Error.Params)
	tools, err := d.source.Tools(context.Background(), tool.Planning{ThreadKind: "subagent"})
	require.NoError(t, err)
	for _, r := range tools {
		assert.NotEqual(t, "question", r.Definition.Name, "only the main agent can ask")
	}
}
