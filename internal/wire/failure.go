package wire

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/crystalkernel/crystal/internal/wire/framing"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
	"github.com/crystalkernel/crystal/points/model"
)

// failure starts an error of this client. Whatever key the provider repeats is cut out.
func (c *Client) failure(code, message string) *model.Error {
	set := c.settings()
	return &model.Error{
		Protocol: set.Protocol, Provider: set.Provider,
		ProviderCode: clean(withoutSecrets(code, set)), Message: clean(withoutSecrets(message, set)),
	}
}

// withoutSecrets cuts the key, and headers that may carry one, out of a text.
func withoutSecrets(text string, set model.ClientRequest) string {
	secrets := []string{set.Key}
	for name, value := range set.Headers {
		name = strings.ToLower(name)
		if containsAny(name, []string{"auth", "key", "token", "secret", "cookie", "password"}) {
			_, after, _ := strings.Cut(value, " ") // Bearer and the like
			secrets = append(secrets, value, after)
		}
	}
	for _, s := range secrets {
		if s = strings.TrimSpace(s); len(s) >= 4 {
			text = strings.ReplaceAll(text, s, "[key]")
		}
	}
	return text
}

func withoutSecretBytes(text []byte, set model.ClientRequest) []byte {
	if text == nil {
		return nil
	}
	return []byte(withoutSecrets(string(text), set))
}

// refuse makes the error of a request that is not sent.
func (c *Client) refuse(message string) *model.Error {
	e := c.failure("", message)
	e.Code, e.Kind = model.CodeRequestInvalid, model.KindRequest
	return e
}

// unreachable makes the error of a request that got no answer.
func (c *Client) unreachable(parent, ctx context.Context, err error) error {
	if parent.Err() != nil {
		return context.Cause(parent)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // its text repeats the address, which may hold what is nobody's business
	}
	e := c.failure("", err.Error())
	e.Code, e.Kind, e.Retryable, e.Err = model.CodeUnreachable, model.KindNetwork, true, err
	if errors.Is(context.Cause(ctx), errNoHeaders) {
		e.Code, e.Message, e.Err = model.CodeTimeout, errNoHeaders.Error(), errNoHeaders
	}
	return e
}

// broken makes the error of an answer that could not be read to its end.
func (c *Client) broken(parent, ctx context.Context, err error) error {
	if parent.Err() != nil {
		return context.Cause(parent)
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		e := c.failure(f.Code, f.Message)
		e.Status = f.Status
		Classify(e, true)
		return e
	}
	invalid, ok := errors.AsType[*InvalidError](err)
	if ok {
		// The cause must not repeat a key that the quote holds.
		invalid = &InvalidError{
			Reason: invalid.Reason, Final: invalid.Final,
			Quote: withoutSecretBytes(invalid.Quote, c.settings()),
		}
		err = invalid
	}
	e := c.failure("", err.Error())
	e.Err, e.Retryable = err, true
	switch {
	case errors.Is(context.Cause(ctx), errSilence):
		e.Code, e.Kind, e.Message, e.Err = model.CodeTimeout, model.KindIncomplete, errSilence.Error(), errSilence
	case ok:
		e.Code, e.Kind, e.Retryable = model.CodeStreamInvalid, model.KindProtocol, !invalid.Final
	case errors.Is(err, framing.ErrTooLong):
		e.Code, e.Kind, e.Retryable = model.CodeStreamInvalid, model.KindProtocol, false
	case errors.Is(err, rawjson.ErrSyntax), errors.Is(err, errOrder):
		e.Code, e.Kind = model.CodeStreamInvalid, model.KindProtocol
	default:
		e.Code, e.Kind = model.CodeStreamEnded, model.KindIncomplete
		e.Message = "the answer ended before it was whole"
		if !errors.Is(err, io.EOF) {
			e.Message += ": " + clean(withoutSecrets(err.Error(), c.settings()))
		}
	}
	return e
}
