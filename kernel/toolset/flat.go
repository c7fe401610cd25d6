package toolset

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/tool"
)

// maxFlat is the length of a flat name, in bytes.
const maxFlat = 64

// FlatName returns the flat name of a tool that collides with no other one: what a call of an older turn is shown as
// when its tool is gone.
func FlatName(namespace, name string) string {
	if p := plain(namespace, name); len(p) <= maxFlat {
		return p
	}
	return short(namespace, name)
}

func plain(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "__" + name
}

// short holds a piece of a hash, so that it stays the same whatever else is there.
func short(namespace, name string) string {
	h := sha256.New()
	_, _ = h.Write([]byte(namespace))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(name))
	return cut(plain(namespace, name), 51) + "_" + hex.EncodeToString(h.Sum(nil))[:12]
}

// project gives every tool its flat name and returns those that got one. tools stand in resolved order.
func (p *pass) project(tools []*Tool) []*Tool {
	overrides := map[string]*Tool{}
	for _, t := range tools {
		want := t.Definition.FlatName
		if want == "" {
			continue
		}
		if keeper := overrides[want]; keeper != nil {
			p.flatTaken(want, t, keeper)
			continue
		}
		t.Flat = want
		overrides[want] = t
	}
	count := make(map[string]int, len(tools))
	var plains []*Tool
	for _, t := range tools {
		if t.Flat == "" {
			t.Flat = plain(t.Definition.Namespace, t.Definition.Name)
			plains = append(plains, t)
		}
		count[t.Flat]++
	}
	for changed := true; changed; {
		// A short name may be the plain name of another tool, which then collides as well.
		changed = false
		left := plains[:0]
		var shortened []*Tool
		for _, t := range plains {
			if len(t.Flat) > maxFlat || overrides[t.Flat] != nil || count[t.Flat] > 1 && !t.plainBuiltin() {
				shortened = append(shortened, t)
			} else {
				left = append(left, t)
			}
		}
		for _, t := range shortened {
			t.Flat = short(t.Definition.Namespace, t.Definition.Name)
			count[t.Flat]++
			changed = true
		}
		plains = left
	}
	return p.distinct(tools)
}

// distinct leaves out what still has the flat name of an earlier tool. It takes a built-in tool without namespace first.
func (p *pass) distinct(tools []*Tool) []*Tool {
	taken := make(map[string]*Tool, len(tools))
	for _, t := range tools {
		if t.plainBuiltin() {
			taken[t.Flat] = t
		}
	}
	kept := tools[:0]
	for _, t := range tools {
		if keeper := taken[t.Flat]; keeper != nil && keeper != t {
			p.flatTaken(t.Flat, t, keeper)
			continue
		}
		taken[t.Flat] = t
		kept = append(kept, t)
	}
	return kept
}

// plainBuiltin reports whether the tool keeps its plain name in a collision.
func (t *Tool) plainBuiltin() bool {
	return t.Definition.Namespace == "" && t.Definition.Key.Kind == tool.OwnerBuiltin
}

func (p *pass) flatTaken(flat string, loser, keeper *Tool) {
	p.note(contrib.Diagnostic{
		Code: tool.CodeDuplicateFlatName, Severity: contrib.Warning,
		Message: "A flat tool name was taken; the name of the other tool stays.",
		Params: map[string]any{
			"flatName": flat, "name": loser.Canonical, "owner": owner(loser.Definition.Key), "keptBy": owner(keeper.Definition.Key),
		},
	})
}

// Project returns the flat name under which a call of an older turn is sent now. name is the name that the model used.
// A tool of this snapshot with that flat or canonical name gives its present flat name. Another name comes back as it
// is, without what a protocol refuses.
func (s *Snapshot) Project(name string) string {
	if t := s.flat.exact[name]; t != nil {
		return t.Flat
	}
	if t := s.canonical.exact[name]; t != nil {
		return t.Flat
	}
	if ns, part, ok := strings.Cut(name, "."); ok && validPart(ns) && validPart(part) {
		return FlatName(ns, part)
	}
	return wireName(name)
}

// wireName makes a name that every protocol takes: other bytes become "_", 64 of them stay, and a blank name is called
// unnamed.
func wireName(name string) string {
	if name == "" {
		return "unnamed"
	}
	if len(name) <= maxFlat && validWire(name) {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if b.Len() == maxFlat {
			break
		}
		if r < 0x80 && validWire(string(r)) {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	return b.String()
}

func validWire(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}
