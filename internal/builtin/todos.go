package builtin

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/tool"
)

// Todos keeps the todo list of each thread. A host that has thread logs keeps it there.
//
// Calls for different threads may overlap. The list that SetTodos gets is the store's; the one that Todos returns is not
// changed. An error fails the call, and its text goes to the log file alone.
type Todos interface {
	Todos(ctx context.Context, thread string) ([]threadlog.Todo, error)
	SetTodos(ctx context.Context, thread string, list []threadlog.Todo) error
}

// todoMemory keeps todos for as long as the thread is open.
type todoMemory struct {
	mu      sync.Mutex
	threads map[string][]threadlog.Todo
}

func (m *todoMemory) Todos(_ context.Context, thread string) ([]threadlog.Todo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.threads[thread], nil
}

func (m *todoMemory) SetTodos(_ context.Context, thread string, list []threadlog.Todo) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.threads == nil {
		m.threads = map[string][]threadlog.Todo{}
	}
	m.threads[thread] = list
	return nil
}

func (m *todoMemory) release(thread string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.threads, thread)
}

var todowriteTool = kind{
	name: "todowrite",
	description: "Replaces the list of todos of this conversation and returns it. Use it to plan work of several steps and to keep the plan " +
		"current: give the whole list each time, with one todo in_progress at most.",
	schema: `{"type":"object","properties":{"todos":{"type":"array","maxItems":100,"items":{"type":"object","properties":{` +
		`"content":{"type":"string","minLength":1,"maxLength":500},"status":{"type":"string","enum":["pending","in_progress","completed","cancelled"]},` +
		`"priority":{"type":"string","enum":["high","medium","low"]}},"required":["content","status"],"additionalProperties":false}}},` +
		`"required":["todos"],"additionalProperties":false}`,
	hints: tool.Hints{ReadOnly: true}, catalogs: tool.CatalogBoth,
	classify: classifyHarmless, run: (*Source).todowrite,
}

var todoreadTool = kind{
	name:        "todoread",
	description: "Returns the list of todos of this conversation.",
	schema:      `{"type":"object","properties":{},"additionalProperties":false}`,
	hints:       tool.Hints{ReadOnly: true}, catalogs: tool.CatalogBoth, inline: true,
	classify: classifyHarmless, run: (*Source).todoread,
}

// classifyHarmless judges tools that touch nothing but the conversation.
func classifyHarmless(_ *Source, c tool.Call, _ string) tool.Classification {
	return tool.Classification{Risk: tool.Read, Authority: tool.Workspace, Summary: c.Tool}
}

func (s *Source) todowrite(ctx context.Context, i *tool.Invocation) tool.Result {
	var args struct {
		Todos []threadlog.Todo `json:"todos"`
	}
	if err := arguments(i.Arguments, &args); err != nil {
		return invalid("The arguments can't be read: %v.", err)
	}
	if err := s.todos.SetTodos(ctx, i.Thread, args.Todos); err != nil {
		return failed("The list of todos could not be stored.")
	}
	return todoResult(args.Todos)
}

func (s *Source) todoread(ctx context.Context, i *tool.Invocation) tool.Result {
	list, err := s.todos.Todos(ctx, i.Thread)
	if err != nil {
		return failed("The list of todos could not be read.")
	}
	return todoResult(list)
}

// todoResult shows a list, with how many todos there are of each status.
func todoResult(list []threadlog.Todo) tool.Result {
	n := len(list)
	if n == 0 {
		return succeeded("(no todos)", facts{Count: &n})
	}
	var out strings.Builder
	counts := map[string]int{}
	for _, t := range list {
		counts[t.Status]++
		fmt.Fprintf(&out, "[%s] %s", t.Status, oneLine(t.Content))
		if t.Priority != "" {
			fmt.Fprintf(&out, " (%s)", t.Priority)
		}
		out.WriteByte('\n')
	}
	var parts []string
	for _, status := range [...]string{"pending", "in_progress", "completed", "cancelled"} {
		if counts[status] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[status], status))
		}
	}
	fmt.Fprintf(&out, "%d %s: %s", n, plural(n, "todo"), strings.Join(parts, ", "))
	if counts["in_progress"] > 1 {
		out.WriteString("\n[more than one todo is in progress; work on one at a time]")
	}
	return succeeded(out.String(), facts{Count: &n})
}
