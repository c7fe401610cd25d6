package toolset

import (
	"bytes"
	"fmt"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/tool"
)

// Limits of a definition.
const (
	maxID              = 128
	maxPart            = 64
	maxDescription     = 16 << 10
	maxNamespaceText   = 4 << 10
	maxClientJSON      = 16 << 10
	maxTimeout         = 24 * time.Hour
	audiences          = tool.AudienceModel | tool.AudienceHost | tool.AudienceApp
	defaultAudiences   = tool.AudienceModel | tool.AudienceHost
	maxQuoted          = 80
	reasonSourceFailed = "sourceFailed"
)

// DefaultTimeout is the time of one invocation of a tool that names none.
const DefaultTimeout = 120 * time.Second

// fault says why a registration is not admitted.
type fault struct {
	reason  string // reasonCode
	keyword string
	detail  string
}

// candidate is an admitted registration on its way into the snapshot.
type candidate struct {
	tool  *Tool
	entry *contrib.EntryInfo
}

// admit checks one registration and makes the host's own copy of it.
func (p *pass) admit(r *tool.Registration, source string, e *contrib.EntryInfo) (*Tool, *fault) {
	if r.Binding.Runtime == nil {
		return nil, &fault{reason: "nil", detail: "no runtime"}
	}
	p.made = append(p.made, made{definition: r.Definition})
	m := &p.made[len(p.made)-1]
	d := &m.definition
	d.Key = keyOf(e.Origin, source, d.Key, d.ID)
	if f := checkNames(d); f != nil {
		return nil, f
	}
	if f := checkTexts(d); f != nil {
		return nil, f
	}
	if d.Catalogs == 0 || d.Catalogs&^tool.CatalogBoth != 0 {
		return nil, &fault{reason: "catalogs", detail: "names no catalog, or an unknown one"}
	}
	if f := checkExposure(d); f != nil {
		return nil, f
	}
	input, err := p.schemas.Compile(d.InputSchema)
	if err != nil {
		return nil, schemaFault(err)
	}
	d.InputSchema = input.JSON()
	d.Audiences &= audiences
	if d.Audiences == 0 {
		d.Audiences = defaultAudiences
	}
	p.narrow(d, e.Origin)
	if e.Origin.Kind() != string(tool.OwnerPlugin) { // what a guard hands over is the host's own already
		d.Annotations, d.Presentation = bytes.Clone(d.Annotations), bytes.Clone(d.Presentation)
		if d.Hints != nil {
			h := *d.Hints
			d.Hints = &h
		}
		if d.Deferred != nil {
			c := *d.Deferred
			d.Deferred = &c
		}
	}
	summary := "calls " + d.Canonical()
	m.tool = Tool{Definition: d, Canonical: summary[len("calls "):], Summary: summary, Input: input, Binding: r.Binding}
	p.bind(&m.tool, e.Origin)
	p.output(&m.tool, e)
	return &m.tool, nil
}

// made keeps a definition and its tool in one piece of memory.
type made struct {
	definition tool.Definition
	tool       Tool
}

// keyOf is the identity of a tool. Only the host's own entries may speak for an external tool set.
func keyOf(o contrib.Origin, source string, given tool.Key, id string) tool.Key {
	switch o.Kind() {
	case string(tool.OwnerPlugin):
		return tool.Key{Kind: tool.OwnerPlugin, Owner: o.ID(), ID: id}
	case string(tool.OwnerModule):
		return tool.Key{Kind: tool.OwnerModule, Owner: o.ID(), ID: id}
	}
	if given.Kind == tool.OwnerExternal && given.Owner != "" {
		return tool.Key{Kind: tool.OwnerExternal, Owner: given.Owner, ID: id}
	}
	return tool.Key{Kind: tool.OwnerBuiltin, Owner: source, ID: id}
}

// owner names the owner of a tool in a diagnostic.
func owner(k tool.Key) string { return string(k.Kind) + ":" + k.Owner }

// narrow takes away what only some owners may ask for.
func (p *pass) narrow(d *tool.Definition, o contrib.Origin) {
	if d.Key.Kind != tool.OwnerBuiltin || d.PolicyScope != tool.ScopeRuntime {
		d.PolicyScope = tool.ScopeProfile
	}
	if d.Key.Kind == tool.OwnerPlugin || d.Key.Kind == tool.OwnerExternal {
		d.FlatName = ""
	}
	if d.Key.Kind != tool.OwnerPlugin {
		d.Authority = ""
	}
}

// bind fills the binding in.
func (p *pass) bind(t *Tool, o contrib.Origin) {
	b := &t.Binding
	kind := t.Definition.Key.Kind
	switch {
	case b.Timeout == tool.Unlimited && (kind == tool.OwnerBuiltin || kind == tool.OwnerExternal):
	case b.Timeout <= 0:
		b.Timeout = DefaultTimeout
	case b.Timeout > maxTimeout:
		b.Timeout = maxTimeout
	}
	if kind != tool.OwnerBuiltin {
		b.Grace = 0
	}
	switch kind {
	case tool.OwnerPlugin:
		b.Classify, b.Inline = nil, false
	case tool.OwnerModule:
		b.Classify = nil
	case tool.OwnerExternal:
		b.Inline = false
	}
	if b.ID == "" || o.Kind() != string(tool.OwnerPlugin) {
		b.ID = t.Definition.Key.String() + ":" + p.revision
	}
}

// output compiles the output schema. One that can't be used costs nothing but itself.
func (p *pass) output(t *Tool, e *contrib.EntryInfo) {
	d := t.Definition
	if len(d.OutputSchema) == 0 {
		d.OutputSchema = nil
		return
	}
	out, err := p.schemas.Compile(d.OutputSchema)
	if err != nil {
		f := schemaFault(err)
		p.note(contrib.Diagnostic{
			Code: tool.CodeOutputSchemaIgnored, Severity: contrib.Warning, EntryID: e.ID, Origin: e.Origin,
			Message: "An output schema can't be used; the tool stays.",
			Params:  map[string]any{"owner": owner(d.Key), "toolId": quoted(d.ID), "keyword": f.keyword},
		})
		d.OutputSchema = nil
		return
	}
	t.Output, d.OutputSchema = out, out.JSON()
}

// refuse records that a registration, or all of a source, is left out.
func (p *pass) refuse(f *fault, key tool.Key, source string, e *contrib.EntryInfo) {
	d := contrib.Diagnostic{
		Code: tool.CodeInvalidDefinition, Severity: contrib.Warning, EntryID: e.ID, Origin: e.Origin,
		Message: fmt.Sprintf("A tool of %s was left out (%s).", owner(key), f.reason),
		Params:  map[string]any{"toolId": quoted(key.ID), "reasonCode": f.reason},
	}
	if f.reason == reasonSourceFailed {
		d.Message = "The tools of " + owner(key) + " were left out."
	}
	if e.Origin.Kind() == string(tool.OwnerPlugin) {
		d.Code = tool.CodePluginToolInvalid
		d.Params["sourceId"] = quoted(source)
	} else {
		d.Params["owner"] = owner(key)
	}
	if f.keyword != "" {
		d.Params["keyword"] = f.keyword
	}
	if f.detail != "" {
		d.Params["detail"] = f.detail
	}
	p.note(d)
}
