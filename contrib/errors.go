package contrib

import (
	"errors"
	"strings"
)

// ErrRevoked is matched by every error that is caused by a revoked handle, registrar or generation.
var ErrRevoked = errors.New("contrib: revoked")

// Errors of use after a revocation. Both satisfy errors.Is(err, ErrRevoked).
var (
	// ErrUnavailable is what a guard answers once its entry or its generation is revoked.
	ErrUnavailable error = &revokedError{"contrib: unavailable"}
	// ErrClosed refuses an add through a closed registrar or of a revoked generation.
	ErrClosed error = &revokedError{"contrib: closed"}
)

// Errors of refused adds. A [*RefusedError] wraps them with the point and the reason.
var (
	ErrSealed              = errors.New("contrib: sealed")
	ErrUnknownPoint        = errors.New("contrib: unknown point")
	ErrNilContribution     = errors.New("contrib: nil contribution")
	ErrInvalidOption       = errors.New("contrib: invalid option")
	ErrInvalidName         = errors.New("contrib: invalid name")
	ErrInvalidScope        = errors.New("contrib: invalid scope")
	ErrScopeUnsupported    = errors.New("contrib: scope unsupported")
	ErrTierUnsupported     = errors.New("contrib: tier unsupported")
	ErrUnguarded           = errors.New("contrib: unguarded")
	ErrInvalidContribution = errors.New("contrib: invalid contribution")
	ErrOwnName             = errors.New("contrib: own name")
	ErrReplaceCycle        = errors.New("contrib: replace cycle")
	ErrThreadReleased      = errors.New("contrib: thread released")
)

// Errors of batches and of staged activations.
var (
	// ErrBatchClosed is returned by a batch that is used after its function has returned.
	ErrBatchClosed = errors.New("contrib: batch closed")
	// ErrRegistrationPending fails a commit while an add is still being prepared on another goroutine.
	ErrRegistrationPending = errors.New("contrib: registration pending")
)

// revokedError is a sentinel of its own that also is ErrRevoked.
type revokedError struct{ text string }

func (e *revokedError) Error() string        { return e.text }
func (e *revokedError) Is(target error) bool { return target == ErrRevoked }

// reasons gives each sentinel of a refused add the value that diagnostics carry.
var reasons = map[error]string{
	ErrClosed:              "closed",
	ErrSealed:              "sealed",
	ErrUnknownPoint:        "unknownPoint",
	ErrNilContribution:     "nilContribution",
	ErrInvalidOption:       "invalidOption",
	ErrInvalidName:         "invalidName",
	ErrInvalidScope:        "invalidScope",
	ErrScopeUnsupported:    "scopeUnsupported",
	ErrTierUnsupported:     "tierUnsupported",
	ErrUnguarded:           "unguarded",
	ErrInvalidContribution: "invalidContribution",
	ErrOwnName:             "ownName",
	ErrReplaceCycle:        "replaceCycle",
	ErrThreadReleased:      "threadReleased",
}

// RefusedError says why an add was refused. errors.Is finds the sentinel of the reason and, for a contribution whose
// metadata was refused, the error of Describe.
type RefusedError struct {
	Point  string   // name of the point
	Reason string   // the value of the reason in diagnostics, such as "replaceCycle"
	Names  []string // for replaceCycle: the cycle, from its byte-wise smallest name back to it

	kind   error
	detail string
	cause  error
}

func refuse(d *definition, kind error, detail string) *RefusedError {
	return &RefusedError{Point: d.name(), Reason: reasons[kind], kind: kind, detail: detail}
}

// Error names the point, the reason and what to change.
func (e *RefusedError) Error() string {
	var b strings.Builder
	b.WriteString(e.kind.Error())
	b.WriteString(" (")
	b.WriteString(e.Reason)
	b.WriteString(") at ")
	b.WriteString(e.Point)
	if len(e.Names) > 0 {
		b.WriteString(": ")
		b.WriteString(strings.Join(e.Names, " -> "))
	}
	if e.detail != "" {
		b.WriteString(": ")
		b.WriteString(e.detail)
	}
	if e.cause != nil {
		b.WriteString(": ")
		b.WriteString(e.cause.Error())
	}
	return b.String()
}

// Unwrap returns the sentinel of the reason and the cause, if there is one.
func (e *RefusedError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}
