package modelaccess_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/internal/modelaccess"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/model"
)

// HOST-28
func TestSessionClientIsTheSameUntilTheModelChanges(t *testing.T) {
	var all []given
	h := start(t, asker(&all))
	clients := all[0].Clients
	_, err := clients.Session(t.Context())
	require.ErrorIs(t, err, model.ErrNoSession)
	th := h.open("large")
	first, err := clients.Session(t.Context())
	require.NoError(t, err)
	again, err := clients.Session(t.Context())
	require.NoError(t, err)
	assert.Same(t, first, again)
	th.SetModel("small")
	other, err := clients.Session(t.Context())
	require.NoError(t, err)
	assert.NotSame(t, first, other)
	assert.Equal(t, []string{"text large", "text small"}, h.lab.log())

	text, err := ask(t, first, &model.Request{})
	require.NoError(t, err)
	assert.Equal(t, "ok from large", text, "a dropped client serves who has it")
	text, err = ask(t, other, &model.Request{})
	require.NoError(t, err)
	assert.Equal(t, "ok from small", text)
}

// HOST-30
func TestThatThereIsNoImageClientIsRemembered(t *testing.T) {
	var all []given
	h := start(t, asker(&all))
	clients := all[0].Clients
	th := h.open("large")
	h.lab.blind["sees-little"] = true
	for _, name := range []string{"large", "sees-little"} {
		th.SetModel(name)
		for range 2 {
			c, err := clients.Images(t.Context())
			require.NoError(t, err)
			assert.True(t, c == nil, name)
		}
	}
	assert.Equal(t, []string{"no images sees-little"}, h.lab.log(), "it is not asked again")
	th.SetModel("sees-all")
	c, err := clients.Images(t.Context())
	require.NoError(t, err)
	_, err = ask(t, c, &model.Request{})
	require.NoError(t, err)
	assert.True(t, h.lab.last().AcceptsImages)
}

func TestReviewClientLivesWhileReviewIsIndependent(t *testing.T) {
	var all []given
	h := start(t, asker(&all))
	clients := all[0].Clients
	read := func() model.Client {
		c, err := clients.Review(t.Context())
		require.NoError(t, err)
		return c
	}
	assert.True(t, read() == nil)
	h.reviewBy(&modelaccess.Review{Request: request("judge"), Gear: "high"})
	first := read()
	require.NotNil(t, first, "it needs no session")
	assert.Same(t, first, read())
	_, err := ask(t, first, &model.Request{})
	require.NoError(t, err)
	assert.Equal(t, "high", h.lab.last().Gear)
	_, err = ask(t, first, &model.Request{Gear: "off"})
	require.NoError(t, err)
	assert.Equal(t, "off", h.lab.last().Gear)
	h.reviewBy(nil)
	assert.True(t, read() == nil)
	h.reviewBy(&modelaccess.Review{Request: request("judge"), Gear: "high"})
	assert.NotSame(t, first, read(), "the switch went off, so the client was dropped")

	broken := errors.New("no such provider")
	h.lab.broken["other"] = broken
	h.reviewBy(&modelaccess.Review{Request: request("other")})
	_, err = clients.Review(t.Context())
	require.ErrorIs(t, err, broken)
	delete(h.lab.broken, "other")
	assert.NotNil(t, read(), "a failure is one of that read only")
}

