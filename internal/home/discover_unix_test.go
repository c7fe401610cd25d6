//go:build unix

package home_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home"
)

func TestManifestThatIsAPipeDoesNotBlock(t *testing.T) {
	tr := newTrees(t)
	require.NoError(t, os.MkdirAll(tr.home.Path("plugins", "a"), 0o755))
	require.NoError(t, syscall.Mkfifo(tr.home.Path("plugins", "a", home.ManifestFile), 0o600))
	d := tr.discover()
	assert.Equal(t, []string{"PluginManifestUnreadable"}, codes(d.Notes))
}
