package dispatcher

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestToolContextIsThatOfTheTurnUntilItIsOver(t *testing.T) {
	type key struct{}
	bored, over := errors.New("bored"), errors.New("over")
	for name, look := range map[string]func(*toolContext){
		"nobody waits":   func(*toolContext) {},
		"somebody waits": func(c *toolContext) { c.Done() },
	} {
		t.Run(name, func(t *testing.T) {
			parent, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "v"))
			defer cancel(nil)
			c := &toolContext{parent: parent}
			look(c)
			require.NoError(t, c.Err())
			require.Equal(t, "v", c.Value(key{}))
			require.NoError(t, context.Cause(c))
			child, done := context.WithCancel(c)
			defer done()

			c.stop(over)
			c.stop(bored)
			require.ErrorIs(t, c.Err(), context.Canceled)
			require.Equal(t, over, context.Cause(c), "the first cause counts")
			<-c.Done()
			<-child.Done()
			require.Equal(t, over, context.Cause(child))
			require.NoError(t, parent.Err())

			c = &toolContext{parent: parent}
			look(c)
			cancel(bored)
			<-c.Done()
			require.ErrorIs(t, c.Err(), context.Canceled)
			require.Equal(t, bored, context.Cause(c))
		})
	}
}
