package toolset

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/kernel/schema"
	"github.com/crystalkernel/crystal/points/tool"
)

func checkNames(d *tool.Definition) *fault {
	if !validID(d.ID) {
		return &fault{reason: "id", detail: "the tool id " + quoted(d.ID) + " is not 1 to 128 bytes of text without control characters"}
	}
	if !validPart(d.Name) {
		return &fault{reason: "name", detail: "the name " + quoted(d.Name) + " does not match ^[A-Za-z][A-Za-z0-9_-]{0,63}$"}
	}
	if d.Namespace != "" && !validPart(d.Namespace) {
		return &fault{reason: "namespace", detail: "the namespace " + quoted(d.Namespace) + " does not match ^[A-Za-z][A-Za-z0-9_-]{0,63}$"}
	}
	if d.FlatName != "" && (len(d.FlatName) > maxFlat || !validWire(d.FlatName) || strings.Contains(d.FlatName, "-")) {
		return &fault{reason: "name", detail: "the flat name " + quoted(d.FlatName) + " does not match ^[A-Za-z0-9_]{1,64}$"}
	}
	return nil
}

func checkTexts(d *tool.Definition) *fault {
	switch {
	case strings.TrimSpace(d.Description) == "":
		return &fault{reason: "description", detail: "the description is blank"}
	case len(d.Description) > maxDescription:
		return &fault{reason: "description", detail: "the description is over 16 KiB"}
	case len(d.NamespaceDescription) > maxNamespaceText:
		return &fault{reason: "description", detail: "the description of the namespace is over 4 KiB"}
	case !clientJSON(d.Annotations):
		return &fault{reason: "description", detail: "the annotations are not JSON of at most 16 KiB"}
	case !clientJSON(d.Presentation):
		return &fault{reason: "description", detail: "the presentation is not JSON of at most 16 KiB"}
	}
	return nil
}

func clientJSON(raw json.RawMessage) bool {
	return len(raw) == 0 || len(raw) <= maxClientJSON && json.Valid(raw)
}

func checkExposure(d *tool.Definition) *fault {
	switch d.Exposure {
	case "":
		d.Exposure = tool.Direct
	case tool.Direct, tool.DirectModelOnly, tool.Hidden:
	case tool.DeferredTool:
		if d.Deferred == nil {
			return &fault{reason: "exposure", detail: "deferred without search data"}
		}
	default:
		return &fault{reason: "exposure", detail: "the exposure " + quoted(string(d.Exposure)) + " is unknown"}
	}
	if d.Deferred != nil && d.Deferred.Namespace != d.Namespace {
		return &fault{reason: "exposure", detail: "the search data name another namespace"}
	}
	return nil
}

func schemaFault(err error) *fault {
	f := &fault{reason: "schema", detail: err.Error()}
	var invalid *schema.Invalid
	if errors.As(err, &invalid) {
		f.keyword, f.detail = invalid.Keyword, invalid.Detail
	}
	return f
}

func validID(s string) bool {
	if s == "" || len(s) > maxID || !utf8.ValidString(s) || strings.TrimSpace(s) == "" {
		return false
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}

// validPart reports whether s is a name part.
func validPart(s string) bool {
	if s == "" || len(s) > maxPart {
		return false
	}
	c := s[0] | 0x20
	return c >= 'a' && c <= 'z' && validWire(s)
}

// quoted escapes a name that a source chose, for a text.
func quoted(s string) string {
	runes := []rune(s)
	if len(runes) > maxQuoted {
		s = string(runes[:maxQuoted]) + "…"
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}