func TestSlowClientKeepsNobodyFromTheOthers(t *testing.T) {
	var all []given
	h := start(t, asker(&all))
	clients := all[0].Clients
	h.open("large")
	h.reviewBy(&modelaccess.Review{Request: request("judge")})
	h.lab.slow["large"] = make(chan struct{})
	var group sync.WaitGroup
	got := make([]model.Client, 2)
	for i := range got {
		group.Go(func() {
			c, err := clients.Session(t.Context())
			assert.NoError(t, err)
			got[i] = c
		})
	}
	c, err := clients.Review(t.Context())
	require.NoError(t, err)
	assert.NotNil(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = clients.Session(ctx)
	require.ErrorIs(t, err, context.Canceled, "who waits may give up")
	close(h.lab.slow["large"])
	group.Wait()
	assert.Same(t, got[0], got[1])
}

func TestEachThreadHasItsClients(t *testing.T) {
	var all []given
	h := start(t, asker(&all))
	clients := all[0].Clients
	h.lab.answer = func(ctx context.Context, _ *model.Request, emit func(model.Delta) error) (*model.Response, error) {
		var a model.Assembler
		_, err := clients.Session(ctx)
		d := model.Delta{Kind: model.FinishDelta}
		if err := errors.Join(err, a.Add(d), emit(d)); err != nil {
			return nil, err
		}
		return a.Response()
	}
	for i := range 20 {
		th := h.open(fmt.Sprintf("m%d", i))
		h.open("active")
		assert.Equal(t, kernel.Completed, h.RunOn(t.Context(), th, kernel.Input{Text: "go"}).Result.Stop)
		assert.Contains(t, h.lab.log(), fmt.Sprintf("text m%d", i))
		require.NoError(t, th.Close(t.Context()))
	}
	before := len(h.lab.log())
	c, err := clients.Session(t.Context())
	require.NoError(t, err)
	assert.NotNil(t, c)
	assert.Len(t, h.lab.log(), before+1, "the active thread had none yet")
	assert.Less(t, h.access.Kept(), 10, "those of closed threads are let go")
}

// The factory may have been a plugin's that is gone.
func TestClientsAreMadeAgainWhenProtocolsChange(t *testing.T) {
	var all []given
	h := start(t, asker(&all), plugins.Plugin{
		ID: "acme.p", Version: "1.0.0", Module: contrib.Supply[model.ClientFactory](model.Protocols, other{}),
	})
	h.open("large")
	first, err := all[0].Clients.Session(t.Context())
	require.NoError(t, err)
	_, err = h.Plugins.SetEnabled(t.Context(), "acme.p", false, plugins.ScopeProcess)
	require.NoError(t, err)
	next, err := all[0].Clients.Session(t.Context())
	require.NoError(t, err)
	assert.NotSame(t, first, next)
}

// other speaks another protocol.
type other struct{ model.ClientFactory }

func (other) CanCreate(protocol string) bool { return protocol == "other" }

func TestAskingForClientsMakesANote(t *testing.T) {
	var all []given
	h := start(t, asker(&all), plugins.Plugin{ID: "acme.y", Version: "1.0.0"})
	var notes []string
	for _, d := range h.Registry().Diagnostics() {
		notes = append(notes, d.Code+" "+d.Origin.ID()+" "+string(d.Severity))
		assert.Contains(t, d.Message, "acme.x")
	}
	assert.Equal(t, []string{"PluginModelClients acme.x info"}, notes)
}

func TestClientCarriesNoKey(t *testing.T) {
	var all []given
	h := start(t, asker(&all))
	h.open("sees-large")
	h.reviewBy(&modelaccess.Review{Request: request("judge")})
	for _, read := range []func(context.Context) (model.Client, error){all[0].Clients.Session, all[0].Clients.Images, all[0].Clients.Review} {
		c, err := read(t.Context())
		require.NoError(t, err)
		for _, v := range []any{c, all[0].Clients, all[0].Facts} {
			text := fmt.Sprintf("%v %+v %#v %s", v, v, v, v)
			assert.NotContains(t, text, secret)
			assert.NotContains(t, text, "acme.example")
		}
		text, _ := json.Marshal(c) // a struct without exported fields
		assert.Equal(t, "{}", string(text))
	}
}

// A plugin chooses what is asked, and not which model answers, nor in whose name.
func TestRequestsGoToTheHostsModel(t *testing.T) {
	var all []given
	h := start(t, asker(&all))
	h.open("large")
	c, err := all[0].Clients.Session(t.Context())
	require.NoError(t, err)
	own := 1.5
	r := &model.Request{
		Model: "expensive", Thread: "t", Turn: "t1", Agent: "a", AcceptsImages: true, MaxTokens: 1 << 30, Temperature: &own,
		System: "be brief", Items: []*model.Item{{Kind: model.Message, Role: model.User, Text: "hi"}},
	}
	_, err = ask(t, c, r)
	require.NoError(t, err)
	sent := h.lab.last()
	assert.Equal(t, &model.Request{
		Purpose: model.Side, Model: "large", MaxTokens: 100, Temperature: &own, System: "be brief", Items: r.Items, Tools: sent.Tools,
	}, sent)
	assert.Equal(t, "expensive", r.Model, "the plugin's request is its own")
	_, err = ask(t, c, &model.Request{Purpose: model.Review, MaxTokens: 5})
	require.NoError(t, err)
	assert.Equal(t, 5, h.lab.last().MaxTokens)
	assert.InDelta(t, 0.5, *h.lab.last().Temperature, 0)
	assert.Equal(t, model.Review, h.lab.last().Purpose)
}

func TestClientsOfAStoppedGenerationRefuse(t *testing.T) {
	var all []given
	h := start(t, asker(&all))
	h.open("large")
	clients := all[0].Clients
	c, err := clients.Session(t.Context())
	require.NoError(t, err)
	entered := make(chan struct{})
	h.lab.answer = func(ctx context.Context, _ *model.Request, _ func(model.Delta) error) (*model.Response, error) {
		close(entered)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	running := make(chan error, 1)
	go func() {
		_, err := c.Round(context.Background(), &model.Request{}, func(model.Delta) error { return nil })
		running <- err
	}()
	<-entered
	_, err = h.Plugins.SetEnabled(t.Context(), "acme.x", false, plugins.ScopeProcess)
	require.NoError(t, err)
	require.ErrorIs(t, <-running, generations.ErrStopping, "a call that runs is ended")
	h.lab.answer = nil
	_, err = ask(t, c, &model.Request{})
	require.ErrorIs(t, err, generations.ErrStopping)
	for _, read := range []func(context.Context) (model.Client, error){clients.Session, clients.Images, clients.Review} {
		_, err = read(t.Context())
		require.ErrorIs(t, err, generations.ErrStopping)
	}
	assert.Len(t, h.lab.requests, 1)

	_, err = h.Plugins.SetEnabled(t.Context(), "acme.x", true, plugins.ScopeProcess)
	require.NoError(t, err)
	next, err := all[1].Clients.Session(t.Context())
	require.NoError(t, err)
	text, err := ask(t, next, &model.Request{})
	require.NoError(t, err)
	assert.Equal(t, "ok from large", text)
	assert.Equal(t, []string{"text large"}, h.lab.log(), "the host's client is the same; only the plugin's hold on it is new")
}

func TestDeltasAreTheCallers(t *testing.T) {
	var all []given
	h := start(t, asker(&all))
	h.open("large")
	c, err := all[0].Clients.Session(t.Context())
	require.NoError(t, err)
	enough := errors.New("enough")
	_, err = c.Round(t.Context(), &model.Request{}, func(d model.Delta) error {
		assert.Equal(t, "ok from large", d.Text)
		return enough
	})
	require.ErrorIs(t, err, enough)
}
