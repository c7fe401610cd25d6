package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/tool"
)

func rebuild(f func(r hook.Request) []hook.Item, opts ...contrib.Option) fx.Option {
	return contrib.Supply[rawhook.RebuildModel](rawhook.RebuildModels,
		rawhook.RebuildModelFunc(func(_ context.Context, r hook.Request) ([]hook.Item, error) { return f(r), nil }), opts...)
}

func transform(f func(r hook.Request) []hook.Item, opts ...contrib.Option) fx.Option {
	return contrib.Supply[hook.TransformModel](hook.TransformModels,
		hook.TransformModelFunc(func(_ context.Context, r hook.Request) ([]hook.Item, error) { return f(r), nil }), opts...)
}

// FIELD-A20
func TestChangingOneTextChangesNothingElse(t *testing.T) {
	heat := 0.5
	run := func(opts ...fx.Option) (*kerneltest.Kernel, *model.Request) {
		k := kerneltest.Start(t, append(opts,
			kerneltest.ScriptOf(model.ClientRequest{ContextWindow: 128_000, ImageInput: true, Temperature: &heat, MaxTokens: 77}),
			kerneltest.Tools(reading("probe", answering("x"))),
			fx.Decorate(func(c kernel.Config) kernel.Config { return c }))...)
		k.RunOn(t.Context(), mustCreate(t, k), kernel.Input{Text: "look", Images: []kernel.Image{{MediaType: "image/png", Data: png}}})
		return k, last(k)
	}
	_, plain := run()
	k, hooked := run(kerneltest.Plugins(plugin("acme.p", transform(func(r hook.Request) []hook.Item {
		for i := range r.Items {
			r.Items[i].Text = strings.Replace(r.Items[i].Text, "look", "look!", 1)
		}
		return r.Items
	}))))
	mark := threadlog.Marker(1)
	require.Equal(t, "look\n"+mark, plain.Items[0].Text)
	assert.Equal(t, "look!\n"+mark, hooked.Items[0].Text)
	got, want := *hooked, *plain
	own := *got.Items[0]
	own.Text = want.Items[0].Text
	got.Items = []*model.Item{&own}
	got.Thread = want.Thread
	assert.Equal(t, want, got)
	assert.Equal(t, png, own.Images[0].Data)
	th, _, err := k.Threads().List(t.Context(), threadlog.Filter{})
	require.NoError(t, err)
	p, _, err := k.Threads().Read(t.Context(), th[0].ID)
	require.NoError(t, err)
	assert.Equal(t, "look\n"+mark, p.Items()[0].Text)
}

// mustCreate makes a thread without a workspace, so that prompts of two kernels are equal.
func mustCreate(t *testing.T, k *kerneltest.Kernel) *kernel.Thread {
	t.Helper()
	th, err := k.Create(t.Context(), kernel.Options{Approval: kernel.ApprovalFull})
	require.NoError(t, err)
	return th
}

// pictures is a tool that returns a text, two images and another text.
func pictures() tool.Registration {
	return reading("shot", func(context.Context, tool.Invocation) (tool.Result, error) {
		return tool.Result{Content: []tool.Block{
			{Text: "A"}, {MediaType: "image/png", Data: png}, {MediaType: "image/png", Data: append(slices.Clone(png), 2)}, {Text: "B"},
		}}, nil
	})
}

// HOOK-15
func TestTransformDropsAnImage(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(call("shot", `{}`)), kerneltest.Tools(pictures()),
		kerneltest.Plugins(plugin("acme.p", transform(func(r hook.Request) []hook.Item {
			for i := range r.Items {
				if r.Items[i].Kind == model.ToolResult {
					r.Items[i].Images = r.Items[i].Images[1:]
				}
			}
			return r.Items
		}))))
	k.Run("go")
	got := results(last(k))[0]
	assert.Equal(t, "A\n\n"+threadlog.Marker(2)+"\nB", got.Text)
	require.Len(t, got.Images, 1)
	assert.Equal(t, append(slices.Clone(png), 2), got.Images[0].Data)
	kept := stored[*threadlog.Result](t, k, k.Thread())[0].Item
	assert.Len(t, kept.Images, 2)
	assert.Contains(t, kept.Text, threadlog.Marker(1))
}

