package builtin

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/points/tool"
)

var editTool = kind{
	name: "edit",
	description: "Replaces oldText by newText in a file. oldText must occur exactly once, so give enough of the lines around it; " +
		"with replaceAll every occurrence is replaced. Matching is exact, white space included, without the line numbers that read shows. " +
		"The file's line endings are kept. Returns a diff.",
	schema: `{"type":"object","properties":{"path":{"type":"string"},"oldText":{"type":"string","minLength":1},"newText":{"type":"string"},` +
		`"replaceAll":{"type":"boolean"}},"required":["path","oldText","newText"],"additionalProperties":false}`,
	hints: tool.Hints{Destructive: true}, catalogs: tool.CatalogWork,
	classify: classifyWriting, run: (*Source).edit,
}

func (s *Source) edit(ctx context.Context, i *tool.Invocation) tool.Result {
	var args struct {
		Path       string `json:"path"`
		OldText    string `json:"oldText"`
		NewText    string `json:"newText"`
		ReplaceAll bool   `json:"replaceAll"`
	}
	if err := arguments(i.Arguments, &args); err != nil {
		return invalid("The arguments can't be read: %v.", err)
	}
	switch {
	case args.Path == "":
		return invalid("path is blank; it must name a file.")
	case args.OldText == "":
		return invalid("oldText is blank; it must name the text to replace.")
	case args.OldText == args.NewText:
		return failed("oldText and newText are the same; nothing would change.")
	}
	c, result := s.begin(ctx, i, args.Path)
	if c == nil {
		return result
	}
	defer c.end()
	before, err := c.read()
	if err != nil {
		return fault(args.Path, err)
	}
	if result, ok := c.editable(before); !ok {
		return result
	}
	mark := []byte(nil)
	text := before.data
	if bytes.HasPrefix(text, byteOrderMark) {
		mark, text = text[:len(byteOrderMark)], text[len(byteOrderMark):]
	}
	after, err := replace(string(text), args.OldText, args.NewText, args.ReplaceAll)
	if err != nil {
		return failed("%s: %v", args.Path, err)
	}
	if len(mark)+len(after) > maxEditFile {
		return failed("%s would have more than %d bytes.", args.Path, maxEditFile)
	}
	if ctx.Err() != nil {
		return cancelled()
	}
	data := append(bytes.Clone(mark), after...)
	if _, err := c.write(data); err != nil {
		return fault(args.Path, err)
	}
	return c.done("edited", before.data, data, false)
}

// editable checks that a file can be changed in part.
func (c *change) editable(before content) (tool.Result, bool) {
	switch {
	case !before.exists:
		return c.source.missing(c.call, c.spot, c.asked, fs.ErrNotExist), false
	case before.size > maxEditFile:
		return failed("%s has %d bytes; files over %d bytes can't be edited.", c.asked, before.size, maxEditFile), false
	case !utf8.Valid(before.data):
		return failed("%s is not UTF-8 text and can't be edited.", c.asked), false
	}
	if seen, unchanged := c.known(before); seen && !unchanged {
		return failed("%s has changed since it was last read or written here; read it again first.", c.asked), false
	}
	return tool.Result{}, true
}

// replace replaces the one occurrence of old in text, or all of them. An LF of old also stands for a CRLF of the text, and
// the line ends of what is put in are those of the text.
func replace(text, old, with string, all bool) (string, error) {
	var places []span
	for at := 0; ; {
		p, ok := find(text, old, at)
		if !ok {
			break
		}
		places = append(places, p)
		at = p.end
		if !all {
			// Two places that overlap are two; a line end is one, however it is written.
			at = p.start + 1
			if old[0] == '\n' && text[p.start] == '\r' {
				at++
			}
		}
	}
	switch {
	case len(places) == 0:
		return "", fmt.Errorf("oldText was not found%s", nearest(text, old))
	case len(places) > 1 && !all:
		return "", fmt.Errorf("oldText was found %d times, in %s; give more of the lines around it, or set replaceAll",
			len(places), lineList(text, places))
	}
	if crlf(text) {
		with = toCRLF(with)
	}
	var b strings.Builder
	at := 0
	for _, p := range places {
		b.WriteString(text[at:p.start])
		b.WriteString(with)
		at = p.end
	}
	b.WriteString(text[at:])
	if b.String() == text {
		return "", fmt.Errorf("oldText and newText are the same with the line ends of this file; nothing would change")
	}
	return b.String(), nil
}

type span struct{ start, end int }

// find returns the first place of old in text that starts at from or later.
func find(text, old string, from int) (span, bool) {
	first, _, several := strings.Cut(old, "\n")
	for from <= len(text) {
		at := strings.Index(text[from:], first)
		if several && first == "" {
			at = strings.IndexByte(text[from:], '\n')
			if at > 0 && text[from+at-1] == '\r' {
				at--
			}
		}
		if at < 0 {
			return span{}, false
		}
		start := from + at
		if end, ok := matchAt(text, old, start); ok {
			return span{start, end}, true
		}
		from = start + 1
	}
	return span{}, false
}

// matchAt compares old with the text at start.
func matchAt(text, old string, start int) (end int, ok bool) {
	i := start
	for j := 0; j < len(old); j++ {
		if i >= len(text) {
			return 0, false
		}
		if old[j] == '\n' && text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			i++
		}
		if text[i] != old[j] {
			return 0, false
		}
		i++
	}
	return i, true
}

// crlf reports whether most lines of a text end in CRLF.
func crlf(text string) bool {
	both := strings.Count(text, "\r\n")
	return both > 0 && 2*both >= strings.Count(text, "\n")
}

func toCRLF(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

const maxPlaces = 10

// lineList names the lines of the first places.
func lineList(text string, places []span) string {
	var numbers []string
	for _, p := range places[:min(maxPlaces, len(places))] {
		numbers = append(numbers, fmt.Sprint(1+strings.Count(text[:p.start], "\n")))
	}
	list := "lines " + strings.Join(numbers, ", ")
	if len(places) > maxPlaces {
		list += " and more"
	}
	return list
}

// nearest names the place that differs from old in white space alone, if there is one.
func nearest(text, old string) string {
	var want []string
	for line := range strings.SplitSeq(strings.Trim(old, "\r\n"), "\n") {
		want = append(want, strings.Join(strings.Fields(line), " "))
	}
	if strings.TrimSpace(old) == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	folded := make([]string, len(lines))
	for i, line := range lines {
		folded[i] = strings.Join(strings.Fields(line), " ")
	}
	for i := 0; i+len(want) <= len(lines); i++ {
		if sameLines(folded[i:i+len(want)], want) {
			return fmt.Sprintf("; line %d differs in white space alone: %q", i+1, firstChars(strings.TrimSuffix(lines[i], "\r"), 200))
		}
	}
	return "; read the file again and copy the text exactly"
}

// sameLines compares lines; the first and the last of want may be parts of theirs.
func sameLines(lines, want []string) bool {
	last := len(want) - 1
	for i := range want {
		switch {
		case i == 0 && i == last:
			if !strings.Contains(lines[i], want[i]) {
				return false
			}
		case i == 0:
			if !strings.HasSuffix(lines[i], want[i]) {
				return false
			}
		case i == last:
			if !strings.HasPrefix(lines[i], want[i]) {
				return false
			}
		case lines[i] != want[i]:
			return false
		}
	}
	return true
}
