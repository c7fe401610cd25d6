package plugintest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/deps"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/plugins/plugintest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the documentation of the checks")

// Word is the contract of the point of these tests.
type Word interface {
	Say(ctx context.Context) error
}

type word func(ctx context.Context) error

func (w word) Say(ctx context.Context) error { return w(ctx) }

type guarded struct{ ref *generations.Ref[Word] }

func (g guarded) Say(ctx context.Context) error {
	return g.ref.Do(ctx, func(ctx context.Context, w Word) error { return w.Say(ctx) })
}

var words = contrib.Define(contrib.Spec[Word]{
	Name: "test.word", Doc: "Says.", Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip,
	Describe: func(w Word) (any, error) {
		if slow, ok := w.(slowWord); ok {
			close(slow.entered)
			<-time.After(200 * time.Millisecond)
		}
		return nil, nil
	},
	Guard: func(v Word, _ any, ref contrib.Ref) Word { return guarded{generations.Bind(ref, v)} },
})

// slowWord takes longer to describe than an activation takes to commit.
type slowWord struct {
	word
	entered chan struct{}
}

func say(context.Context) error { return nil }

// recorder takes the report of a run.
type recorder struct {
	testing.TB
	reports []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.reports = append(r.reports, fmt.Sprintf(format, args...))
}

func plugin(options ...fx.Option) plugins.Plugin {
	return plugins.Plugin{ID: "acme.x", Version: "1.0.0", Module: fx.Options(options...)}
}

func setup() plugintest.Setup {
	return plugintest.Setup{Points: []contrib.AnyPoint{words}, Patience: 300 * time.Millisecond, Idle: 5 * time.Millisecond}
}

func TestConformingPlugins(t *testing.T) {
	t.Parallel()
	plugintest.Run(t, plugins.Plugin{ID: "acme.empty", Version: "1.0.0"})
	consumer := plugin(
		contrib.Supply(words, Word(word(say)), contrib.Order(2)), contrib.Supply(words, Word(word(say))),
		fx.Invoke(func(life *generations.Lifetime) error {
			return life.Go("work", func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
		}))
	consumer.Requires = deps.Requirements{"acme.base": "1.0.0"}
	s := setup()
	s.Patience = 10 * time.Second
	s.Providers = []plugins.Plugin{{ID: "acme.base", Version: "1.0.0"}}
	plugintest.Run(t, consumer, s)
}

// Each plugin breaks one rule, and the report names that rule.
func TestPluginsThatBreakARule(t *testing.T) {
	t.Parallel()
	var kept []*generations.Lifetime
	var once sync.Once
	generation := 0
	release := make(chan struct{})
	defer close(release)
	other := contrib.Define(contrib.Spec[Word]{
		Name: "test.other", Doc: "Is not admitted.", Tiers: contrib.TierA, Scopes: contrib.WorkspaceOnly,
		Evaluation: contrib.PerCall, Failure: contrib.Skip,
		Guard: func(v Word, _ any, ref contrib.Ref) Word { return guarded{generations.Bind(ref, v)} },
	})
	for want, p := range map[string]plugins.Plugin{
		"activates":              plugin(fx.Invoke(func() error { return errors.New("no") })),
		"contributions-admitted": plugin(contrib.Supply(other, Word(word(say)))),
		"registers-while-activating": plugin(fx.Invoke(func(r *contrib.Registrar) {
			slow := slowWord{say, make(chan struct{})}
			go func() { _, _ = words.Add(r, slow) }()
			<-slow.entered
		})),
		"cancel-honoured": plugin(fx.Invoke(func(life *generations.Lifetime) error {
			return life.Go("work", func(context.Context) error { <-release; return nil })
		})),
		"stops-cleanly": plugin(fx.Invoke(func(life *generations.Lifetime) error {
			return life.OnClose("bad", func(context.Context) error { return errors.New("no") })
		})),
		"activates-again": plugin(fx.Invoke(func() error {
			err := errors.New("no")
			once.Do(func() { err = nil })
			return err
		})),
		"same-contributions": plugin(fx.Invoke(func(r *contrib.Registrar) error {
			generation++
			_, err := words.Add(r, word(say), contrib.Order(generation))
			return err
		})),
		"no-goroutine-left": plugin(fx.Invoke(func() { go func() { <-release }() })),
		"collectable":       plugin(fx.Invoke(func(life *generations.Lifetime) { kept = append(kept, life) })),
	} {
		t.Run(want, func(t *testing.T) {
			r := &recorder{TB: t}
			plugintest.Run(r, p, setup())
			require.NotEmpty(t, r.reports)
			for _, report := range r.reports {
				assert.Contains(t, report, "acme.x: "+want+": ")
				assert.Contains(t, report, "resolution: ")
			}
		})
	}
	assert.Len(t, kept, 2)
}

func TestDocumentationOfTheChecksIsCurrent(t *testing.T) {
	t.Parallel()
	if *update {
		require.NoError(t, os.WriteFile("CHECKS.md", []byte(plugintest.Markdown()), 0o644))
	}
	current, err := os.ReadFile("CHECKS.md")
	require.NoError(t, err)
	assert.Equal(t, plugintest.Markdown(), string(current), "run: go test ./plugins/plugintest -update")
	ids := map[string]bool{}
	for _, c := range plugintest.Checks() {
		assert.False(t, ids[c.ID], c.ID)
		ids[c.ID] = true
		for _, text := range []string{c.Description, c.Rationale, c.Resolution} {
			assert.True(t, strings.HasSuffix(text, "."), text)
		}
	}
}
