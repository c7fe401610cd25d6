package approval

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// newPrompt makes the prompt for a call.
func newPrompt(c *dispatch.Call, rationale string) Prompt {
	k := &c.Classification
	p := Prompt{
		Call:      *c,
		Arguments: arguments(c.Arguments),
		Class:     k.Risk.String() + ", " + k.Authority.String(),
		Summary:   Clean(k.Summary),
		Reason:    reason(c),
		Rationale: Clean(rationale),
	}
	if c.Definition != nil {
		p.Tool = Clean(c.Definition.Canonical())
		p.Owner = Clean(owner(c.Definition.Key))
	}
	if g, ok := grantFor(c); ok {
		p.Storable = true
		p.Covers = Clean(covered(&g, p.Tool))
	}
	return p
}

func owner(k tool.Key) string {
	if k.Kind == tool.OwnerBuiltin {
		return string(k.Kind)
	}
	return string(k.Kind) + " " + k.Owner
}

// reason says which rule makes the call ask.
func reason(c *dispatch.Call) string {
	k := &c.Classification
	switch {
	case k.RequirePrompt:
		return "a hook or the tool itself requires a prompt"
	case k.Risk == tool.Forbidden:
		return "calls of this kind need your word each time"
	case k.Risk == tool.Privileged || !k.Risk.Valid():
		return "it may do lasting or wide damage, or can't be judged"
	case k.Authority == tool.OutsideWorkspace:
		return "it reaches outside the workspace"
	case k.Authority == tool.Network:
		return "it reaches other machines"
	case k.Authority != tool.Workspace:
		return "it needs more rights than the workspace gives"
	}
	mode := modeOf(c)
	if mode == "" {
		mode = ModeDefault
	}
	return fmt.Sprintf("the approval mode %s asks for changes", Clean(string(mode)))
}

// covered says in words what a grant covers.
func covered(g *grant, name string) string {
	up := fmt.Sprintf("up to %s, %s, in %s", g.risk, g.authority, g.workspace)
	if g.fingerprint == anyCall {
		return fmt.Sprintf("every call of %s %s", name, up)
	}
	return fmt.Sprintf("%s with exactly %s, %s", name, g.fingerprint, up)
}

// arguments lists the members of a call's arguments in their order. What is no object becomes one argument without a name.
func arguments(raw json.RawMessage) []Argument {
	whole := []Argument{{Text: Clean(string(raw))}}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return whole
	}
	var out []Argument
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return whole
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return whole
		}
		text := string(value)
		var s string
		if json.Unmarshal(value, &s) == nil && len(value) > 0 && value[0] == '"' {
			text = s
		}
		key, _ := name.(string) // the names of an object's members are strings
		out = append(out, Argument{Name: Clean(key), Text: Clean(text)})
	}
	return out
}
