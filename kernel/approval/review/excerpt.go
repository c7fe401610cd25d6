package review

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/points/model"
)

// Bounds of an excerpt, in characters: a token counts as four of them.
const (
	speechBudget = 4 * 4000 // of messages and summaries together
	toolBudget   = 4 * 2000 // of tool calls and results together
	speechEntry  = 4 * 2000 // of one message or summary
	toolEntry    = 4 * 1000 // of one tool call or result
	maxOthers    = 40       // entries that are not from the user
)

const leftOut = "[parts of the conversation were left out]"

// entry is one piece of the conversation.
type entry struct {
	label, text string
	user, tool  bool
	summary     bool
	chosen      bool
}

// Excerpt is what a reviewer is shown of a conversation: all summaries, the first message of the user, and as much of the
// rest as fits, what the user said before what others did and the newest first. It is in the order of the conversation, and
// one line says so when something is left out. Reasoning and system messages are no part of it. It reports false when there
// is neither a summary nor a message of the user that isn't blank.
func Excerpt(summaries []string, items []*model.Item) (string, bool) {
	entries, cut := collect(summaries, items)
	evidence := slices.ContainsFunc(entries, func(e entry) bool { return e.user || e.summary })
	if !evidence {
		return "", false
	}
	choose(entries)
	var parts []string
	for _, e := range entries {
		if !e.chosen {
			cut = true
			continue
		}
		parts = append(parts, "["+e.label+"]\n"+e.text)
	}
	if cut {
		parts = append([]string{leftOut}, parts...)
	}
	return strings.Join(parts, "\n\n"), true
}

// collect makes entries of what is there. It reports whether one of them was cut.
func collect(summaries []string, items []*model.Item) (entries []entry, cut bool) {
	add := func(e entry, limit int) {
		if e.text = strings.TrimSpace(e.text); e.text == "" {
			return
		}
		if utf8.RuneCountInString(e.text) > limit {
			e.text, cut = first(e.text, limit), true
		}
		entries = append(entries, e)
	}
	for _, s := range summaries {
		add(entry{label: "summary", text: s, summary: true}, speechEntry)
	}
	for _, it := range items {
		switch it.Kind {
		case model.Message:
			switch it.Role {
			case model.User:
				add(entry{label: "user", text: it.Text, user: true}, speechEntry)
			case model.Assistant:
				add(entry{label: "assistant", text: it.Text}, speechEntry)
			}
		case model.ToolCall:
			add(entry{label: "tool call", text: it.Name + " " + it.Arguments, tool: true}, toolEntry)
		case model.ToolResult:
			label := "tool result"
			if it.Status != model.Success {
				label = "tool error"
			}
			add(entry{label: label, text: it.Text, tool: true}, toolEntry)
		}
	}
	return entries, cut
}

func first(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// choose marks the entries that are shown.
func choose(entries []entry) {
	speech, tools, others := speechBudget, toolBudget, maxOthers
	take := func(e *entry, always bool) {
		budget := &speech
		if e.tool {
			budget = &tools
		}
		size := utf8.RuneCountInString(e.text)
		if e.chosen || !always && size > *budget {
			return
		}
		*budget -= size
		e.chosen = true
		if !e.user {
			others--
		}
	}
	for i := range entries {
		if entries[i].summary {
			take(&entries[i], true)
		}
	}
	for i := range entries {
		if entries[i].user {
			take(&entries[i], true)
			break
		}
	}
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].user {
			take(&entries[i], false)
		}
	}
	for i := len(entries) - 1; i >= 0 && others > 0; i-- {
		if !entries[i].user {
			take(&entries[i], false)
		}
	}
}
