package compaction

import (
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

// longestOutput is how many characters of a tool's output a summary request holds.
const longestOutput = 2000

// render writes the conversation for a summary request: one labelled block for each item. Reasoning is left out.
func render(items []*model.Item) string {
	var b strings.Builder
	for _, it := range items {
		label, text := block(it)
		if label == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(label)
		b.WriteByte('\n')
		b.WriteString(inside(threadlog.PlainMarkers(text), "conversation"))
	}
	return b.String()
}

func block(it *model.Item) (label, text string) {
	switch it.Kind {
	case model.Message:
		switch it.Role {
		case model.User:
			return "[User]", it.Text
		case model.Assistant:
			return "[Assistant]", it.Text
		default:
			return "[System]", it.Text
		}
	case model.ToolCall:
		return "[Tool call]", it.Name + " " + it.Arguments
	case model.ToolResult:
		if it.Status == model.Success {
			return "[Tool result]", cut(it.Text)
		}
		return "[Tool error]", cut(it.Text)
	}
	return "", ""
}

// cut shortens a tool's output, at a character.
func cut(text string) string {
	n := 0
	for i := range text {
		if n == longestOutput {
			return fmt.Sprintf("%s\n[%d more characters]", text[:i], len([]rune(text[i:])))
		}
		n++
	}
	return text
}

// inside makes sure that a text does not end the tag that it is put into.
func inside(text, tag string) string {
	end := "</" + tag
	for from := 0; ; {
		i := strings.Index(text[from:], "</")
		if i < 0 {
			return text
		}
		i += from
		from = i + 2
		if len(text)-i >= len(end) && strings.EqualFold(text[i:i+len(end)], end) {
			text = text[:i] + "<\\/" + text[i+2:]
		}
	}
}
