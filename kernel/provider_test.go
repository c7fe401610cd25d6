package kernel_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// An error inside an answer, after a tool has run in the round before, sends that round's request again and the tool no
// second time: FIELD-P16b.
func TestRetryDoesNotRepeatTheToolOfTheRoundBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		k := kerneltest.Start(t,
			kerneltest.Script(
				call("note", `{}`),
				kerneltest.Step{Text: "par", Err: &model.Error{Code: model.CodeHTTP, Kind: model.KindServer, Message: "The server had an error", Retryable: true}},
				say("good"),
			),
			kerneltest.Tools(reading("note", func(context.Context, tool.Invocation) (tool.Result, error) {
				runs++
				return tool.Text("noted"), nil
			})),
		)
		turn := k.Run("go")
		assert.Equal(t, kernel.Completed, turn.Result.Stop)
		assert.Equal(t, "good", turn.Result.Text, "the text of the failed attempt is in no reply")
		assert.Equal(t, 1, runs)
		requests := k.Model.Requests()
		require.Len(t, requests, 3)
		assert.Same(t, requests[1], requests[2], "the second round is sent twice, the first once")
		assert.Len(t, kerneltest.All[kernel.Retrying](turn), 1)
	})
}

// protocols is a factory for some protocols, whose clients answer with a fixed text.
func protocols(text string, names ...string) fx.Option {
	return contrib.Supply[model.ClientFactory](model.Protocols, &fixedFactory{text, names})
}

type fixedFactory struct {
	text  string
	names []string
}

func (f *fixedFactory) CanCreate(protocol string) bool {
	for _, n := range f.names {
		if n == protocol {
			return true
		}
	}
	return false
}

func (f *fixedFactory) Create(context.Context, model.ClientRequest) (model.Client, error) {
	return model.ClientFunc(func(context.Context, *model.Request, func(model.Delta) error) (*model.Response, error) {
		return &model.Response{
			Items:  []*model.Item{{Kind: model.Message, Role: model.Assistant, Text: f.text}},
			Finish: model.FinishStop,
		}, nil
	}), nil
}

func (f *fixedFactory) CreateMultimodal(context.Context, model.ClientRequest) (model.Client, error) {
	return nil, nil
}

// A plugin's factory serves a protocol of its own; one that claims a protocol of the host is refused, and the refusal names
// the token: PROTO-10, PROTO-12.
func TestProtocolsFromPlugins(t *testing.T) {
	k := kerneltest.Start(t,
		protocols("of the host", "openai"),
		kerneltest.Plugins(
			plugin("acme.claims", protocols("stolen", "openai"), kerneltest.Tools(reading("other", nothing))),
			plugin("acme.own", protocols("of the plugin", "acme")),
		),
	)
	for ref, want := range map[string]string{"openai/m": "of the host", "acme/m": "of the plugin"} {
		th, err := k.Create(t.Context(), kernel.Options{Model: ref})
		require.NoError(t, err)
		r, err := th.Run(t.Context(), kernel.Input{Text: "hi"}, nil)
		require.NoError(t, err)
		assert.Equal(t, want, r.Text, ref)
		require.NoError(t, th.Close(t.Context()))
	}
	th, err := k.Create(t.Context(), kernel.Options{Model: "9x/m"})
	require.NoError(t, err)
	_, err = th.Run(t.Context(), kernel.Input{Text: "hi"}, nil)
	require.ErrorIs(t, err, kernel.ErrNoProtocol)
	require.ErrorContains(t, err, `"9x"`)

	var refused []contrib.Diagnostic
	for _, d := range k.Registry().Diagnostics() {
		if d.Code == "ContributionRefused" {
			refused = append(refused, d)
		}
	}
	require.Len(t, refused, 1)
	assert.Equal(t, "model.protocol", refused[0].Point)
	assert.Equal(t, "acme.claims", refused[0].Origin.ID())
	assert.Equal(t, "openai", refused[0].Params["protocol"])
}

func nothing(context.Context, tool.Invocation) (tool.Result, error) {
	return tool.Result{}, errors.New("not to be called")
}
