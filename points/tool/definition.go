package tool

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Definition describes a tool. A source makes it; the host copies it and never changes it afterwards.
type Definition struct {
	Key                  Key    // set by the host
	ID                   string // chosen by the source: 1 to 128 bytes
	Namespace            string // optional name part
	Name                 string // name part: ^[A-Za-z][A-Za-z0-9_-]{0,63}$
	Description          string // required, at most 16 KiB
	NamespaceDescription string // at most 4 KiB
	InputSchema          json.RawMessage
	OutputSchema         json.RawMessage
	Hints                *Hints // nil: none were given
	Catalogs             Catalogs
	Exposure             Exposure  // blank: Direct
	Audiences            Audiences // zero: model and host
	PolicyScope          PolicyScope
	Deferred             *Deferred
	FlatName             string // override, built-ins and modules only
	Annotations          json.RawMessage
	Presentation         json.RawMessage
	Authority            string // authority reference, set by the host
}

// Canonical returns ns.name, or name without a namespace.
func (d *Definition) Canonical() string {
	if d.Namespace == "" {
		return d.Name
	}
	return d.Namespace + "." + d.Name
}

// Copy returns a copy that shares nothing with d.
func (d Definition) Copy() Definition {
	d.ownTexts()
	d.InputSchema, d.OutputSchema = bytes.Clone(d.InputSchema), bytes.Clone(d.OutputSchema)
	d.Annotations, d.Presentation = bytes.Clone(d.Annotations), bytes.Clone(d.Presentation)
	if d.Hints != nil {
		h := *d.Hints
		d.Hints = &h
	}
	if d.Deferred != nil {
		own := Deferred{SearchText: strings.Clone(d.Deferred.SearchText), Namespace: strings.Clone(d.Deferred.Namespace)}
		d.Deferred = &own
	}
	return d
}

// ownTexts moves the texts into one new piece of memory: tools are planned by the thousand.
func (d *Definition) ownTexts() {
	texts := [...]*string{&d.ID, &d.Namespace, &d.Name, &d.Description, &d.NamespaceDescription, &d.FlatName}
	size := 0
	for _, s := range texts {
		size += len(*s)
	}
	var b strings.Builder
	b.Grow(size)
	for _, s := range texts {
		b.WriteString(*s)
	}
	all := b.String()
	for _, s := range texts {
		n := len(*s)
		*s, all = all[:n], all[n:]
	}
}

// Key is the identity of a tool: owner and tool id. The host sets it.
type Key struct {
	Kind  OwnerKind
	Owner string // source id, module name, plugin id or tool set name
	ID    string
}

// String returns <kind>:<owner id>:<tool id>.
func (k Key) String() string { return string(k.Kind) + ":" + k.Owner + ":" + k.ID }

// OwnerKind says what kind of owner a tool has.
type OwnerKind string

// The kinds of owners.
const (
	OwnerBuiltin  OwnerKind = "builtin"
	OwnerModule   OwnerKind = "module"
	OwnerPlugin   OwnerKind = "plugin"
	OwnerExternal OwnerKind = "external"
)

// Hints inform the host's classification and never lower it.
type Hints struct {
	RequiresApproval bool
	ReadOnly         bool
	Destructive      bool
	OpenWorld        bool
}

// Catalogs says in which modes a tool is offered. None is invalid.
type Catalogs uint8

// The catalogs.
const (
	CatalogPlan Catalogs = 1 << iota
	CatalogWork
)

// CatalogBoth offers a tool in both modes.
const CatalogBoth = CatalogPlan | CatalogWork

// Exposure says who sees a tool, widest first.
type Exposure string

// The exposures.
const (
	Direct          Exposure = "direct"
	DirectModelOnly Exposure = "direct_model_only"
	DeferredTool    Exposure = "deferred"
	Hidden          Exposure = "hidden"
)

// Audiences says who may call a tool.
type Audiences uint8

// The audiences.
const (
	AudienceModel Audiences = 1 << iota // a call of the model
	AudienceHost                        // the kernel itself
	AudienceApp                         // a program through the kernel's interface
)

// String names one audience: model, host or app.
func (a Audiences) String() string {
	switch a {
	case AudienceModel:
		return "model"
	case AudienceHost:
		return "host"
	case AudienceApp:
		return "app"
	}
	return "mixed"
}

// PolicyScope says whether restrictions may mask a tool.
type PolicyScope string

// The policy scopes. Blank is ScopeProfile.
const (
	ScopeProfile PolicyScope = "profile"
	ScopeRuntime PolicyScope = "runtime" // exempt from restrictions; built-ins only
)

// Deferred is what a deferred tool is found by.
type Deferred struct {
	SearchText string
	Namespace  string // must equal the canonical one
}
