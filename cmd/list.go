package crystalcmd

import "strings"

// list joins names for a message.
func list(names []string) string { return strings.Join(names, ", ") }

// orNull is nil for a blank text, as JSON shows what is not known.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
