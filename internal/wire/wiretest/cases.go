package wiretest

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/model"
)

//go:embed testdata/streams
var streams embed.FS

// Case is one recorded answer and what it has to yield.
type Case struct {
	ID, Title, Protocol string
	Status              int
	ContentType         string
	End                 string
	Reads               []int
	Deltas              []Want
	Body                []byte `json:"-"`
}

// Want is one thing that an answer yields. Exactly one member is set, Raw only beside Finish.
type Want struct {
	Text      *string
	Reasoning *string
	ToolCall  *struct{ ID, Name, Arguments string }
	Usage     *struct{ InputTokens, OutputTokens int }
	Finish    string
	Raw       string
	Error     *struct {
		Kind      string
		Retryable *bool
		Contains  string
	}
}

// Cases returns the recorded answers of a protocol.
func Cases(t testing.TB, protocol string) []Case {
	t.Helper()
	entries, err := streams.ReadDir("testdata/streams")
	require.NoError(t, err)
	var cases []Case
	for _, e := range entries {
		name, isWant := strings.CutSuffix(e.Name(), ".want.json")
		if !isWant {
			continue
		}
		text, err := streams.ReadFile(path.Join("testdata/streams", e.Name()))
		require.NoError(t, err)
		var c Case
		require.NoError(t, json.Unmarshal(text, &c), name)
		if c.Protocol != protocol {
			continue
		}
		ending := ".sse"
		if protocol == "ollama" {
			ending = ".ndjson"
		}
		c.Body, err = streams.ReadFile(path.Join("testdata/streams", name+ending))
		require.NoError(t, err)
		cases = append(cases, c)
	}
	require.NotEmpty(t, cases)
	return cases
}

// Header is how the answer is served.
func (c *Case) Header() http.Header {
	h := http.Header{}
	if c.ContentType != "" {
		h.Set("Content-Type", c.ContentType)
	}
	return h
}

// Request is a request that any protocol can carry.
func Request() *model.Request {
	return &model.Request{
		Model: "example-small", Items: []*model.Item{{Kind: model.Message, Role: model.User, Text: "hello"}},
	}
}

// Run plays every recorded answer of the protocol to a client that create makes: whole, at each of its read sizes, and
// cut at random, and checks that the candidate and the deltas are what they have to be.
func Run(t *testing.T, protocol string, create func(http.RoundTripper) model.Client) {
	t.Helper()
	for _, c := range Cases(t, protocol) {
		t.Run(c.ID, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(len(c.Body))))
			sizes := map[string]func() int{
				"whole":  func() int { return len(c.Body) + 1 },
				"random": func() int { return 1 + random.IntN(60) },
			}
			for _, n := range c.Reads {
				sizes["reads of "+strconv.Itoa(n)] = func() int { return n }
			}
			for name, size := range sizes {
				t.Run(name, func(t *testing.T) {
					server := Serve(func(int) Answer {
						return Answer{Status: c.Status, Header: c.Header(), Body: Cut(bytes.NewReader(c.Body), size), Hold: c.End == "hold"}
					})
					var deltas []model.Delta
					response, err := create(server).Round(context.Background(), Request(), func(d model.Delta) error {
						deltas = append(deltas, d)
						return nil
					})
					c.check(t, protocol, response, err, deltas)
				})
			}
		})
	}
}

func (c *Case) check(t *testing.T, protocol string, r *model.Response, err error, deltas []model.Delta) {
	t.Helper()
	var items []*model.Item
	if last := c.Deltas[len(c.Deltas)-1]; last.Error != nil {
		c.checkError(t, err, last)
		var a model.Assembler
		for _, d := range deltas {
			require.NoError(t, a.Add(d))
		}
		require.NoError(t, a.Add(model.Delta{Kind: model.FinishDelta, Finish: model.FinishLength}))
		partial, err := a.Response()
		require.NoError(t, err)
		items = partial.Items
	} else {
		require.NoError(t, err)
		items = r.Items
		checkCalls(t, r, deltas)
	}
	ids := map[string]bool{}
	for _, w := range c.Deltas {
		switch {
		case w.Text != nil:
			i := shift(t, &items, model.Message)
			assert.Equal(t, *w.Text, i.Text)
		case w.Reasoning != nil:
			i := shift(t, &items, model.Reasoning)
			text := ""
			for _, s := range i.Segments {
				text += s.Text
			}
			assert.Equal(t, *w.Reasoning, text)
		case w.ToolCall != nil:
			i := shift(t, &items, model.ToolCall)
			if begin, any := strings.CutSuffix(w.ToolCall.ID, "*"); any {
				assert.True(t, strings.HasPrefix(i.CallID, begin), i.CallID)
			} else {
				assert.Equal(t, w.ToolCall.ID, i.CallID)
			}
			assert.False(t, ids[i.CallID], "the id is not its own")
			ids[i.CallID] = true
			assert.Equal(t, w.ToolCall.Name, i.Name)
			if protocol == "gemini" || protocol == "ollama" {
				assert.JSONEq(t, w.ToolCall.Arguments, i.Arguments)
			} else {
				assert.Equal(t, w.ToolCall.Arguments, i.Arguments)
			}
		case w.Usage != nil:
			require.NotNil(t, r.Usage)
			assert.Equal(t, w.Usage.InputTokens, r.Usage.Input)
			assert.Equal(t, w.Usage.OutputTokens, r.Usage.Output)
		case w.Finish != "":
			assert.Equal(t, model.Finish(w.Finish), r.Finish)
			if w.Raw != "" {
				assert.Equal(t, w.Raw, r.Raw)
			}
		}
	}
	assert.Empty(t, items, "more items than there should be")
}

func (c *Case) checkError(t *testing.T, err error, w Want) {
	t.Helper()
	failed, ok := errors.AsType[*model.Error](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, model.ErrorKind(w.Error.Kind), failed.Kind)
	if w.Error.Retryable != nil {
		assert.Equal(t, *w.Error.Retryable, failed.Retryable)
	}
	assert.Contains(t, failed.Error(), w.Error.Contains)
}

// checkCalls checks that each call has one start and one end and that its pieces are its arguments.
func checkCalls(t *testing.T, r *model.Response, deltas []model.Delta) {
	t.Helper()
	starts, ends, arguments := map[string]int{}, map[string]int{}, map[string]string{}
	for _, d := range deltas {
		switch d.Kind {
		case model.CallStart:
			starts[d.ID]++
		case model.CallEnd:
			ends[d.ID]++
		case model.CallArguments:
			assert.Equal(t, 1, starts[d.ID], "arguments before the start")
			assert.Equal(t, 0, ends[d.ID], "arguments after the end")
			arguments[d.ID] += d.Text
		}
	}
	for _, i := range r.Items {
		if i.Kind == model.ToolCall {
			assert.Equal(t, 1, starts[i.CallID])
			assert.Equal(t, 1, ends[i.CallID])
			assert.Equal(t, i.Arguments, arguments[i.CallID])
		}
	}
	assert.Equal(t, model.FinishDelta, deltas[len(deltas)-1].Kind)
}

func shift(t *testing.T, items *[]*model.Item, k model.Kind) *model.Item {
	t.Helper()
	require.NotEmpty(t, *items, "an item of kind %s is missing", k)
	i := (*items)[0]
	*items = (*items)[1:]
	require.Equal(t, k, i.Kind)
	return i
}
