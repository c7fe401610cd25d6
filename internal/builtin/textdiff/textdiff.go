// Package textdiff makes unified diffs of two texts.
package textdiff

import (
	"fmt"
	"strings"
)

const (
	around   = 3    // lines of context
	maxSteps = 1000 // insertions and deletions that are looked for; beyond that a block is shown as replaced
)

// Unified returns the hunks of a unified diff with three lines of context, at most max lines of it and then one that says
// how many were left out. Equal texts have none. Lines are compared with their endings; what is shown has none.
func Unified(before, after string, max int) string {
	a, b := split(before), split(after)
	edits := diff(a, b)
	var out []string
	for _, h := range hunks(edits) {
		out = append(out, h.lines(a, b)...)
	}
	if len(out) > max {
		left := len(out) - max
		out = append(out[:max], fmt.Sprintf("[… %d more lines of the diff]", left))
	}
	return strings.Join(out, "\n")
}

// split cuts a text into lines that keep their endings.
func split(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// edit says that the lines a[fromA:toA] became b[fromB:toB]. Edits are in order and do not touch.
type edit struct{ fromA, toA, fromB, toB int }

// hunk is a run of edits whose context overlaps.
type hunk []edit

func hunks(edits []edit) []hunk {
	var out []hunk
	for i, e := range edits {
		if i > 0 && e.fromA-edits[i-1].toA <= 2*around {
			out[len(out)-1] = append(out[len(out)-1], e)
			continue
		}
		out = append(out, hunk{e})
	}
	return out
}

func (h hunk) lines(a, b []string) []string {
	first, last := h[0], h[len(h)-1]
	fromA, fromB := max(0, first.fromA-around), max(0, first.fromB-around)
	toA, toB := min(len(a), last.toA+around), min(len(b), last.toB+around)
	out := []string{fmt.Sprintf("@@ -%s +%s @@", span(fromA, toA), span(fromB, toB))}
	at := fromA
	for _, e := range h {
		out = appendLines(out, " ", a[at:e.fromA])
		out = appendLines(out, "-", a[e.fromA:e.toA])
		out = appendLines(out, "+", b[e.fromB:e.toB])
		at = e.toA
	}
	return appendLines(out, " ", a[at:toA])
}

// span is a range of lines as diffs write it.
func span(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func appendLines(out []string, mark string, lines []string) []string {
	for _, line := range lines {
		text, ended := strings.CutSuffix(line, "\n")
		out = append(out, mark+strings.TrimSuffix(text, "\r"))
		if !ended {
			out = append(out, `\ No newline at end of file`)
		}
	}
	return out
}
