package composer

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/prompt"
)

// Bind replaces the {{name}} tokens of a text. Names are compared ignoring case; unknown tokens stay as typed; a value
// goes in as it is and is not looked at again. Several tokens of one name are one call. A placeholder that fails leaves
// its token and is reported.
func Bind(ctx context.Context, v *contrib.View, in Inputs, text string) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	var b strings.Builder
	values := map[string]*string{}
	for rest := text; ; {
		start := strings.Index(rest, "{{")
		if start < 0 {
			b.WriteString(rest)
			return b.String(), nil
		}
		name, size := token(rest[start:])
		if size == 0 {
			b.WriteString(rest[:start+1])
			rest = rest[start+1:]
			continue
		}
		b.WriteString(rest[:start])
		value, known := values[name]
		if !known {
			var err error
			if value, err = resolve(ctx, v, in, name); err != nil {
				return "", err
			}
			values[name] = value
		}
		if value == nil {
			b.WriteString(rest[start : start+size])
		} else {
			b.WriteString(*value)
		}
		rest = rest[start+size:]
	}
}

// maxToken is the size of the longest token: a name of 64 bytes with some blanks around it.
const maxToken = 2 + 64 + 16 + 2

// token reads {{ name }} at the start of s and returns the name in lower case and the token's size; size 0 for none.
func token(s string) (name string, size int) {
	end := strings.Index(s[:min(len(s), maxToken)], "}}")
	if end < 0 {
		return "", 0
	}
	name = strings.Trim(s[2:end], " ")
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return "", 0
	}
	return strings.ToLower(name), end + 2
}

// resolve returns the value of a name, or nil when the token stays.
func resolve(ctx context.Context, v *contrib.View, in Inputs, name string) (*string, error) {
	if slices.Contains(prompt.HostPlaceholders(), name) {
		value := ""
		if in.Host != nil {
			value = in.Host(name)
		}
		return &value, nil
	}
	entries := prompt.Placeholders.Entries(v, "")
	for i := range entries {
		if !strings.EqualFold(entries[i].Value.Name(), name) {
			continue
		}
		text, ok, err := contrib.First(ctx, entries[i:i+1], func(ctx context.Context, p prompt.Placeholder) (string, bool, error) {
			text, err := p.Resolve(ctx, in.Binding)
			if errors.Is(err, contrib.ErrRevoked) {
				return "", false, nil
			}
			return text, err == nil, err
		}, in.Report)
		if err != nil || !ok {
			return nil, err
		}
		return &text, nil
	}
	return nil, nil
}

// Contested returns the placeholders whose name an earlier one keeps: they answer nothing.
func Contested(v *contrib.View) []contrib.EntryInfo {
	var out []contrib.EntryInfo
	taken := map[string]bool{}
	for _, e := range prompt.Placeholders.Entries(v, "") {
		name := strings.ToLower(e.Value.Name())
		if taken[name] {
			out = append(out, e.EntryInfo)
		}
		taken[name] = true
	}
	return out
}
