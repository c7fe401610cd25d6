package builtin

import (
	"bytes"
	"context"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/points/tool"
)

var writeTool = kind{
	name: "write",
	description: "Creates a file, or replaces the whole of one, with exactly the given content. Missing directories are made. " +
		"An existing file must have been read, or written, in this conversation before, and must not have changed since. " +
		"To change a part of a file use edit. At most 2 MiB.",
	schema: `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"],` +
		`"additionalProperties":false}`,
	hints: tool.Hints{Destructive: true}, catalogs: tool.CatalogWork,
	classify: classifyWriting, run: (*Source).write,
}

func (s *Source) write(ctx context.Context, i *tool.Invocation) tool.Result {
	var args struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	if err := arguments(i.Arguments, &args); err != nil {
		return invalid("The arguments can't be read: %v.", err)
	}
	switch {
	case args.Path == "":
		return invalid("path is blank; it must name a file.")
	case len(args.Content) > maxContent:
		return invalid("content has %d bytes; at most %d can be written at once.", len(args.Content), maxContent)
	case !utf8.ValidString(args.Content):
		return invalid("content is not valid UTF-8.")
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
	if before.exists {
		switch seen, unchanged := c.known(before); {
		case !seen:
			return failed("%s exists and was not read in this conversation; read it first, then write it or change it with edit.", args.Path)
		case !unchanged:
			return failed("%s has changed since it was last read or written here; read it again first.", args.Path)
		}
	}
	data := []byte(args.Content)
	if bytes.HasPrefix(before.data, byteOrderMark) && !bytes.HasPrefix(data, byteOrderMark) {
		data = append(bytes.Clone(byteOrderMark), data...)
	}
	if ctx.Err() != nil {
		return cancelled()
	}
	created, err := c.write(data)
	if err != nil {
		return fault(args.Path, err)
	}
	verb := "replaced"
	if created {
		verb = "created"
	}
	return c.done(verb, before.data, data, created)
}
