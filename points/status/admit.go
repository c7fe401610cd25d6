package status

import "github.com/crystalkernel/crystal/contrib"

// Reasons why a field is left out.
const (
	ReasonInvalid   = "invalid"   // the name is not made of words of letters and digits joined by single hyphens, or too long
	ReasonReserved  = "reserved"  // the name is that of a built-in field, or a word of the host
	ReasonDuplicate = "duplicate" // an earlier contribution has the name
)

// Admitted is a field with its owner.
type Admitted struct {
	Field
	Origin contrib.Origin
}

// Omitted is a contribution whose field is left out.
type Omitted struct {
	Field
	Entry  contrib.EntryInfo
	Reason string
}

// Admit goes through the fields of a view in their order: the first one to claim a name has it.
func Admit(v *contrib.View) (admitted []Admitted, omitted []Omitted) {
	taken := map[string]bool{}
	for _, e := range Fields.Entries(v, "") {
		f, ok := e.Meta.(Field)
		if !ok {
			f = e.Value
		}
		if reason := refusal(f.Name, taken); reason != "" {
			omitted = append(omitted, Omitted{Field: f, Entry: e.EntryInfo, Reason: reason})
			continue
		}
		taken[f.Name] = true
		admitted = append(admitted, Admitted{Field: f, Origin: e.Origin})
	}
	return admitted, omitted
}

// refusal returns why a name is not free; blank when it is.
func refusal(name string, taken map[string]bool) string {
	switch {
	case len(name) > 32 || !fieldName.MatchString(name):
		return ReasonInvalid
	case name == "on" || name == "off" || name == "reset" || Builtin(name):
		return ReasonReserved
	case taken[name]:
		return ReasonDuplicate
	}
	return ""
}
