package export

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Standard is tested against the tool chain.
var Standard = standard

func TestRoomsOfCrystal(t *testing.T) {
	for path, want := range map[string]bool{
		"github.com/crystalkernel/crystal": true, "github.com/crystalkernel/crystal/points/tool": true,
		"github.com/crystalkernel/crystal/points/tool_test": false, "github.com/crystalkernel/crystal/examples/twoplugins": false,
		"github.com/crystalkernel/crystalline": false, "github.com/acme/review": false,
	} {
		assert.Equal(t, want, own(path), path)
	}
}
