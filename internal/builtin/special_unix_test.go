//go:build unix

package builtin_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/tool"
)

func TestPipesAreRefusedAndNeverWaitedFor(t *testing.T) {
	d := newDesk(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(d.ws, "fifo"), 0o644))
	d.file("a.txt", "foo\n")
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "read", args{"path": "fifo"}), "device, socket or pipe")
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "write", args{"path": "fifo", "content": "x"}), "device, socket or pipe")
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "edit", args{"path": "fifo", "oldText": "x", "newText": "y"}), "device, socket or pipe")
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "grep", args{"pattern": "x", "path": "fifo"}), "device, socket or pipe")
	assert.Equal(t, "a.txt:1:foo", d.ok("grep", args{"pattern": "foo"}))
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "read", args{"path": "/dev/null"}), "device, socket or pipe")
}
