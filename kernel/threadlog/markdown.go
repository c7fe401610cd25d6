package threadlog

import (
	"fmt"
	"io"
	"strings"

	"github.com/crystalkernel/crystal/points/model"
)

// writeMarkdown writes the transcript for people: reasoning is left out.
func (p *Picture) writeMarkdown(w io.Writer) error {
	var b strings.Builder
	title := p.state.Title
	if title == "" {
		title = p.state.Thread.ID
	}
	fmt.Fprintf(&b, "# %s\n", title)
	items := p.Transcript()
	turn := 0
	for i, it := range items {
		switch it.Kind {
		case model.Message:
			if it.Role == model.User {
				turn++
				fmt.Fprintf(&b, "\n## Turn %d\n\n**User**\n", turn)
			} else {
				fmt.Fprintf(&b, "\n**%s**\n", strings.ToUpper(string(it.Role[:1]))+string(it.Role[1:]))
			}
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(clean(PlainMarkers(it.Text))))
		case model.ToolCall:
			fmt.Fprintf(&b, "\n**Call** `%s`\n\n", strings.ReplaceAll(oneLine(it.Name, 128), "`", "'"))
			fence(&b, "json", it.Arguments)
			if result := resultOf(items[i+1:], it.CallID); result != nil {
				fmt.Fprintf(&b, "\n**Result** %s\n\n", result.Status)
				fence(&b, "", result.Text)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// resultOf returns the result of a call among the items behind it.
func resultOf(items []*model.Item, callID string) *model.Item {
	for _, it := range items {
		if it.Kind == model.ToolResult && it.CallID == callID {
			return it
		}
	}
	return nil
}

// fence writes a fenced block. The fence is longer than any run of backticks inside.
func fence(b *strings.Builder, language, text string) {
	text = strings.TrimRight(clean(PlainMarkers(text)), "\n")
	longest, run := 2, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	marks := strings.Repeat("`", longest+1)
	fmt.Fprintf(b, "%s%s\n%s\n%s\n", marks, language, text, marks)
}
