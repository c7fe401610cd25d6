package plugins_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/plugins"
)

func TestCodesAreDocumentedOnce(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^Plugin[A-Z][A-Za-z]+$`)
	seen := map[plugins.Code]bool{}
	for _, d := range plugins.Codes() {
		assert.Regexp(t, name, string(d.Code))
		assert.False(t, seen[d.Code], d.Code)
		seen[d.Code] = true
		assert.NotEmpty(t, d.Kinds, d.Code)
		assert.NotEmpty(t, d.Meaning, d.Code)
		assert.NotEmpty(t, d.Params, d.Code)
	}
	assert.True(t, seen[plugins.PluginContributionQuiesceFailed])
}