// HOST-21, seen from the kernel: the order of blocks is that of the markers.
func TestBlocksOfAResultKeepTheirOrder(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(call("shot", `{}`)), kerneltest.Tools(pictures()))
	k.Run("go")
	assert.Equal(t, "A\n"+threadlog.Marker(1)+"\n"+threadlog.Marker(2)+"\nB", results(last(k))[0].Text)
}

// HOOK-17
func TestRawRebuildRewritesSystemTextAndRoles(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(say("one"), say("two")), kerneltest.Plugins(plugin("acme.p",
		rebuild(func(r hook.Request) []hook.Item {
			for i := range r.Items {
				if r.Items[i].Role == model.System {
					r.Items[i].Text = "SYSTEM"
				}
				if r.Items[i].Role == model.Assistant {
					r.Items[i].Role = model.User
				}
			}
			return r.Items
		}))))
	k.Run("a")
	k.Run("b")
	assert.Equal(t, "SYSTEM", last(k).System)
	assert.Equal(t, []string{"user: a", "user: one", "user: b"}, texts(last(k).Items))
	assert.Equal(t, []string{"user: a", "assistant: one", "user: b", "assistant: two"}, texts(k.Thread().Log().Items()))
}

// HOOK-19
func TestNewItemsKeepTheIDsOfOthers(t *testing.T) {
	var ids []string
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p",
		rebuild(func(r hook.Request) []hook.Item {
			return append([]hook.Item{{ID: "n1", Kind: model.Message, Role: model.User, Text: "new"}}, r.Items...)
		}),
		transform(func(r hook.Request) []hook.Item {
			for _, it := range r.Items {
				ids = append(ids, it.ID)
			}
			return nil
		}))))
	k.Run("go")
	assert.Equal(t, []string{"n1", "0", "1"}, ids)
	assert.Equal(t, []string{"user: new", "user: go"}, texts(last(k).Items))
	assert.NotEmpty(t, last(k).System)
}

// HOOK-20
func TestAcceptsImagesFollowsTheRequest(t *testing.T) {
	accepts := map[model.Purpose]bool{}
	k := kerneltest.Start(t, kerneltest.Script(say("a"), say("b"), say("side"), say("summary")), kerneltest.Plugins(plugin("acme.p",
		transform(func(r hook.Request) []hook.Item {
			accepts[r.Purpose] = r.AcceptsImages
			return nil
		}))))
	k.Run("one")
	k.Run("two")
	answer, err := k.Thread().Ask(t.Context(), "aside", nil)
	require.NoError(t, err)
	assert.Equal(t, "side", answer)
	_, err = k.Thread().Compact(t.Context(), "", nil)
	require.NoError(t, err)
	assert.Equal(t, map[model.Purpose]bool{model.Work: true, model.Side: false, model.Compaction: false}, accepts)
}

// HOOK-21, HOOK-26
func TestListsThatBreakARuleAreRefusedAsAWhole(t *testing.T) {
	for _, c := range []struct {
		name  string
		hook  fx.Option
		point string
	}{
		{"an id twice", rebuild(func(r hook.Request) []hook.Item {
			r.Items[0].Text = "changed"
			return append(r.Items, r.Items[1])
		}), "rawhook.rebuild_model"},
		{"no items", rebuild(func(hook.Request) []hook.Item { return []hook.Item{} }), "rawhook.rebuild_model"},
		{"an unknown image", rebuild(func(r hook.Request) []hook.Item {
			r.Items[1].Images = []hook.ImageRef{{Number: 7, MediaType: "image/png"}}
			return r.Items
		}), "rawhook.rebuild_model"},
		{"reversed", transform(func(r hook.Request) []hook.Item {
			slices.Reverse(r.Items)
			return r.Items
		}), "hook.transform_model"},
		{"another system text", transform(func(r hook.Request) []hook.Item {
			r.Items[0].Text += "!"
			return r.Items
		}), "hook.transform_model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p", c.hook)))
			turn := k.Run("go")
			require.Len(t, turn.Notes(), 1)
			assert.Equal(t, contrib.CodeCallFailed, turn.Notes()[0].Code)
			assert.Equal(t, c.point, turn.Notes()[0].Point)
			assert.Equal(t, "refused", turn.Notes()[0].Params["cause"])
			assert.Equal(t, []string{"user: go"}, texts(last(k).Items))
		})
	}
}

