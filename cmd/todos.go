package crystalcmd

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/crystalkernel/crystal/internal/builtin"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/threadlog"
)

// todos keeps the todo list of the thread that a host has open in that thread's log, so that it is there when the thread
// goes on.
type todos struct{ thread atomic.Pointer[kernel.Thread] }

var _ builtin.Todos = (*todos)(nil)

// Todos returns the list.
func (t *todos) Todos(_ context.Context, thread string) ([]threadlog.Todo, error) {
	th, err := t.open(thread)
	if err != nil {
		return nil, err
	}
	return th.Log().State().Todos, nil
}

// SetTodos replaces the list.
func (t *todos) SetTodos(_ context.Context, thread string, list []threadlog.Todo) error {
	th, err := t.open(thread)
	if err != nil {
		return err
	}
	return th.Log().Append(&threadlog.Todos{Todos: list})
}

func (t *todos) open(id string) (*kernel.Thread, error) {
	if th := t.thread.Load(); th != nil && th.ID() == id {
		return th, nil
	}
	return nil, fmt.Errorf("the thread %q is not open", id)
}
