package generators

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A workspace that is cleared while somebody looks at it stays cleared, and what is scheduled after that counts.
func TestLookThatWasClearedIsNotKept(t *testing.T) {
	ws := t.TempDir()
	w := NewWelcome("", slog.New(slog.DiscardHandler))
	first, second := &job{}, &job{}
	w.jobs[ws] = first
	require.NoError(t, w.Clear(t.Context(), ws))
	w.jobs[ws] = second
	w.run(ws, first)
	k, err := w.kept.read(ws)
	require.NoError(t, err)
	assert.Zero(t, k)
	assert.Same(t, second, w.jobs[ws])
	w.run(ws, second)
	k, err = w.kept.read(ws)
	require.NoError(t, err)
	assert.NotEmpty(t, k.Suggestions)
	assert.Empty(t, w.jobs)
}
