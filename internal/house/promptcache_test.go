package house_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/builtin"
	"github.com/crystalkernel/crystal/internal/wire/protocols"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
)

// provider is a server that keeps the requests it gets, and answers each with one word.
type provider struct {
	url    string
	mu     sync.Mutex
	bodies []json.RawMessage
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		p.mu.Lock()
		p.bodies = append(p.bodies, body)
		p.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		_, err = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"yes"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		assert.NoError(t, err)
	}))
	t.Cleanup(s.Close)
	p.url = s.URL
	return p
}

// host is a kernel with the built-in tools that speaks to the provider, and two plugins: one with a section and a hook
// that stays, and one with a hook that has nothing to do with the prompt.
func (p *provider) host(t *testing.T) *kerneltest.Kernel {
	t.Helper()
	observer := hook.ModelResponseFunc(func(context.Context, hook.Response) error { return nil })
	return kerneltest.Start(t, protocols.Module, builtin.Module,
		fx.Decorate(func(kernel.Models) kernel.Models {
			return kernel.ModelsFunc(func(context.Context, string) (model.ClientRequest, error) {
				return model.ClientRequest{Protocol: "openai", Provider: "p", Model: "m", BaseURL: p.url, StreamUsage: true, ContextWindow: 1 << 20}, nil
			})
		}),
		kerneltest.Plugins(
			plugins.Plugin{ID: "acme.stays", Version: "1.0.0", Module: fx.Options(
				contrib.Supply(prompt.Sections, prompt.SectionFunc("stays", func(context.Context, prompt.Context) (string, error) { return "Stay.", nil })),
				contrib.Supply[hook.ModelResponse](hook.ModelResponses, observer))},
			plugins.Plugin{ID: "acme.unrelated", Version: "1.0.0", Module: contrib.Supply[hook.ModelResponse](hook.ModelResponses, observer)}))
}

// printRequest makes the test below print instead of test: it is how the other process is made.
const printRequest = "CRYSTAL_TEST_PRINT_REQUEST"

// The prompt cache of a provider depends on it: the same inputs make the same request in every process.
func TestRequestsAreTheSameInEveryProcess(t *testing.T) {
	request := func() string {
		p := newProvider(t)
		k := p.host(t)
		th := k.NewThread(kernel.Options{Workspace: os.TempDir()})
		k.RunOn(t.Context(), th, kernel.Input{Text: "one"})
		k.RunOn(t.Context(), th, kernel.Input{Text: "two"})
		require.Len(t, p.bodies, 2)
		return string(p.bodies[1])
	}
	if os.Getenv(printRequest) != "" {
		fmt.Printf("<%s>", request())
		return
	}
	want := request()
	require.Contains(t, want, "Stay.")
	require.Contains(t, want, `"name":"bash"`)
	for range 3 {
		other := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		other.Env = append(os.Environ(), printRequest+"=1", "GORACE=atexit_sleep_ms=0")
		out, err := other.Output()
		require.NoError(t, err)
		require.Contains(t, string(out), "<"+want+">")
	}
}

// Each request of a thread begins with what the one before had, whatever was switched on and off between them that has
// no part in the prompt.
func TestSwitchingAnUnrelatedPluginKeepsTheSharedPrefix(t *testing.T) {
	p := newProvider(t)
	k := p.host(t)
	for i := range 4 {
		if i > 0 {
			_, err := k.Plugins.SetEnabled(t.Context(), "acme.unrelated", i%2 == 0, plugins.ScopeProcess)
			require.NoError(t, err)
		}
		k.Run(fmt.Sprint("turn ", i))
	}
	require.Len(t, p.bodies, 4)
	type request struct {
		Messages []json.RawMessage `json:"messages"`
		Tools    json.RawMessage   `json:"tools"`
	}
	var before request
	for i, body := range p.bodies {
		var r request
		require.NoError(t, json.Unmarshal(body, &r))
		if i > 0 {
			require.Len(t, r.Messages, len(before.Messages)+2)
			assert.Equal(t, before.Messages, r.Messages[:len(before.Messages)])
			assert.Equal(t, string(before.Tools), string(r.Tools))
		}
		before = r
	}
}
