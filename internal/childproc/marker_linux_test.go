package childproc_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/childproc"
)

// FIELD-I7
func TestAProcessThatLeftTheGroupIsNamed(t *testing.T) {
	var out buffer
	c := sh(`p=$(mktemp -u); mkfifo $p; setsid sh -c 'echo $$ > '$p'; exec sleep 300' >/dev/null 2>&1 </dev/null & cat $p; rm $p`, &out)
	c.Marker = "CHILDPROC_TEST=" + t.Name()
	start := time.Now()
	exit, err := childproc.Run(context.Background(), c)
	require.NoError(t, err)
	pids := numbers(t, &out, 1)
	t.Cleanup(func() {
		_ = syscall.Kill(pids[0], syscall.SIGKILL)
		gone(t, pids...)
	})
	assert.Equal(t, pids, exit.Escaped)
	assert.False(t, exit.Background)
	assert.Less(t, time.Since(start), 2*time.Second)
}
