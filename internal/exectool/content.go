package exectool

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/internal/childproc"
	"github.com/crystalkernel/crystal/internal/plaintext"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/tool"
)

// Bounds of a result with content.
const (
	maxImages = 8
	maxQuoted = 200 // bytes of output that is quoted because it can't be used
)

// content is what a program with the output "content" prints.
type content struct {
	text   string
	images []members
}

// members are those of a JSON object. Unlike fields of a struct they are found by their exact names, and null is no value.
type members map[string]json.RawMessage

func (m members) text(key string) (string, error) {
	raw, given := m[key]
	if !given {
		return "", nil
	}
	text, ok := textOf(raw)
	if !ok {
		return "", fmt.Errorf("%s is no string", key)
	}
	return text, nil
}

// readContent reads the object. Members that are not known are ignored.
func readContent(raw []byte) (c content, err error) {
	if !utf8.Valid(raw) {
		return c, errors.New("it is not valid UTF-8")
	}
	var m members
	if err := json.Unmarshal(raw, &m); err != nil {
		return c, err
	}
	if m == nil {
		return c, errors.New("null is no object")
	}
	if c.text, err = m.text("text"); err != nil {
		return c, err
	}
	c.text = plaintext.Clean(c.text)
	images, given := m["images"]
	if !given {
		return c, nil
	}
	if err := json.Unmarshal(images, &c.images); err != nil {
		return c, fmt.Errorf("images: %w", err)
	}
	if c.images == nil || slices.ContainsFunc(c.images, func(i members) bool { return i == nil }) {
		return c, errors.New("images is no array of objects")
	}
	return c, nil
}

// content is the result of a program that prints an object. How it ended beats what it printed.
func (p *program) content(o *output, i *tool.Invocation) tool.Result {
	c, raw, err := o.content()
	if o.exit.Code != 0 || o.exit.Signal != "" {
		text := printed(&o.stdout)
		if err == nil {
			text = c.text
		}
		r := tool.Text(o.lines(o.exit.String(), text))
		o.judge(&r)
		return r
	}
	if err != nil {
		return unusable(err, raw)
	}
	blocks, err := p.images(c.images, i)
	if err != nil {
		return unusable(err, raw)
	}
	r := tool.Text(o.lines(c.text))
	if r.Content[0].Text == "" && len(blocks) > 0 {
		r.Content = nil
	}
	r.Content = append(r.Content, blocks...)
	return r
}

// content reads the object from standard output.
func (o *output) content() (c content, raw []byte, err error) {
	raw, _, dropped, err := o.stdout.Output()
	switch {
	case err != nil:
		return c, nil, fmt.Errorf("the output can't be read back: %w", bare(err))
	case dropped > 0:
		return c, raw, fmt.Errorf("the output is over %d MiB", childproc.CaptureLimit>>20)
	}
	c, err = readContent(raw)
	return c, raw, err
}

// unusable says what is wrong with the output, and quotes how it begins.
func unusable(err error, raw []byte) tool.Result {
	return tool.Failed(tool.CodeResultInvalid, fmt.Sprintf(
		"The program must print one JSON object with text and images, and nothing else: %v. The output begins with %s.",
		err, strconv.QuoteToASCII(string(raw[:min(len(raw), maxQuoted)]))))
}

// images checks and reads the images of a result. One that can't be used makes the result useless: the text may speak of it.
func (p *program) images(list []members, i *tool.Invocation) ([]tool.Block, error) {
	switch {
	case len(list) == 0:
		return nil, nil
	case !i.Images:
		return nil, errors.New("the model takes no images")
	case len(list) > maxImages:
		return nil, fmt.Errorf("there are %d images, at most %d are allowed", len(list), maxImages)
	}
	var out []tool.Block
	for n, one := range list {
		block, err := p.image(one, i.Workspace)
		if err == nil {
			err = threadlog.CheckImage(block.MediaType, block.Data)
		}
		if err != nil {
			return nil, fmt.Errorf("images[%d]: %w", n, err)
		}
		out = append(out, block)
	}
	return out, nil
}

func (p *program) image(m members, workspace string) (b tool.Block, err error) {
	_, inline := m["base64"]
	if _, path := m["path"]; path == inline {
		return b, errors.New("exactly one of base64 and path must be given")
	}
	if b.MediaType, err = m.text("mimeType"); err != nil {
		return b, err
	}
	if inline {
		text, err := m.text("base64")
		if err == nil {
			b.Data, err = base64.StdEncoding.DecodeString(text)
		}
		if err != nil {
			return b, fmt.Errorf("base64: %w", err)
		}
		return b, nil
	}
	path, err := m.text("path")
	if err == nil {
		b.Data, err = readImage(p.source.fence(workspace), path)
	}
	return b, err
}

// readImage reads a file of the workspace.
func readImage(f *fence.Fence, path string) ([]byte, error) {
	place, err := f.Judge(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("path: %w", err)
	case place.Credential:
		return nil, errors.New("path: it holds credentials")
	}
	spot, err := f.Enter(place, fence.Approved{Paths: []string{place.Path}})
	if err != nil {
		return nil, fmt.Errorf("path: %w", err)
	}
	defer func() { _ = spot.Close() }()
	file, err := spot.Open()
	if err != nil {
		return nil, fmt.Errorf("path: %w", bare(err))
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, threadlog.MaxImage+1))
	if err != nil {
		return nil, fmt.Errorf("path: %w", bare(err))
	}
	return data, nil
}
