package dispatcher

import (
	"encoding/json"
	"strings"

	"github.com/crystalkernel/crystal/points/tool"
)

// Limits of a sealed result.
const (
	maxTextBytes  = 16 << 20
	maxImageBytes = 64 << 20
	maxBlocks     = 256
	maxJSONBytes  = 4 << 20
)

// sealed checks what no normalizer may change: the form of a result. It returns the reasonCode of what is wrong, or "".
func sealed(r *tool.Result, audience tool.Audiences) string {
	if r.Failed != (r.Error != nil) {
		return "inconsistent"
	}
	texts, images, visible := 0, 0, false
	for i := range r.Content {
		b := &r.Content[i]
		if b.IsImage() {
			images += len(b.Data)
			visible = true
		} else {
			texts += len(b.Text)
			visible = visible || notBlank(b.Text)
		}
	}
	switch {
	case texts > maxTextBytes, images > maxImageBytes, len(r.Content) > maxBlocks,
		len(r.Structured) > maxJSONBytes, len(r.Meta) > maxJSONBytes:
		return "tooLarge"
	case !r.Failed && !visible && audience == tool.AudienceModel:
		return "blank"
	case !optionalJSON(r.Structured), !optionalJSON(r.Meta):
		return "notJson"
	}
	if e := r.Error; e != nil {
		if !tool.ValidCode(e.Code) || !notBlank(e.Message) {
			return "code"
		}
		if len(e.Params) > 0 {
			if _, err := json.Marshal(e.Params); err != nil {
				return "notJson"
			}
		}
	}
	return ""
}

func optionalJSON(raw json.RawMessage) bool { return len(raw) == 0 || json.Valid(raw) }

func notBlank(s string) bool { return strings.TrimSpace(s) != "" }
