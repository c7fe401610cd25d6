package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/crystalkernel/crystal/points/model"
)

// Client talks to one model through a [Codec]. Calls may overlap. It prints as its type name alone.
type Client struct {
	codec    Codec
	settings func() model.ClientRequest // a closure, so that nothing prints the key
	http     *http.Client
	base     *url.URL
	lines    bool
	accept   string

	size         atomic.Int64 // of the last body
	withoutUsage atomic.Bool
	mu           sync.Mutex
	noted        map[note]struct{} // guarded by mu
}

type note struct{ thread, name string }

// String returns the type name alone.
func (c *Client) String() string { return "wire.Client" }

// GoString returns the type name alone.
func (c *Client) GoString() string { return "wire.Client" }

// Round sends r once and reads the answer.
func (c *Client) Round(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
	set := c.settings()
	q := settle(r, set)
	e := Encoding{Variant: Variant{WithoutUsage: c.withoutUsage.Load()}}
	for {
		e.Body = make([]byte, 0, c.size.Load()+1<<12)
		e.CarriesReasoning, e.AsksForUsage, e.GearIgnored = false, false, false
		if err := c.encode(&e, q); err != nil {
			return nil, err
		}
		c.size.Store(int64(len(e.Body)))
		if e.GearIgnored {
			text := fmt.Sprintf("protocol %s has no thinking gear %q; the model's default is used", set.Protocol, r.Gear)
			if err := c.note(r, emit, model.NoteGearIgnored, text); err != nil {
				return nil, err
			}
		}
		response, err := c.attempt(ctx, q.Model, &e, emit)
		if err == nil {
			return response, nil
		}
		again, text := c.without(&e, err)
		if !again {
			return nil, err
		}
		if text != "" {
			if err := c.note(r, emit, model.NoteReasoningDropped, text); err != nil {
				return nil, err
			}
		}
	}
}

// settle fills in what the request leaves to the model's entry.
func settle(r *model.Request, set model.ClientRequest) *model.Request {
	q := *r
	if q.Model == "" {
		q.Model = set.Model
	}
	if q.Temperature == nil {
		q.Temperature = set.Temperature
	}
	if q.TopP == nil {
		q.TopP = set.TopP
	}
	if q.MaxTokens == 0 {
		q.MaxTokens = set.MaxTokens
	}
	q.ReplayReasoning = q.ReplayReasoning || set.ReplayReasoning
	return &q
}

func (c *Client) encode(e *Encoding, r *model.Request) error {
	set := c.settings()
	if set.KeyRequired && strings.TrimSpace(set.Key) == "" {
		e := c.refuse("no key for the provider")
		e.Code, e.Kind = model.CodeKeyMissing, model.KindAuth
		return e
	}
	if strings.ContainsFunc(set.Key, unicode.IsControl) {
		return c.refuse("the key holds a control character, such as a line break, which no header can carry")
	}
	asked := false
	for _, i := range r.Items {
		if i.Kind == model.ToolResult || i.Kind == model.Message && i.Role == model.User {
			asked = true
			break
		}
	}
	if !asked {
		return c.refuse("the request has neither a user message nor a tool result")
	}
	err := c.codec.Encode(e, r)
	if err == nil {
		return nil
	}
	refused := c.refuse(err.Error())
	refused.Err = err
	return refused
}

// without decides whether a refused request is sent once more with less, and says why if the operator has to know.
func (c *Client) without(e *Encoding, err error) (again bool, text string) {
	refused, ok := errors.AsType[*model.Error](err)
	if !ok || refused.Status != http.StatusBadRequest {
		return false, ""
	}
	said := strings.ToLower(refused.ProviderCode + " " + refused.Message)
	switch {
	case e.AsksForUsage && !e.WithoutUsage && strings.Contains(said, "stream_options"):
		e.WithoutUsage = true
		c.withoutUsage.Store(true)
		return true, ""
	case e.CarriesReasoning && !e.WithoutReasoning &&
		containsAny(said, []string{"reasoning", "thinking", "signature"}):
		e.WithoutReasoning = true
		return true, "the provider refused earlier reasoning; the request was sent again without it"
	}
	return false, ""
}

// note gives a note once per thread.
func (c *Client) note(r *model.Request, emit func(model.Delta) error, name, text string) error {
	const most = 4096 // threads; then all are forgotten
	c.mu.Lock()
	n := note{r.Thread, name}
	_, known := c.noted[n]
	if c.noted == nil || len(c.noted) >= most {
		c.noted = map[note]struct{}{}
	}
	c.noted[n] = struct{}{}
	c.mu.Unlock()
	if known {
		return nil
	}
	return emit(model.Delta{Kind: model.NoteDelta, Name: name, Text: text})
}

// attempt sends one body and reads the answer to it.
func (c *Client) attempt(parent context.Context, name string, e *Encoding, emit func(model.Delta) error) (*model.Response, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	w := &watch{cancel: cancel}
	defer w.stop()
	set := c.settings()
	w.limitTo(set.RequestTimeout, errNoHeaders, true)

	answer, err := c.send(ctx, name, e.Body)
	if err != nil {
		return nil, c.unreachable(parent, ctx, err)
	}
	defer func() { _ = answer.Body.Close() }()
	w.limitTo(set.IdleTimeout, errSilence, false)
	body, err := decompress(answer.Header, w.reader(answer.Body))
	if err != nil {
		return nil, c.broken(parent, ctx, err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return nil, c.refused(parent, answer, body)
	}
	sink := NewSink(set.Protocol, set.Provider, emit)
	if err := c.read(sink, w, answer.Header, body); err != nil {
		if sink.refused != nil {
			return nil, sink.refused
		}
		return nil, c.broken(parent, ctx, err)
	}
	return sink.Response()
}

func (c *Client) send(ctx context.Context, name string, body []byte) (*http.Response, error) {
	set := c.settings()
	u := *c.base
	path, query, _ := strings.Cut(c.codec.Target(name), "?")
	u.RawPath = strings.TrimRight(u.EscapedPath(), "/") + "/" + path
	u.Path, _ = url.PathUnescape(u.RawPath)
	if query != "" {
		if u.RawQuery != "" {
			query = u.RawQuery + "&" + query
		}
		u.RawQuery = query
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("User-Agent", "crystal")
	for k, v := range set.Headers {
		if !strings.EqualFold(k, "Authorization") {
			q.Header.Set(k, v)
		}
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", c.accept)
	c.codec.Authorize(q.Header, set)
	return c.http.Do(q)
}

// maxAnswer bounds what is read of an error answer.
const maxAnswer = 64 << 10

// refused makes the error of an answer whose status is no success.
func (c *Client) refused(parent context.Context, answer *http.Response, body io.Reader) error {
	text, _ := io.ReadAll(io.LimitReader(body, maxAnswer))
	if parent.Err() != nil {
		return context.Cause(parent)
	}
	f := readAnswer(text)
	e := c.failure(f.Code, f.Message)
	e.Status = answer.StatusCode
	e.RetryAfter, e.HasRetry = retryAfter(answer.Header)
	for _, name := range []string{"X-Request-Id", "Request-Id", "X-Goog-Request-Id", "Cf-Ray"} {
		if e.RequestID == "" {
			e.RequestID = clean(answer.Header.Get(name))
		}
	}
	if e.Status >= 300 && e.Status < 400 {
		e.Message = "the provider redirects elsewhere, which is refused"
	}
	if e.Message == "" {
		e.Message = http.StatusText(e.Status)
	}
	Classify(e, false)
	return e
}
