package childproc_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/childproc"
)

// stream is n bytes that tell where they are.
func stream(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return out
}

func TestCaptureKeepsWhatFits(t *testing.T) {
	for _, size := range []int{0, 1, 1 << 20, 1<<20 + 1, 5 << 20, childproc.CaptureLimit} {
		var c childproc.Capture
		want := stream(size)
		for rest := want; len(rest) > 0; {
			n := min(len(rest), 300_001)
			written, err := c.Write(rest[:n])
			require.NoError(t, err)
			require.Equal(t, n, written)
			rest = rest[n:]
		}
		got, _, dropped, err := c.Output()
		require.NoError(t, err)
		assert.Zero(t, dropped)
		assert.True(t, bytes.Equal(want, got), "%d bytes", size)
		require.NoError(t, c.Close())
	}
}

func TestCaptureKeepsBothEnds(t *testing.T) {
	var c childproc.Capture
	all := stream(childproc.CaptureLimit + 3<<20 + 17)
	_, err := c.Write(all)
	require.NoError(t, err)
	got, at, dropped, err := c.Output()
	require.NoError(t, err)
	assert.Len(t, got, childproc.CaptureLimit)
	assert.EqualValues(t, 3<<20+17, dropped)
	assert.True(t, bytes.Equal(all[:at], got[:at]))
	assert.True(t, bytes.Equal(all[len(all)-1<<20:], got[at:]))
	require.NoError(t, c.Close())
}

func TestCaptureWithoutAPlaceForAFile(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	var c childproc.Capture
	all := stream(4 << 20)
	_, err := c.Write(all)
	require.NoError(t, err)
	got, at, dropped, err := c.Output()
	require.NoError(t, err)
	assert.EqualValues(t, 2<<20, dropped)
	assert.Equal(t, 1<<20, at)
	assert.True(t, bytes.Equal(all[3<<20:], got[at:]))
}

func TestCaptureLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var c childproc.Capture
	_, err := c.Write(stream(2 << 20))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}
