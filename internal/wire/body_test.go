package wire_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

const object = ` {"choices":[{"message":{"content":"ready","tool_calls":[{"id":"c1","function":{"name":"read","arguments":"{}"}}]},` +
	`"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3}}`

func TestTheKindOfABodyIsFound(t *testing.T) {
	for name, test := range map[string]struct{ contentType, body string }{
		"events":                      {"text/event-stream; charset=utf-8", whole},
		"events without a type":       {"", whole}, // FIELD-P19
		"events as plain text":        {"text/plain", whole},
		"events as JSON":              {"application/json", whole},
		"events behind a mark":        {"", "\xEF\xBB\xBF" + whole},
		"an object":                   {"application/json", object},
		"an object without a type":    {"", object},
		"an object as events":         {"text/event-stream", object},
		"an object behind a mark":     {"application/json", "\xEF\xBB\xBF\r\n" + object},
		"an object in an array":       {"application/json", "[" + object + "]"},
		"events without a last break": {"", strings.TrimRight(whole, "\n")},
		"a lone CR at the end":        {"", strings.ReplaceAll(whole, "\n", "\r")},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 1 << 20} {
				a := wiretest.Text(200, test.contentType, "")
				a.Body = wiretest.Pieces(strings.NewReader(test.body), size)
				response, _, err := wiretest.Round(t, client(t, answering(a)), wiretest.Request())
				require.NoError(t, err)
				assert.Equal(t, "ready", wiretest.Reply(response))
				assert.Equal(t, 3, response.Usage.Input)
			}
		})
	}
}

func TestBodiesThatAreNoAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		contentType, body string
		code              string
		retried           bool
		contains          string
	}{
		"a web page":           {"text/html", "<html>\x1b[31m" + strings.Repeat("x", 1000), model.CodeStreamInvalid, false, `\x1b[31m`},
		"a web page as events": {events, "<!DOCTYPE html>", model.CodeStreamInvalid, false, "web page"},
		"an empty body":        {events, "", model.CodeStreamEnded, true, ""},
		"white space":          {events, " \n\n", model.CodeStreamEnded, true, ""},
		"half an object":       {"application/json", `{"choices":[`, model.CodeStreamInvalid, true, "choices"},
		"an error in a 200":    {"application/json", `{"error":{"message":"no"}}`, model.CodeHTTP, true, "no"},
		"text in an event":     {events, "data: oops\n\n", model.CodeStreamInvalid, true, "oops"},
		"an end mark alone":    {events, "data: [DONE]\n\n", model.CodeStreamEnded, true, ""},
		"comments alone":       {events, ": ping\n\n", model.CodeStreamEnded, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := wiretest.Round(t, client(t, answering(wiretest.Text(200, test.contentType, test.body))), wiretest.Request())
			e := failure(t, err)
			assert.Equal(t, test.code, e.Code)
			assert.Equal(t, test.retried, e.Retryable)
			assert.Contains(t, e.Message, test.contains)
			assert.LessOrEqual(t, len(e.Message), 400)
			assert.NotContains(t, e.Message, "\x1b")
		})
	}
}

func TestAnEndWithoutAReason(t *testing.T) { // PROTO-4
	text := `data: {"choices":[{"delta":{"content":"Text"}}]}` + "\n\n"
	response, _, err := wiretest.Round(t, client(t, answering(wiretest.Text(200, events, text+"data: [DONE]\n\n"))), wiretest.Request())
	require.NoError(t, err)
	assert.Equal(t, model.FinishStop, response.Finish)
	assert.Equal(t, "Text", wiretest.Reply(response))
	_, _, err = wiretest.Round(t, client(t, answering(wiretest.Text(200, events, text))), wiretest.Request())
	e := failure(t, err)
	assert.Equal(t, model.KindIncomplete, e.Kind)
	assert.True(t, e.Retryable)
}

func TestCompressedBodiesAreReadWhileTheyComeIn(t *testing.T) {
	type flusher interface {
		io.WriteCloser
		Flush() error
	}
	for coding, open := range map[string]func(io.Writer) flusher{
		"gzip":    func(w io.Writer) flusher { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) flusher { return zlib.NewWriter(w) },
		"Deflate": func(w io.Writer) flusher { f, _ := flate.NewWriter(w, 5); return f },
	} {
		t.Run(coding, func(t *testing.T) {
			var packed bytes.Buffer
			w := open(&packed)
			for piece := range strings.SplitAfterSeq(whole, "\n\n") {
				_, err := io.WriteString(w, piece)
				require.NoError(t, err)
				require.NoError(t, w.Flush())
			}
			// The stream is not closed: what was flushed is enough.
			a := wiretest.Text(200, events, "")
			a.Header.Set("Content-Encoding", coding)
			a.Body = wiretest.Pieces(&packed, 3)
			a.Hold = true
			response, _, err := wiretest.Round(t, client(t, answering(a)), wiretest.Request())
			require.NoError(t, err)
			assert.Equal(t, "ready", wiretest.Reply(response))
		})
	}
	a := wiretest.Text(200, events, whole)
	a.Header.Set("Content-Encoding", "br")
	_, _, err := wiretest.Round(t, client(t, answering(a)), wiretest.Request())
	assert.Equal(t, model.CodeStreamInvalid, failure(t, err).Code)
	a = wiretest.Text(200, events, whole)
	a.Header.Set("Content-Encoding", "gzip")
	_, _, err = wiretest.Round(t, client(t, answering(a)), wiretest.Request())
	assert.Equal(t, model.CodeStreamInvalid, failure(t, err).Code)
}
