package kernel_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
)

func twoImages() []kernel.Image {
	return []kernel.Image{{MediaType: "image/png", Data: png}, {MediaType: "image/png", Data: append(slices.Clone(png), 2)}}
}

func TestImagesOfAnInputStandAtItsEnd(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script())
	// What a person types is never a marker, whatever it looks like.
	k.RunInput(t.Context(), kernel.Input{Text: "is \u2063[Image #1] text?", Images: twoImages()})
	sent := last(k).Items[0]
	assert.Equal(t, "is [Image #1] text?\n"+threadlog.Marker(1)+"\n"+threadlog.Marker(2), sent.Text)
	require.Len(t, sent.Images, 2)
	assert.Equal(t, png, sent.Images[0].Data)
	k.RunInput(t.Context(), kernel.Input{Images: twoImages()[:1]})
	assert.Equal(t, threadlog.Marker(3), last(k).Items[2].Text, "numbers are not used again")
}

func TestHookOfTheUserMessageDropsAnImage(t *testing.T) {
	var shown string
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p", contrib.Supply[hook.UserMessage](hook.UserMessages,
		hook.UserMessageFunc(func(_ context.Context, _ hook.Scope, text string) (string, bool, error) {
			shown = text
			return "here: " + strings.Replace(text, "[Image #1]", "", 1), true, nil
		})))))
	k.RunInput(t.Context(), kernel.Input{Text: "look", Images: twoImages()})
	assert.Equal(t, "look\n[Image #1]\n[Image #2]", shown)
	sent := last(k).Items[0]
	assert.Equal(t, "here: look\n\n"+threadlog.Marker(2), sent.Text)
	require.Len(t, sent.Images, 1)
	assert.Equal(t, 2, sent.Images[0].Number)
}

func TestModelThatTakesNoImagesGetsText(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.ScriptOf(model.ClientRequest{ContextWindow: 1 << 20}))
	k.RunInput(t.Context(), kernel.Input{Text: "look", Images: twoImages()[:1]})
	assert.Equal(t, "look\n[Image #1]", last(k).Items[0].Text)
	assert.Empty(t, last(k).Items[0].Images)
	assert.Len(t, k.Thread().Log().Items()[0].Images, 1, "it is stored all the same")
}

// brokenStore is a store whose threads cannot be made.
type brokenStore struct{ threadlog.Store }

func (brokenStore) Create(context.Context, threadlog.Header) (*threadlog.Log, error) {
	return nil, threadlog.ErrInUse
}

func TestStoreThatFailsMakesNoThread(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(), fx.Decorate(func(s threadlog.Store) threadlog.Store { return brokenStore{s} }))
	_, err := k.Create(t.Context(), kernel.Options{})
	require.ErrorIs(t, err, threadlog.ErrInUse)
	require.ErrorIs(t, k.Delete(t.Context(), "x"), kernel.ErrNoDelete)
}
