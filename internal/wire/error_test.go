package wire_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

func TestErrorAnswersAreClassified(t *testing.T) {
	message := func(code, text string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","code":%q}}`, text, code)
	}
	type want struct {
		kind     model.ErrorKind
		code     string
		retried  bool
		provider string // the provider's code
		text     string
	}
	const request, http_ = model.KindRequest, model.CodeHTTP
	for name, test := range map[string]struct {
		status int
		body   string
		want
	}{
		"400":                      {400, message("bad_value", "no such field"), want{request, http_, false, "bad_value", "no such field"}},
		"400 that may pass":        {400, message("x", "Upstream timed out"), want{request, http_, true, "x", "Upstream"}},
		"400 with a number":        {400, message("", "upstream said 503."), want{request, http_, true, "invalid_request_error", ""}},
		"400 with another number":  {400, message("", "item 15030"), want{request, http_, false, "", ""}},
		"401":                      {401, message("", "who are you"), want{model.KindAuth, http_, false, "", "who"}}, // FIELD-Q6
		"403 that says try again":  {403, message("", "try again"), want{model.KindAuth, http_, false, "", ""}},
		"404":                      {404, "", want{request, http_, true, "", "Not Found"}},
		"408":                      {408, "", want{request, http_, true, "", ""}},
		"409":                      {409, "", want{request, http_, false, "", ""}},
		"425":                      {425, "", want{request, http_, true, "", ""}},
		"402 without quota":        {402, message("insufficient_quota", "rate limit"), want{request, http_, false, "insufficient_quota", ""}},
		"429":                      {429, message("", "slow"), want{model.KindRateLimit, http_, true, "", "slow"}},
		"429 without quota":        {429, message("insufficient_quota", "pay"), want{model.KindRateLimit, http_, false, "", ""}},
		"400 of type rate_limit":   {400, `{"error":{"type":"rate_limit_error","message":"m"}}`, want{model.KindRateLimit, http_, false, "rate_limit_error", ""}},
		"500":                      {500, "oops", want{model.KindServer, http_, true, "", "oops"}},
		"500 that is an overflow":  {500, "maximum context length", want{model.KindOverflow, model.CodeContextOverflow, false, "", ""}},
		"529":                      {529, `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`, want{model.KindOverloaded, http_, true, "overloaded_error", "busy"}},
		"an overflow by code":      {400, message("context_length_exceeded", "x"), want{model.KindOverflow, model.CodeContextOverflow, false, "", ""}}, // FIELD-R8
		"an overflow by text":      {400, `{"error":"prompt is too long: 210000 tokens > 200000 maximum"}`, want{model.KindOverflow, model.CodeContextOverflow, false, "", "210000"}},
		"an overflow in a status":  {400, `[{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (40000) exceeds the maximum"}}]`, want{model.KindOverflow, model.CodeContextOverflow, false, "INVALID_ARGUMENT", ""}},
		"an overflow by type":      {400, `{"error":{"type":"exceed_context_size_error","message":"m"}}`, want{model.KindOverflow, model.CodeContextOverflow, false, "", ""}},
		"413 with no body":         {413, "", want{model.KindOverflow, model.CodeContextOverflow, false, "", "Request Entity Too Large"}},
		"text with terminal codes": {400, "a\x1b[31mb\r\nc", want{request, http_, false, "", "a [31mb c"}},
		"a body that is no JSON":   {400, `{"error":`, want{request, http_, false, "", `{"error":`}},
		"detail":                   {422, `{"detail":"bad field"}`, want{request, http_, false, "", "bad field"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := wiretest.Round(t, client(t, answering(wiretest.Text(test.status, "application/json", test.body))), wiretest.Request())
			e := failure(t, err)
			assert.Equal(t, test.kind, e.Kind)
			assert.Equal(t, test.code, e.Code)
			assert.Equal(t, test.retried, e.Retryable)
			assert.Equal(t, test.status, e.Status)
			assert.Equal(t, test.kind == model.KindOverflow, e.Overflow)
			assert.Contains(t, e.Message, test.text)
			assert.Equal(t, "example", e.Provider)
			assert.Equal(t, "openai", e.Protocol)
			if test.provider != "" {
				assert.Equal(t, test.provider, e.ProviderCode)
			}
		})
	}
}

func TestErrorsInsideAnAnswerAreClassified(t *testing.T) {
	for name, test := range map[string]struct {
		payload string
		kind    model.ErrorKind
		retried bool
	}{
		"without a status":    {`{"error":{"message":"odd"}}`, model.KindServer, true},
		"a text":              {`{"error":"the cat ate it"}`, model.KindServer, true},
		"a status":            {`{"error":{"code":429,"message":"slow"}}`, model.KindRateLimit, true},
		"a status as text":    {`{"error":{"code":"401","message":"no"}}`, model.KindAuth, false},
		"a code that says no": {`{"error":{"code":"invalid_prompt","message":"no"}}`, model.KindServer, false},
		"an overflow":         {`{"error":{"message":"the context window is full"}}`, model.KindOverflow, false},
		"overloaded":          {`{"error":{"type":"overloaded_error","message":"m"}}`, model.KindOverloaded, true},
		"no resources":        {`{"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}`, model.KindServer, true},
	} {
		t.Run(name, func(t *testing.T) {
			body := `data: {"choices":[{"delta":{"content":"so far"}}]}` + "\n\ndata: " + test.payload + "\n\n"
			_, deltas, err := wiretest.Round(t, client(t, answering(wiretest.Text(200, events, body))), wiretest.Request())
			e := failure(t, err)
			assert.Equal(t, test.kind, e.Kind)
			assert.Equal(t, test.retried, e.Retryable)
			assert.Equal(t, "so far", deltas[0].Text)
		})
	}
}

