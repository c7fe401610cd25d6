package exectool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// options makes the options of the program from the arguments of a call, in the order of the manifest. The error says what
// the model has to change.
func (p *program) options(arguments json.RawMessage) ([]string, error) {
	if len(p.tool.Flags) == 0 {
		return nil, nil
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &args); err != nil {
		return nil, fmt.Errorf("the arguments are no object: %w", err)
	}
	var out []string
	for _, f := range p.tool.Flags {
		raw, given := args[f.Argument]
		if !given {
			continue
		}
		words, ok := words(raw)
		if !ok {
			return nil, fmt.Errorf("%s is passed as an option: it must be a text, a number, a boolean or an array of texts", f.Argument)
		}
		if slices.ContainsFunc(words, func(w string) bool { return strings.IndexByte(w, 0) >= 0 }) {
			return nil, fmt.Errorf("%s holds a zero byte", f.Argument)
		}
		for _, w := range words {
			out = append(out, f.Option, w)
		}
	}
	return out, nil
}

// words are the values of one option: each is passed with the option of its own.
func words(raw json.RawMessage) ([]string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil, false
	}
	switch raw[0] {
	case '"':
		text, ok := textOf(raw)
		return []string{text}, ok
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return nil, false
		}
		var out []string
		for _, element := range list {
			text, ok := textOf(element)
			if !ok {
				return nil, false
			}
			out = append(out, text)
		}
		return out, true
	case '{', 'n':
		return nil, false
	}
	return []string{string(raw)}, true
}

// textOf is the value of a JSON string. Nothing else is a text, null neither.
func textOf(raw json.RawMessage) (text string, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}
