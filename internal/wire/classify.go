package wire

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/points/model"
)

var (
	overflowCodes = []string{"context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"}
	overflowTexts = []string{
		"context window", "maximum context", "context length", "prompt is too long", "input token count", "too many tokens",
		"input is too long",
	}
	neverCodes = []string{"insufficient_quota", "usage_not_included", "invalid_prompt", "context_length_exceeded"}
)

// Classify fills in code, kind, overflow and retryable of an error that a provider reported, from its status, its code and
// its message. inStream says that it came inside an answer.
func Classify(e *model.Error, inStream bool) {
	text := strings.ToLower(e.ProviderCode + " " + e.Message)
	e.Code = model.CodeHTTP
	e.Overflow = e.Status == 413 || slices.Contains(overflowCodes, e.ProviderCode) || containsAny(text, overflowTexts)
	switch {
	case e.Overflow:
		e.Code, e.Kind = model.CodeContextOverflow, model.KindOverflow
	case e.Status == 401 || e.Status == 403:
		e.Kind = model.KindAuth
	case e.Status == 429 || strings.Contains(e.ProviderCode, "rate_limit"):
		e.Kind = model.KindRateLimit
	case e.Status == 529 || e.ProviderCode == "overloaded_error":
		e.Kind = model.KindOverloaded
	case e.Status >= 500 || inStream && e.Status == 0:
		e.Kind = model.KindServer
	default:
		e.Kind = model.KindRequest
	}
	switch {
	case e.Overflow || e.Kind == model.KindAuth || slices.Contains(neverCodes, e.ProviderCode):
		e.Retryable = false
	case e.Status == 404 || e.Status == 408 || e.Status == 425 || e.Status == 429 || e.Status >= 500:
		e.Retryable = true
	case e.Status == 409 && e.HasRetry, e.Status == 0 && inStream:
		e.Retryable = true
	default:
		e.Retryable = e.Status >= 400 && model.Transient(text)
	}
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
}

// clean makes one line of at most 500 characters: control characters become spaces, and runs of them one.
func clean(text string) string {
	var b strings.Builder
	count, gap := 0, false
	for _, r := range text {
		if unicode.IsControl(r) || unicode.IsSpace(r) || r == utf8.RuneError {
			gap = b.Len() > 0
			continue
		}
		if count >= 500 {
			break
		}
		if gap {
			b.WriteByte(' ')
			count++
			gap = false
		}
		b.WriteRune(r)
		count++
	}
	return b.String()
}

// cutBytes cuts b to at most n bytes at the start of a character.
func cutBytes(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}
