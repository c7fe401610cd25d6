package model

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// ErrorKind sorts the failures of model requests.
type ErrorKind string

// The kinds of errors.
const (
	KindIncomplete ErrorKind = "incomplete"
	KindRateLimit  ErrorKind = "rate_limit"
	KindOverloaded ErrorKind = "overloaded"
	KindServer     ErrorKind = "server"
	KindProtocol   ErrorKind = "protocol"
	KindAuth       ErrorKind = "auth"
	KindOverflow   ErrorKind = "overflow"
	KindNetwork    ErrorKind = "network"
	KindRequest    ErrorKind = "request"
)

// Codes of model requests.
const (
	CodeKeyMissing      = "provider_key_missing"
	CodeUnreachable     = "provider_unreachable"
	CodeTimeout         = "provider_timeout"
	CodeHTTP            = "provider_http"
	CodeRequestInvalid  = "provider_request_invalid"
	CodeStreamInvalid   = "provider_stream_invalid"
	CodeStreamEnded     = "provider_stream_ended"
	CodeContextOverflow = "provider_context_overflow"
)

// Error is the failure of a model request. A key never appears in it.
type Error struct {
	Code         string // one of the Code constants
	Kind         ErrorKind
	Protocol     string
	Provider     string
	Status       int    // HTTP status; 0 when there was none
	ProviderCode string // the provider's own code or type
	Message      string // the provider's message, cleaned
	RetryAfter   time.Duration
	HasRetry     bool // the server asked for RetryAfter
	RequestID    string
	Retryable    bool
	Overflow     bool  // the context is too long
	Err          error // cause
}

// Error names provider, status, code and message.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Provider != "" {
		b.WriteString(e.Provider)
		b.WriteString(": ")
	}
	b.WriteString(e.Code)
	if e.Status != 0 {
		b.WriteString(" ")
		b.WriteString(strconv.Itoa(e.Status))
	}
	if e.ProviderCode != "" {
		b.WriteString(" ")
		b.WriteString(e.ProviderCode)
	}
	if e.Message != "" {
		b.WriteString(": ")
		b.WriteString(e.Message)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

var (
	transientTexts = []string{
		"rate limit", "overloaded", "server error", "temporarily unavailable", "try again", "network", "timeout",
		"timed out", "incomplete stream",
	}
	transientWords = []string{"429", "500", "502", "503", "504", "529"}
)

// Retryable reports whether sending the same request again may help: an [*Error] says so itself, any other error by its
// text.
func Retryable(err error) bool {
	if err == nil {
		return false
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Retryable
	}
	return Transient(err.Error())
}

// Transient reports whether the text of an error says that the same request may succeed later.
func Transient(text string) bool {
	text = strings.ToLower(text)
	if slices.ContainsFunc(transientTexts, func(t string) bool { return strings.Contains(text, t) }) {
		return true
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}) {
		if slices.Contains(transientWords, word) {
			return true
		}
	}
	return false
}
