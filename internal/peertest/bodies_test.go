package peertest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/model"
)

// keeper keeps the bodies of requests and answers each with the same stream.
type keeper struct {
	contentType, answer string

	mu     sync.Mutex
	bodies [][]byte
}

// RoundTrip keeps and answers.
func (k *keeper) RoundTrip(q *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	k.bodies = append(k.bodies, body)
	k.mu.Unlock()
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {k.contentType}}, Request: q, ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(strings.NewReader(k.answer)),
	}, nil
}

// last is the body of the newest request.
func (k *keeper) last() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.bodies[len(k.bodies)-1]
}

var png = []byte("\x89PNG\r\n\x1a\n")

// story is the transcript that ours and theirs send.
func story(name string) *model.Request {
	half, whole := 0.5, 0.9
	return &model.Request{
		Model: name, System: "Be brief.", Temperature: &half, TopP: &whole, MaxTokens: 1000, AcceptsImages: true,
		Tools: []model.Tool{readTool},
		Items: []*model.Item{
			{Kind: model.Message, Role: model.User, Text: "look \u2063[Image #1]", Images: []model.Image{{Number: 1, MediaType: "image/png", Data: png}}},
			{Kind: model.Message, Role: model.Assistant, Text: "Reading."},
			{Kind: model.ToolCall, CallID: "c1", Name: "read", Arguments: `{"path":"a.txt"}`},
			{Kind: model.ToolCall, CallID: "c2", Name: "read", Arguments: `{"path":"b.txt"}`},
			{Kind: model.ToolResult, CallID: "c1", Status: model.Success, Text: "hi"},
			{Kind: model.ToolResult, CallID: "c2", Status: model.Failure, Text: "no such file"},
			{Kind: model.Message, Role: model.Assistant, Text: "One says hi."},
			{Kind: model.Message, Role: model.User, Text: "thanks"},
		},
	}
}

// differences lists what is in one body and not in the other, by path, with indices left out.
func differences(t *testing.T, ours, theirs []byte) []string {
	t.Helper()
	a, b := leaves(t, ours), leaves(t, theirs)
	var all []string
	note := func(path, what string) {
		if d := generic(path) + " " + what; !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	for path, value := range a {
		other, ok := b[path]
		switch {
		case !ok:
			note(path, "is ours alone")
		case other != value:
			note(path, fmt.Sprintf("is %s here and %s there", value, other))
		}
	}
	for path := range b {
		if _, ok := a[path]; !ok {
			note(path, "is theirs alone")
		}
	}
	slices.Sort(all)
	return all
}

func generic(path string) string {
	steps := strings.Split(path, "/")
	for i, s := range steps {
		if s != "" && s[0] >= '0' && s[0] <= '9' {
			steps[i] = "#"
		}
	}
	return strings.Join(steps, "/")
}

// leaves are the values of a body that hold no other values, by path.
func leaves(t *testing.T, body []byte) map[string]string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var root any
	require.NoError(t, d.Decode(&root), "%s", body)
	all := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, inner := range v {
				walk(path+"/"+k, inner)
			}
			if len(v) == 0 {
				all[path] = "{}"
			}
		case []any:
			for i, inner := range v {
				walk(fmt.Sprintf("%s/%d", path, i), inner)
			}
		default:
			text, err := json.Marshal(v)
			require.NoError(t, err)
			all[path] = string(text)
		}
	}
	walk("", root)
	return all
}

// known are the differences that there are, each with its reason.
var known = map[string]map[string]string{
	"responses": {
		"/input/#/type is ours alone": "the library leaves the type out of messages that are no output; the service takes both",
	},
	"anthropic": {
		"/messages/#/content/#/is_error is theirs alone": "is_error is false where it is left out, and a success needs no word",
	},
	"gemini": {
		"/systemInstruction/role is theirs alone":                                                             "the library sends the role user, which the service does not read there",
		`/tools/#/functionDeclarations/#/parameters/type is "object" here and "OBJECT" there`:                 "the service takes type names in either case",
		`/tools/#/functionDeclarations/#/parameters/properties/path/type is "string" here and "STRING" there`: "the service takes type names in either case",
	},
}

func TestBodiesAreThoseOfTheOfficialLibraries(t *testing.T) {
	for _, p := range protocols {
		send, ok := libraries[p.name]
		if !ok {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			ours, theirs := &keeper{}, &keeper{}
			ours.contentType, ours.answer = send.contentType, send.answer
			theirs.contentType, theirs.answer = send.contentType, send.answer
			_, err := p.client(t, ours, "peer.example").Round(t.Context(), story(p.model), func(model.Delta) error { return nil })
			require.NoError(t, err)
			require.NoError(t, send.send(t.Context(), &http.Client{Transport: theirs}, p.model))
			found := differences(t, ours.last(), theirs.last())
			for _, d := range found {
				assert.NotEmpty(t, known[p.name][d], "not listed: %s", d)
			}
			for d := range known[p.name] {
				assert.Contains(t, found, d, "listed, but there is no such difference")
			}
		})
	}
}
