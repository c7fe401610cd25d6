package builtin

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/internal/builtin/textdiff"
	"github.com/crystalkernel/crystal/internal/plaintext"
	"github.com/crystalkernel/crystal/points/tool"
)

const (
	maxContent   = 2 << 20 // of write
	maxEditFile  = 8 << 20 // of edit, before and after
	maxDiffLines = 200
)

// change is one call that changes a file. While it exists nobody else changes that file.
type change struct {
	source *Source
	call   *tool.Invocation
	asked  string // the path as it was given
	spot   *fence.Spot
	free   func()
}

// begin enters the path of a call and takes its file. Without a change the result says why.
func (s *Source) begin(ctx context.Context, i *tool.Invocation, path string) (*change, tool.Result) {
	spot, result := s.enter(i, path)
	if spot == nil {
		return nil, result
	}
	free, err := s.locks.take(ctx, spot.Place().Path)
	if err != nil {
		_ = spot.Close()
		return nil, cancelled()
	}
	return &change{source: s, call: i, asked: path, spot: spot, free: free}, tool.Result{}
}

func (c *change) end() {
	c.free()
	_ = c.spot.Close()
}

// content is a file as it is before the change.
type content struct {
	exists bool
	size   int64
	data   []byte // up to maxEditFile
	sum    stamp
}

func (c *change) read() (content, error) {
	file, err := c.spot.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, nil
	}
	if err != nil {
		return content{}, err
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	data, err := io.ReadAll(io.TeeReader(io.LimitReader(file, maxEditFile+1), hash))
	if err != nil {
		return content{}, err
	}
	rest, err := io.Copy(hash, file)
	if err != nil {
		return content{}, err
	}
	return content{exists: true, size: int64(len(data)) + rest, data: data, sum: stamp(hash.Sum(nil))}, nil
}

// known compares a file with what this thread has seen of it.
func (c *change) known(before content) (seen, unchanged bool) {
	sum, ok := c.source.seen.get(c.call.Thread, c.spot.Place().Path)
	return ok, ok && sum == before.sum
}

// write puts the new content in place and remembers it.
func (c *change) write(data []byte) (created bool, err error) {
	created, err = c.spot.Replace(data)
	if err == nil {
		c.source.seen.put(c.call.Thread, c.spot.Place().Path, sha256.Sum256(data))
	}
	return created, err
}

// done is the result of a change that was made.
func (c *change) done(verb string, before, after []byte, created bool) tool.Result {
	path := c.spot.Place().Path
	shown := c.source.fence(c.call.Workspace, c.call.Thread).Show(path)
	lines := countLines(after)
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s (%d bytes, %d %s)", verb, oneLine(shown), len(after), lines, plural(lines, "line"))
	f := facts{Path: path, Created: &created, Lines: &lines}
	if !created {
		f.Diff = plaintext.Clean(textdiff.Unified(string(before), string(after), maxDiffLines))
		if f.Diff != "" {
			out.WriteByte('\n')
			out.WriteString(f.Diff)
		}
	}
	return succeeded(out.String(), f)
}

func countLines(data []byte) int {
	n := strings.Count(string(data), "\n")
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