// HOOK-23
func TestRawRebuildMovesAnImage(t *testing.T) {
	move := rebuild(func(r hook.Request) []hook.Item {
		var image []hook.ImageRef
		for i := range r.Items {
			if r.Items[i].Kind == model.ToolResult && len(r.Items[i].Images) > 0 {
				image = r.Items[i].Images[:1:1]
				r.Items[i].Images = r.Items[i].Images[1:]
			}
		}
		for i := range r.Items {
			if r.Items[i].Role == model.User && image != nil {
				r.Items[i].Images = image
				break
			}
		}
		return r.Items
	}, contrib.Label("mover"))
	k := kerneltest.Start(t, kerneltest.Script(call("shot", `{}`), say("ok"), say("aside")), kerneltest.Tools(pictures()),
		kerneltest.Plugins(plugin("acme.p", move)))
	turn := k.Run("go")
	assert.Empty(t, failures(turn))
	assert.Equal(t, "go\n"+threadlog.Marker(1), last(k).Items[0].Text)
	assert.Equal(t, png, last(k).Items[0].Images[0].Data)
	assert.Len(t, results(last(k))[0].Images, 1)

	_, err := k.Thread().Ask(t.Context(), "aside", nil)
	require.NoError(t, err)
	assert.Equal(t, "go", last(k).Items[0].Text, "a side question takes no images, so the move is refused")
	refused := 0
	for _, d := range k.Registry().Diagnostics() {
		if d.Code == contrib.CodeCallFailed && d.Params["cause"] == "refused" {
			refused++
		}
	}
	assert.Equal(t, 1, refused)
}

// HOOK-24
func TestFailedRoundNamesTheRawHooksThatChangedIt(t *testing.T) {
	broken := errors.New("the provider is gone")
	change := true
	k := kerneltest.Start(t,
		kerneltest.Script(say("first"), kerneltest.Step{Err: broken}, kerneltest.Step{Err: broken}, kerneltest.Step{Err: broken}),
		kerneltest.Plugins(plugin("acme.p", rebuild(func(r hook.Request) []hook.Item {
			if !change || len(r.Items) < 3 {
				return r.Items // as it was: no hint
			}
			return r.Items[:len(r.Items)-1]
		}, contrib.Label("cutter")))))
	hints := func(turn kerneltest.Turn) (messages []string) {
		for _, n := range turn.Notes() {
			if n.Code == kernel.CodeRawHookChangedRequest {
				messages = append(messages, n.Message)
			}
		}
		return messages
	}
	assert.Empty(t, hints(k.Run("one")))
	_, err := k.Thread().Ask(t.Context(), "aside", nil)
	require.ErrorIs(t, err, broken)

	turn := k.Run("two")
	assert.Equal(t, kernel.Failed, turn.Result.Stop)
	assert.Equal(t, []string{"The raw hook acme.p/cutter changed the request; the failure may be related."}, hints(turn))
	change = false
	turn = k.Run("three")
	assert.Equal(t, kernel.Failed, turn.Result.Stop)
	assert.Empty(t, hints(turn))
}

