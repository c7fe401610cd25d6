package transcript

import (
	"strings"

	"github.com/crystalkernel/crystal/points/model"
)

// Reasoning returns the text of a reasoning item, its segments joined by LF; blank segments are left out.
func Reasoning(i *model.Item) string {
	if len(i.Segments) == 1 {
		if strings.TrimSpace(i.Segments[0].Text) == "" {
			return ""
		}
		return i.Segments[0].Text
	}
	var b strings.Builder
	for _, s := range i.Segments {
		if strings.TrimSpace(s.Text) == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s.Text)
	}
	return b.String()
}

// Exact returns the text of a reasoning item as it came, which is what a signature was made for.
func Exact(i *model.Item) string {
	if len(i.Segments) == 1 {
		return i.Segments[0].Text
	}
	texts := make([]string, len(i.Segments))
	for k := range i.Segments {
		texts[k] = i.Segments[k].Text
	}
	return strings.Join(texts, "\n")
}

// Own returns the state that this protocol and provider made, or nil: state of another one is foreign.
func Own(i *model.Item, protocol, provider string) *model.State {
	if s := i.State; s != nil && s.Format == protocol && s.Provider == provider {
		return s
	}
	return nil
}

// Join joins two texts by LF; a blank one is left out.
func Join(text, more string) string {
	switch {
	case strings.TrimSpace(more) == "":
		return text
	case text == "":
		return more
	}
	return text + "\n" + more
}
