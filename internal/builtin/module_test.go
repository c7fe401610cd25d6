package builtin_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/builtin"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/points/thread"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestModuleContributesTheSource(t *testing.T) {
	for _, options := range [][]fx.Option{nil, {fx.Supply(builtin.Config{BashTimeout: time.Second})}} {
		registry, err := contrib.New(tool.Sources)
		require.NoError(t, err)
		app := fxtest.New(t, fx.NopLogger, fx.Supply(registry.Builtin()), builtin.Module, fx.Options(options...))
		app.RequireStart()
		entries := tool.Sources.Entries(registry.View(), "")
		require.Len(t, entries, 1)
		assert.Equal(t, tool.SourceBuiltin, entries[0].Name)
		assert.Equal(t, 100, entries[0].Order)
		tools, err := entries[0].Value.Tools(context.Background(), tool.Planning{})
		require.NoError(t, err)
		assert.NotEmpty(t, tools)
		app.RequireStop()
		registry.Close()
	}
}

// Observers of signals are told that the operator is asked, and that this is over.
func TestQuestionsAreSignalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var heard []string
		tell := func(s string) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, s)
		}
		k := kerneltest.Start(t,
			kerneltest.Script(kerneltest.Step{Calls: []kerneltest.Call{{Name: "question", Arguments: `{"question":"Which one?"}`}}}),
			builtin.Module,
			fx.Supply(builtin.Config{Asker: asker(func(context.Context, builtin.Question) (string, error) {
				synctest.Wait() // the first signal is there
				tell("asked")
				return "the red one", nil
			})}),
			contrib.Supply[thread.SignalObserver](thread.Signals, thread.SignalFunc(func(_ context.Context, s thread.Signal) error {
				if s.CallID != "" {
					tell(string(s.Kind) + " " + s.Turn + " " + s.CallID)
				}
				return nil
			})))
		turn := k.Run("go")
		assert.Equal(t, "the red one", turn.Calls()[0].Text)
		synctest.Wait()
		assert.Equal(t, []string{"user_input_requested t1 c1", "asked", "user_input_resolved t1 c1"}, heard)
	})
}
