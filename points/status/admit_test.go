package status_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/status"
)

// STATUS-1: of five fields one has a name that it may have, and it is kept in lower case.
func TestFieldsWithNamesThatTheyMayNotHaveAreLeftOut(t *testing.T) {
	long := strings.Repeat("a", 32)
	registry, err := contrib.New(status.Fields)
	require.NoError(t, err)
	add := func(plugin string, names ...string) {
		origin, err := contrib.Plugin(plugin, "1")
		require.NoError(t, err)
		staging := registry.Stage(origin, nil)
		for _, name := range names {
			_, err := status.Fields.Add(staging.Registrar(), status.Field{Name: name, Description: " text "})
			require.NoError(t, err, name)
		}
		require.NoError(t, staging.Commit())
	}
	add("acme.x", "Build--x", "on", "model", "9a", " Build ", "", long, long+"a", "a-", "RESET", "a b", "1", "Context-Left", "x-1")
	add("acme.y", "build", "tests")

	admitted, omitted := status.Admit(registry.View())
	var names []string
	for _, a := range admitted {
		names = append(names, a.Origin.ID()+" "+a.Name+" "+a.Description)
	}
	assert.Equal(t, []string{"acme.x build text", "acme.x " + long + " text", "acme.x x-1 text", "acme.y tests text"}, names)
	why := map[string]string{}
	for _, o := range omitted {
		why[o.Entry.Origin.ID()+" "+o.Name] = o.Reason
	}
	assert.Equal(t, map[string]string{
		"acme.x build--x": "invalid", "acme.x on": "reserved", "acme.x model": "reserved", "acme.x 9a": "invalid", "acme.x ": "invalid",
		"acme.x " + long + "a": "invalid", "acme.x a-": "invalid", "acme.x reset": "reserved", "acme.x a b": "invalid", "acme.x 1": "invalid",
		"acme.x context-left": "reserved", "acme.y build": "duplicate",
	}, why)
}

func TestBuiltinFieldsAreSorted(t *testing.T) {
	names := status.BuiltinFields()
	assert.IsIncreasing(t, names)
	names[0] = "changed"
	assert.True(t, status.Builtin("activity"), "the list is a copy")
	assert.False(t, status.Builtin("build"))
}
