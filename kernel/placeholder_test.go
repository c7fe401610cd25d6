package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/host"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
)

func placeholder(name string, resolve func(context.Context, prompt.Binding) (string, error)) fx.Option {
	return contrib.Supply(prompt.Placeholders, prompt.PlaceholderFunc(name, resolve))
}

// EXT-12
func TestAPlaceholderThatPanicsLeavesItsToken(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(
		plugin("acme.a", assembled("x {{t}} y {{t}}"), placeholder("t", func(context.Context, prompt.Binding) (string, error) { panic("secret-1") }))))
	for range 2 {
		turn := k.Run("go")
		assert.Equal(t, "x {{t}} y {{t}}", last(k).System)
		require.Len(t, turn.Notes(), 1, "once a turn")
		assert.Equal(t, "ContributionCallFailed", turn.Notes()[0].Code)
		assert.NotContains(t, fmt.Sprint(turn.Notes()), "secret-1")
	}
}

// EXT-9
func TestPlaceholdersWithIllegalNamesAreRefused(t *testing.T) {
	value := func(context.Context, prompt.Binding) (string, error) { return "v", nil }
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.a",
		assembled("{{my-token}} {{good}}"), placeholder("my-token", value), placeholder(strings.Repeat("a", 65), value), placeholder("mode", value),
		placeholder("good", value))))
	k.Run("go")
	assert.Equal(t, "{{my-token}} v", last(k).System)
	var refused []string
	for _, d := range k.Registry().Diagnostics() {
		refused = append(refused, d.Code+" "+d.Origin.ID())
	}
	assert.Equal(t, []string{"ContributionRefused acme.a", "ContributionRefused acme.a", "ContributionRefused acme.a"}, refused)
	require.Len(t, k.Plugins.Snapshot().Plugins[0].Diagnostics, 1, "one slot for each code")
	assert.Equal(t, plugins.Active, k.Plugins.Snapshot().Plugins[0].State)
}

// facts are what a host tells of its models.
type facts struct{ name string }

func (f facts) Session(context.Context) model.Description { return model.Description{Model: f.name} }

func (f facts) Review() model.ReviewFacts { return model.ReviewFacts{Independent: true} }

// EXT-14
func TestPlaceholdersSeeTheHost(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.a", assembled("{{sample_token}}"),
		placeholder("sample_token", func(ctx context.Context, b prompt.Binding) (string, error) {
			seen := len(b.Environment.Plugins)
			if seen > 0 {
				b.Environment.Plugins[0].ID = "changed" // its own copy
			}
			return fmt.Sprintf("%s %d %s %v", b.Mode, seen, b.Facts.Session(ctx).Model, b.Facts.Review().Independent), nil
		}))))
	k.Run("go")
	assert.Equal(t, "work 0  false", last(k).System)
	k.FactsBy(facts{"large"})
	e := host.Environment{Plugins: []host.Plugin{{ID: "acme.a"}}}
	_, err := k.Attach(t.Context(), e)
	require.NoError(t, err)
	for range 2 {
		k.Run("go")
		assert.Equal(t, "work 1 large true", last(k).System)
	}
	text, err := k.Bind(t.Context(), prompt.Binding{Mode: kernel.ModePlan}, "{{sample_token}}")
	require.NoError(t, err)
	assert.Equal(t, "plan 1 large true", text)
	assert.Equal(t, "acme.a", e.Plugins[0].ID)
}
