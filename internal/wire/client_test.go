package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/internal/wire/openai"
	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-very-secret-0123"

// whole is a complete answer of Chat Completions.
const whole = `data: {"choices":[{"delta":{"content":"ready"}}]}` + "\n\n" +
	`data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}` + "\n\ndata: [DONE]\n\n"

const events = "text/event-stream"

func client(t testing.TB, transport http.RoundTripper, change ...func(*model.ClientRequest)) model.Client {
	t.Helper()
	r := model.ClientRequest{
		Protocol: openai.Protocol, Provider: "example", Model: "example-small", BaseURL: "https://models.example/v1",
		Key: secret, KeyRequired: true, StreamUsage: true,
		Headers: map[string]string{"X-Api-Token": "Bearer other-secret", "Authorization": "Bearer evil", "X-Team": "blue"},
	}
	for _, f := range change {
		f(&r)
	}
	c, err := openai.NewFactory(transport).Create(context.Background(), r)
	require.NoError(t, err)
	return c
}

func failure(t testing.TB, err error) *model.Error {
	t.Helper()
	e, ok := errors.AsType[*model.Error](err)
	require.True(t, ok, "%v", err)
	return e
}

func answering(a wiretest.Answer) *wiretest.Server { return wiretest.Always(a, nil) }

func TestWhatIsSent(t *testing.T) {
	s := answering(wiretest.Text(200, events, whole))
	c := client(t, s, func(r *model.ClientRequest) {
		r.BaseURL = "https://models.example/v1/?version=7"
		r.Organization, r.Project = "org", "proj"
	})
	response, _, err := wiretest.Round(t, c, wiretest.Request())
	require.NoError(t, err)
	assert.Equal(t, "ready", wiretest.Reply(response))
	assert.Equal(t, "https://models.example/v1/chat/completions?version=7", s.URL(0))
	h := s.Header(0)
	for name, want := range map[string]string{
		"User-Agent": "crystal", "Accept": events, "Content-Type": "application/json", "Authorization": "Bearer " + secret,
		"Openai-Organization": "org", "Openai-Project": "proj", "X-Team": "blue", "X-Api-Token": "Bearer other-secret",
	} {
		assert.Equal(t, want, h.Get(name), name)
	}
}

func TestRequestsThatAreNotSent(t *testing.T) { // PROTO-7 for openai
	user := &model.Item{Kind: model.Message, Role: model.User, Text: "x"}
	for name, test := range map[string]struct {
		change func(*model.ClientRequest)
		r      model.Request
		code   string
		kind   model.ErrorKind
	}{
		"no items":         {nil, model.Request{}, model.CodeRequestInvalid, model.KindRequest},
		"system text only": {nil, model.Request{System: "x"}, model.CodeRequestInvalid, model.KindRequest},
		"no key": {
			func(r *model.ClientRequest) { r.Key = " " },
			model.Request{Items: []*model.Item{user}},
			model.CodeKeyMissing, model.KindAuth,
		},
		"a call without a result": {
			nil,
			model.Request{Items: []*model.Item{user, {Kind: model.ToolCall, CallID: "c1", Name: "read"}}},
			model.CodeRequestInvalid, model.KindRequest,
		},
		"a budget": {nil, model.Request{Items: []*model.Item{user}, Gear: "4096"}, model.CodeRequestInvalid, model.KindRequest},
		"a schema that is no object": {
			nil,
			model.Request{Items: []*model.Item{user}, Tools: []model.Tool{{Name: "bad", Schema: []byte(`[]`)}}},
			model.CodeRequestInvalid, model.KindRequest,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := answering(wiretest.Text(200, events, whole))
			change := test.change
			if change == nil {
				change = func(*model.ClientRequest) {}
			}
			_, _, err := wiretest.Round(t, client(t, s, change), &test.r)
			e := failure(t, err)
			assert.Equal(t, test.code, e.Code)
			assert.Equal(t, test.kind, e.Kind)
			assert.False(t, e.Retryable)
			assert.Empty(t, s.Bodies())
		})
	}
}

func TestClientsAreNotMadeForBadAddresses(t *testing.T) {
	for _, base := range []string{"models.example", "ftp://models.example", "http://", "://"} {
		_, err := openai.NewFactory(nil).Create(t.Context(), model.ClientRequest{BaseURL: base, Provider: "example"})
		require.Error(t, err, base)
	}
}

