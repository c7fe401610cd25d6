package builtin

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/internal/plaintext"
	"github.com/crystalkernel/crystal/points/tool"
)

const (
	readLines    = 2000
	readChars    = 1_000_000
	maxReadFile  = 256 << 20
	binaryWindow = 8 << 10
)

var readTool = kind{
	name: "read",
	description: "Reads a text file. Each line comes with its number and a TAB before it, which are not part of the file. " +
		"By default the first 2000 lines are returned; use offset (the first line wanted, counted from 1) and limit for the rest " +
		"of a long file. Paths are relative to the workspace, absolute, or begin with ~/. For directories use list, to find files use glob or grep.",
	schema: `{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer","minimum":1},` +
		`"limit":{"type":"integer","minimum":1,"maximum":20000}},"required":["path"],"additionalProperties":false}`,
	hints: tool.Hints{ReadOnly: true}, catalogs: tool.CatalogBoth,
	classify: classifyReading, run: (*Source).read,
}

type readArguments struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

func (s *Source) read(ctx context.Context, i *tool.Invocation) tool.Result {
	args := readArguments{Offset: 1, Limit: readLines}
	if err := arguments(i.Arguments, &args); err != nil {
		return invalid("The arguments can't be read: %v.", err)
	}
	spot, result := s.enter(i, args.Path)
	if spot == nil {
		return result
	}
	defer func() { _ = spot.Close() }()
	file, err := spot.Open()
	if err != nil {
		return s.missing(i, spot, args.Path, err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return fault(args.Path, err)
	}
	if info.Size() > maxReadFile {
		return failed("%s has %d bytes; files over %d bytes can't be read. Use grep, or bash with head or tail.",
			args.Path, info.Size(), maxReadFile)
	}
	p := page{from: args.Offset, to: args.Offset + args.Limit}
	sum, err := p.fill(ctx, file)
	switch {
	case ctx.Err() != nil:
		return cancelled()
	case errors.Is(err, errBinary):
		return binary(args.Path, file, info.Size())
	case err != nil:
		return fault(args.Path, err)
	}
	s.seen.put(i.Thread, spot.Place().Path, sum)
	if args.Offset > 1 && args.Offset > p.lines {
		return failed("%s has %d lines; there is no line %d.", args.Path, p.lines, args.Offset)
	}
	return succeeded(p.text(), facts{Path: spot.Place().Path, Lines: &p.lines})
}

// enter opens the way to the path of a call. Without a spot the result says why.
func (s *Source) enter(i *tool.Invocation, path string) (*fence.Spot, tool.Result) {
	f := s.fence(i.Workspace, i.Thread)
	place, err := f.Judge(path)
	if err != nil {
		return nil, fault(path, err)
	}
	spot, err := f.Enter(place, approved(i))
	if err != nil {
		return nil, fault(path, err)
	}
	return spot, tool.Result{}
}

// approved is what policy and approval decided, as the fence wants it.
func approved(i *tool.Invocation) fence.Approved {
	return fence.Approved{
		Outside: i.Approved.Authority >= tool.OutsideWorkspace,
		Paths:   i.Approved.Paths,
	}
}

// page is a range of lines of a file, as read shows them.
type page struct {
	from, to int // the lines wanted; to is not among them
	out      strings.Builder
	chars    int
	shown    int  // the last line that was written
	cut      bool // it was written in part
	full     bool // the characters are used up
	lines    int  // of the file
	empty    bool
}

var errBinary = errors.New("binary file")

// fill reads the file to its end, so that its lines and its content are known.
func (p *page) fill(ctx context.Context, file io.Reader) (stamp, error) {
	hash := sha256.New()
	r := bufio.NewReaderSize(io.TeeReader(file, hash), 64<<10)
	head, err := r.Peek(binaryWindow)
	if err != nil && err != io.EOF {
		return stamp{}, err
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return stamp{}, errBinary
	}
	if bytes.HasPrefix(head, byteOrderMark) {
		_, _ = r.Discard(len(byteOrderMark))
	}
	var long []byte // of a line that is longer than the reader's buffer
	for {
		part, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if p.wanted(p.lines+1) && len(long) < 4*readChars {
				long = append(long, part...)
			} else if len(long) == 0 {
				long = append(long, ' ') // it only has to be known that there is a line
			}
			if ctx.Err() != nil {
				return stamp{}, ctx.Err()
			}
			continue
		}
		if err != nil && err != io.EOF {
			return stamp{}, err
		}
		line := part
		if len(long) > 0 {
			line = append(long, part...)
		}
		if len(line) > 0 {
			p.add(line)
		}
		long = long[:0]
		if err == io.EOF {
			break
		}
		if p.lines%4096 == 0 && ctx.Err() != nil {
			return stamp{}, ctx.Err()
		}
	}
	p.empty = p.lines == 0
	return stamp(hash.Sum(nil)), nil
}

func (p *page) wanted(line int) bool { return !p.full && line >= p.from && line < p.to }

func (p *page) add(line []byte) {
	p.lines++
	if !p.wanted(p.lines) {
		return
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if !plaintext.Tidy(line) {
		line = []byte(plaintext.Clean(string(line)))
	}
	var digits [20]byte
	number := strconv.AppendInt(digits[:0], int64(p.lines), 10)
	gap := max(0, 6-len(number))
	chars := utf8.RuneCount(line)
	if room := readChars - p.chars - gap - len(number) - 2; chars > room {
		p.full = true
		if p.shown > 0 {
			return
		}
		line = []byte(firstChars(string(line), room))
		chars, p.cut = room, true
	}
	p.shown = p.lines
	p.chars += gap + len(number) + 2 + chars
	p.out.WriteString("      "[:gap])
	p.out.Write(number)
	p.out.WriteByte('\t')
	p.out.Write(line)
	p.out.WriteByte('\n')
}

// text is the page with a last line when the file goes on.
func (p *page) text() string {
	if p.empty {
		return "(empty file)"
	}
	switch {
	case p.cut:
		fmt.Fprintf(&p.out, "[line %d is longer than what can be shown; the file has %d lines, go on with offset %d]", p.shown, p.lines, p.shown+1)
	case p.shown < p.lines:
		fmt.Fprintf(&p.out, "[the file has %d lines; go on with offset %d]", p.lines, p.shown+1)
	default:
		return strings.TrimSuffix(p.out.String(), "\n")
	}
	return p.out.String()
}

func firstChars(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// binary says what a file is that can't be shown.
func binary(path string, file *os.File, size int64) tool.Result {
	head := make([]byte, 512)
	n, _ := file.ReadAt(head, 0) // without it the type is not named
	what := "a binary file"
	if t := http.DetectContentType(head[:n]); strings.HasPrefix(t, "image/") {
		what = "an image (" + t + ")"
	}
	return failed("%s is %s of %d bytes; only text can be read.", path, what, size)
}