// HOOK-27
func TestFailingObserverOfAnswersStopsNothing(t *testing.T) {
	var got hook.Response
	observe := func(f func(hook.Response) error, opts ...contrib.Option) fx.Option {
		return contrib.Supply[hook.ModelResponse](hook.ModelResponses,
			hook.ModelResponseFunc(func(_ context.Context, r hook.Response) error { return f(r) }), opts...)
	}
	k := kerneltest.Start(t,
		kerneltest.Script(kerneltest.Step{Text: "hello", Reasoning: "because", Usage: &model.Usage{Input: 3, Output: 2}}),
		kerneltest.Plugins(plugin("acme.p",
			observe(func(hook.Response) error { return errors.New("no") }, contrib.Label("bad")),
			observe(func(r hook.Response) error {
				got = r
				return nil
			}))))
	turn := k.Run("go")
	assert.Equal(t, []string{"acme.p/bad error"}, failures(turn))
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
	assert.Equal(t, model.Work, got.Purpose)
	assert.Equal(t, model.FinishStop, got.Finish)
	assert.Equal(t, &model.Usage{Input: 3, Output: 2}, got.Usage)
	require.Len(t, got.Items, 2)
	assert.Equal(t, "because", got.Items[0].Text)
	assert.Equal(t, "hello", got.Items[1].Text)
	assert.Equal(t, k.Thread().ID(), got.Thread)
}

// HOOK-29, FIELD-Q5
func TestRetrySendsThePreparedRequestAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		k := kerneltest.Start(t,
			kerneltest.Script(kerneltest.Step{Text: "half", Err: &model.Error{Code: model.CodeHTTP, Status: 503, Retryable: true}}, say("whole")),
			kerneltest.Plugins(plugin("acme.p",
				rebuild(func(hook.Request) []hook.Item { ran++; return nil }),
				transform(func(hook.Request) []hook.Item { ran++; return nil }))))
		turn := k.Run("go")
		assert.Equal(t, 2, ran)
		require.Len(t, k.Model.Requests(), 2)
		one, err := json.Marshal(k.Model.Requests()[0])
		require.NoError(t, err)
		two, err := json.Marshal(k.Model.Requests()[1])
		require.NoError(t, err)
		assert.Equal(t, string(one), string(two))
		assert.Equal(t, "whole", turn.Result.Text)
		retries := kerneltest.All[kernel.Retrying](turn)
		require.Len(t, retries, 1)
		assert.Equal(t, 1, retries[0].Attempt)
		assert.Equal(t, 2, stored[*threadlog.Round](t, k, k.Thread())[0].Attempts)
		assert.Empty(t, stored[*threadlog.Partial](t, k, k.Thread()))
	})
}

// HOOK-31
func TestRawHooksRunBeforeOrdinaryOnes(t *testing.T) {
	var order []string
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p",
		transform(func(hook.Request) []hook.Item { order = append(order, "ordinary"); return nil }, contrib.Order(-100)),
		rebuild(func(hook.Request) []hook.Item { order = append(order, "raw"); return nil }, contrib.Order(100)))))
	k.Run("go")
	assert.Equal(t, []string{"raw", "ordinary"}, order)
}

// HOOK-34
func TestHookThatHangsIsSkippedUntilItReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forever, later := make(chan struct{}), 0
		k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a"}`), call("read", `{"path":"b"}`), say("done")),
			kerneltest.Tools(abc().tool()), kerneltest.Plugins(plugin("acme.p",
				transform(func(hook.Request) []hook.Item { <-forever; return nil }, contrib.Deadline(time.Second), contrib.Label("slow")),
				transform(func(hook.Request) []hook.Item { later++; return nil }))))
		start := time.Now()
		turn := k.Run("go")
		assert.Equal(t, time.Second, time.Since(start))
		assert.Equal(t, []string{"acme.p/slow deadline"}, failures(turn))
		assert.Equal(t, 3, later)
		close(forever)
		synctest.Wait()
		k.Run("again")
		assert.Equal(t, time.Second, time.Since(start), "it has returned, so it takes part again")
		assert.Equal(t, 4, later)
	})
}
