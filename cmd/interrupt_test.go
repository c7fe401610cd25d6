package crystalcmd

import (
	"context"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The first signal cancels the turn, the second ends the process; outside of a turn the first one does.
func TestInterrupter(t *testing.T) {
	var codes []int
	i := newInterrupter(func(code int) { codes = append(codes, code) })
	i.signal(syscall.SIGTERM)
	assert.Equal(t, []int{143}, codes, "before the turn")

	ctx, end := i.turn(context.Background())
	i.signal(os.Interrupt)
	assert.ErrorIs(t, ctx.Err(), context.Canceled)
	assert.Equal(t, []int{143}, codes, "the first one in a turn")
	i.signal(os.Interrupt)
	assert.Equal(t, []int{143, 130}, codes, "the second one")
	end()

	ctx, end = i.turn(context.Background())
	end()
	assert.Error(t, ctx.Err())
	i.signal(syscall.SIGHUP)
	assert.Equal(t, []int{143, 130, 143}, codes, "after the turn")
}
