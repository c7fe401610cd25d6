package tool

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Risk of a call, rising.
type Risk uint8

// The risks. The zero value is invalid.
const (
	Read       Risk = iota + 1 // looks, changes nothing
	Write                      // changes things that can be changed back
	Privileged                 // may do lasting or wide damage, or cannot be judged
	Forbidden                  // never passes without the operator, each time
)

var riskNames = [...]string{"", "Read", "Write", "Privileged", "Forbidden"}

// String returns the risk's name.
func (r Risk) String() string {
	if int(r) < len(riskNames) {
		return riskNames[r]
	}
	return "unknown"
}

// Valid reports whether r is one of the risks.
func (r Risk) Valid() bool { return r >= Read && r <= Forbidden }

// MarshalText implements encoding.TextMarshaler.
func (r Risk) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Authority that a call needs, rising.
type Authority uint8

// The authorities. The zero value is invalid.
const (
	Workspace            Authority = iota + 1 // stays in the workspace
	OutsideWorkspace                          // touches paths outside of it
	Network                                   // reaches other machines
	PrivilegedEscalation                      // needs or gains more rights than the workspace
)

var authorityNames = [...]string{"", "Workspace", "OutsideWorkspace", "Network", "PrivilegedEscalation"}

// String returns the authority's name.
func (a Authority) String() string {
	if int(a) < len(authorityNames) {
		return authorityNames[a]
	}
	return "unknown"
}

// Valid reports whether a is one of the authorities.
func (a Authority) Valid() bool { return a >= Workspace && a <= PrivilegedEscalation }

// MarshalText implements encoding.TextMarshaler.
func (a Authority) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// Classification says how a call is judged.
type Classification struct {
	Risk          Risk
	Authority     Authority
	Summary       string // one line
	RequirePrompt bool
	// Paths are the resolved paths that were judged, for built-in file tools: the approved path is the one that is
	// opened.
	Paths []string
	// Fingerprint identifies the call for grants; blank covers all calls of the tool.
	Fingerprint string
	// Always lets Write calls in the Workspace of an external tool pass in every mode; it counts for nothing else.
	Always bool
}

// Copy returns a copy that shares nothing with c.
func (c Classification) Copy() Classification {
	c.Paths = slices.Clone(c.Paths)
	return c
}

// Combine returns the worse of both: the highest risk and the highest authority, with the summary of the one that
// decided.
func (c Classification) Combine(o Classification) Classification {
	out := c
	if o.Risk > c.Risk || o.Risk == c.Risk && o.Authority > c.Authority {
		out.Summary = o.Summary
	}
	out.Risk = max(c.Risk, o.Risk)
	out.Authority = max(c.Authority, o.Authority)
	out.RequirePrompt = c.RequirePrompt || o.RequirePrompt
	return out
}

// Call is a tool call as classifiers see it.
type Call struct {
	ID, ParentID string
	Tool         string // canonical name
	Arguments    json.RawMessage
	Thread       string
}

// Classifier judges calls of tools that have no fixed rule. ok false is no opinion; the first answer counts. Calls may
// overlap; c is its own. Of the answer only risk, authority, summary and the required prompt count. An error, or a risk or
// an authority that does not exist, skips it.
type Classifier interface {
	Classify(ctx context.Context, c Call, workspace string) (Classification, bool, error)
}

// ClassifierFunc makes a Classifier of a function.
func ClassifierFunc(f func(ctx context.Context, c Call, workspace string) (Classification, bool, error)) Classifier {
	return classifierFunc(f)
}

type classifierFunc func(ctx context.Context, c Call, workspace string) (Classification, bool, error)

func (f classifierFunc) Classify(ctx context.Context, c Call, workspace string) (Classification, bool, error) {
	return f(ctx, c, workspace)
}

// Classifiers is the point tool.classifier. It is never asked about built-in tools and external tool sets.
var Classifiers = contrib.Define(contrib.Spec[Classifier]{
	Name: "tool.classifier", Doc: "Judges risk and authority of a call that no fixed rule covers.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardClassifier,
})