func TestTheServersWaitIsRead(t *testing.T) { // FIELD-Q4
	synctest.Test(t, func(t *testing.T) {
		date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		for name, test := range map[string]struct {
			header, value string
			want          time.Duration
			asked         bool
		}{
			"seconds":      {"Retry-After", "7", 7 * time.Second, true},
			"a fraction":   {"Retry-After", "0.5", 500 * time.Millisecond, true},
			"a date":       {"Retry-After", date(4 * time.Second), 4 * time.Second, true},
			"a past date":  {"Retry-After", date(-time.Hour), 0, false},
			"milliseconds": {"retry-after-ms", "750", 750 * time.Millisecond, true},
			"a reset":      {"x-ratelimit-reset-after", "1.5", 1500 * time.Millisecond, true},
			"negative":     {"Retry-After", "-1", 0, false},
			"a word":       {"Retry-After", "soon", 0, false},
			"no number":    {"Retry-After", "NaN", 0, false},
			"very long":    {"Retry-After", "1e300", 100 * 365 * 24 * time.Hour, true},
		} {
			a := wiretest.Text(429, "", "slow")
			a.Header.Set(test.header, test.value)
			_, _, err := wiretest.Round(t, client(t, answering(a)), wiretest.Request())
			e := failure(t, err)
			assert.Equal(t, test.asked, e.HasRetry, name)
			assert.Equal(t, test.want, e.RetryAfter, name)
		}
		a := wiretest.Text(409, "", "conflict")
		a.Header.Set("Retry-After", "1")
		a.Header.Set("X-Request-Id", "req_7")
		_, _, err := wiretest.Round(t, client(t, answering(a)), wiretest.Request())
		e := failure(t, err)
		assert.True(t, e.Retryable, "409 with a wait")
		assert.Equal(t, "req_7", e.RequestID)
	})
}

func TestLongMessagesAreCut(t *testing.T) { // FIELD-J5
	_, _, err := wiretest.Round(t, client(t, answering(wiretest.Text(400, "", strings.Repeat("日本語", 1000)))), wiretest.Request())
	assert.Equal(t, strings.Repeat("日本語", 166)+"日本", failure(t, err).Message)
	_, _, err = wiretest.Round(t, client(t, answering(wiretest.Text(200, events, "data: x"+strings.Repeat("日本語", 100)+"\n\n"))), wiretest.Request())
	assert.NotContains(t, failure(t, err).Message, `\x`)
}

func TestARequestIsSentAgainWithoutWhatTheProviderRefuses(t *testing.T) {
	refusal := func(text string) wiretest.Answer {
		return wiretest.Text(400, "application/json", fmt.Sprintf(`{"error":{"message":%q}}`, text))
	}
	script := func(answers ...wiretest.Answer) *wiretest.Server {
		return wiretest.Serve(func(n int) wiretest.Answer {
			if n < len(answers) {
				return answers[n]
			}
			return wiretest.Text(200, events, whole)
		})
	}
	thinking := wiretest.Request()
	thinking.Thread = "t1"
	thinking.ReplayReasoning = true
	thinking.Items = append([]*model.Item{
		thinking.Items[0],
		{Kind: model.Reasoning, Segments: []model.Segment{{Text: "deep"}}},
		{Kind: model.Message, Role: model.Assistant, Text: "hm"},
	}, thinking.Items...)

	t.Run("stream_options", func(t *testing.T) {
		s := script(refusal("Unrecognized request argument: stream_options"))
		c := client(t, s)
		response, deltas, err := wiretest.Round(t, c, wiretest.Request())
		if assert.NoError(t, err) {
			assert.Equal(t, "ready", wiretest.Reply(response))
		}
		assert.Len(t, s.Bodies(), 2)
		assert.Contains(t, string(s.Bodies()[0]), "stream_options")
		assert.NotContains(t, string(s.Bodies()[1]), "stream_options")
		assert.NotEqual(t, model.NoteDelta, deltas[0].Kind)
		_, _, err = wiretest.Round(t, c, wiretest.Request())
		assert.NoError(t, err)
		assert.NotContains(t, string(s.Bodies()[2]), "stream_options", "the client remembers it")
	})
	t.Run("reasoning, with one note per thread", func(t *testing.T) {
		s := wiretest.Serve(func(n int) wiretest.Answer {
			if n%2 == 0 {
				return refusal("Invalid signature in thinking block")
			}
			return wiretest.Text(200, events, whole)
		})
		c := client(t, s)
		for round := range 2 {
			_, deltas, err := wiretest.Round(t, c, thinking)
			assert.NoError(t, err)
			assert.Equal(t, round == 0, deltas[0].Kind == model.NoteDelta && deltas[0].Name == model.NoteReasoningDropped)
		}
		assert.Contains(t, string(s.Bodies()[0]), "deep")
		assert.NotContains(t, string(s.Bodies()[1]), "deep")
	})
	t.Run("once", func(t *testing.T) {
		s := script(refusal("reasoning?"), refusal("reasoning!"))
		_, _, err := wiretest.Round(t, client(t, s), thinking)
		assert.Equal(t, 400, failure(t, err).Status)
		assert.Len(t, s.Bodies(), 2)
	})
	t.Run("not without reasoning", func(t *testing.T) {
		s := script(refusal("reasoning?"))
		_, _, err := wiretest.Round(t, client(t, s), wiretest.Request())
		assert.Equal(t, 400, failure(t, err).Status)
		assert.Len(t, s.Bodies(), 1)
	})
	t.Run("both", func(t *testing.T) {
		s := script(refusal("thinking"), refusal("stream_options"))
		_, _, err := wiretest.Round(t, client(t, s), thinking)
		assert.NoError(t, err)
		assert.Len(t, s.Bodies(), 3)
	})
}