func TestRedirectsStayAtTheHost(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		switch r.URL.Path {
		case "/away/chat/completions":
			http.Redirect(w, r, other.URL+"/x", http.StatusTemporaryRedirect)
		case "/see/chat/completions":
			http.Redirect(w, r, "/here/chat/completions", http.StatusFound)
		case "/moved/chat/completions":
			http.Redirect(w, r, "/here/chat/completions", http.StatusPermanentRedirect)
		case "/loop/chat/completions":
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		default:
			w.Header().Set("Content-Type", events)
			_, _ = io.WriteString(w, whole)
		}
	}))
	defer server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	at := func(path string) model.Client {
		return client(t, transport, func(r *model.ClientRequest) { r.BaseURL = server.URL + path })
	}

	response, _, err := wiretest.Round(t, at("/moved"), wiretest.Request())
	require.NoError(t, err)
	assert.Equal(t, "ready", wiretest.Reply(response))
	require.Len(t, bodies, 2)
	assert.Equal(t, bodies[0], bodies[1])

	for _, path := range []string{"/away", "/see"} {
		_, _, err = wiretest.Round(t, at(path), wiretest.Request())
		e := failure(t, err)
		assert.Contains(t, e.Message, "redirects")
		assert.False(t, e.Retryable)
	}
	assert.Zero(t, elsewhere)
	_, _, err = wiretest.Round(t, at("/loop"), wiretest.Request())
	require.Error(t, err)
}

func TestAServerThatIsNotThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.URL
	server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	_, _, err := wiretest.Round(t, client(t, transport, func(r *model.ClientRequest) { r.BaseURL = address }), wiretest.Request())
	e := failure(t, err)
	assert.Equal(t, model.CodeUnreachable, e.Code)
	assert.Equal(t, model.KindNetwork, e.Kind)
	assert.True(t, e.Retryable)
	var inner interface{ Timeout() bool }
	assert.ErrorAs(t, err, &inner, "the cause stays reachable")
}

// A key is in a header and nowhere else: not in errors of any kind, not in what values print.
func TestKeysNeverAppear(t *testing.T) {
	var seen strings.Builder
	note := func(values ...any) {
		for _, v := range values {
			fmt.Fprintf(&seen, "%v %+v %#v %s\n", v, v, v, v)
		}
	}
	bodies := []wiretest.Answer{
		wiretest.Text(401, "application/json", `{"error":{"message":"Incorrect API key provided: `+secret+`","code":"`+secret+`"}}`),
		wiretest.Text(400, "text/plain", "you sent Bearer "+secret+" and other-secret"),
		wiretest.Text(200, "text/html", "<html>"+secret),
		wiretest.Text(200, events, "data: nonsense "+secret+"\n\n"),
		wiretest.Text(200, events, `data: {"error":{"message":"`+secret+`"}}`+"\n\n"),
		wiretest.Text(302, "", secret),
	}
	for _, a := range bodies {
		c := client(t, answering(a))
		_, deltas, err := wiretest.Round(t, c, wiretest.Request())
		require.Error(t, err)
		note(c, err, *failure(t, err), deltas)
		for e := err; e != nil; e = errors.Unwrap(e) {
			note(e)
		}
	}
	c := client(t, &http.Transport{}, func(r *model.ClientRequest) { r.Key = secret + "\n"; r.BaseURL = "http://127.0.0.1:1" })
	_, _, err := wiretest.Round(t, c, wiretest.Request())
	note(c, err)
	_, err = openai.NewFactory(nil).Create(t.Context(), model.ClientRequest{Key: secret, BaseURL: "x"})
	note(err, model.ClientRequest{Key: secret})
	assert.NotContains(t, seen.String(), secret)
	assert.NotContains(t, seen.String(), "other-secret")
}

// No source of a protocol prints or logs: what is not written can't leak.
func TestNothingIsLogged(t *testing.T) {
	for _, dir := range []string{".", "openai", "responses", "anthropic", "gemini", "ollama"} {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
				continue
			}
			text, err := os.ReadFile(dir + "/" + e.Name())
			require.NoError(t, err)
			for _, word := range []string{`"log"`, `"log/slog"`, "fmt.Print", "os.Stderr", "os.Stdout"} {
				assert.NotContains(t, string(text), word, e.Name())
			}
		}
	}
}

func TestEqualRequestsHaveEqualBytes(t *testing.T) { // FIELD-E8, PROTO-3
	s := answering(wiretest.Text(200, events, whole))
	r := wiretest.Transcript(40)
	for range 20 {
		_, _, _ = wiretest.Round(t, client(t, s), r)
	}
	for _, body := range s.Bodies() {
		assert.Equal(t, string(s.Bodies()[0]), string(body))
	}
}
