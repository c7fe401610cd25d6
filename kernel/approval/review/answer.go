package review

import (
	"encoding/json"
	"strings"

	"github.com/crystalkernel/crystal/kernel/approval"
)

// Answer reads what the model said: the text from the first brace to the last is an object with outcome, risk_level,
// user_authorization and rationale. Whatever it is otherwise asks the operator.
func Answer(text string) approval.Review {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return approval.Review{}
	}
	var fields map[string]any
	if json.Unmarshal([]byte(text[from:to+1]), &fields) != nil {
		return approval.Review{}
	}
	whole := true
	first := func(names ...string) string {
		for _, name := range names {
			if value, ok := fields[name]; ok {
				s, _ := value.(string)
				s = strings.TrimSpace(s)
				whole = whole && s != ""
				return s
			}
		}
		whole = false
		return ""
	}
	outcome := first("outcome", "decision")
	r := approval.Review{
		RiskLevel:     first("risk_level", "risk"),
		Authorization: first("user_authorization", "authorization", "authority"),
		Rationale:     first("rationale", "reason"),
	}
	if !whole {
		return approval.Review{}
	}
	switch outcome {
	case "allow":
		r.Outcome = approval.ReviewAllow
	case "deny":
		r.Outcome = approval.ReviewDeny
	case "ask", "ask_user":
	default:
		return approval.Review{}
	}
	return r
}
