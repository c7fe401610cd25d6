package exectool

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/internal/plaintext"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/tool"
)

// Bounds of a result with content.
const (
	maxImages = 8
	maxQuoted = 200 // bytes of output that is quoted because it can't be used
)

// content is the object that a program with the output "content" prints. Members that are not known are ignored.
type content struct {
	Text   *string `json:"text"`
	Images []image `json:"images"`
}

type image struct {
	MediaType string  `json:"mimeType"`
	Base64    *string `json:"base64"`
	Path      *string `json:"path"`
}

// content is the result of a program that prints an object. How it ended beats what it printed.
func (p *program) content(o *output, i *tool.Invocation) tool.Result {
	c, raw, err := o.content()
	if o.exit.Code != 0 || o.exit.Signal != "" {
		text := printed(&o.stdout)
		if err == nil {
			text = c.text()
		}
		r := tool.Text(o.lines(o.exit.String(), text))
		o.judge(&r)
		return r
	}
	if err != nil {
		return unusable(err, raw)
	}
	blocks, err := p.images(c.Images, i)
	if err != nil {
		return unusable(err, raw)
	}
	r := tool.Text(o.lines(c.text()))
	if r.Content[0].Text == "" && len(blocks) > 0 {
		r.Content = nil
	}
	r.Content = append(r.Content, blocks...)
	return r
}

func (c *content) text() string {
	if c.Text == nil {
		return ""
	}
	return plaintext.Clean(*c.Text)
}

// content reads the object from standard output.
func (o *output) content() (c content, raw []byte, err error) {
	raw, _, dropped, err := o.stdout.Output()
	switch {
	case err != nil:
		return c, nil, fmt.Errorf("the output can't be read back: %w", bare(err))
	case dropped > 0:
		return c, raw, errors.New("the output is too long")
	}
	return c, raw, json.Unmarshal(raw, &c)
}

// unusable says what is wrong with the output, and quotes how it begins.
func unusable(err error, raw []byte) tool.Result {
	return tool.Failed(tool.CodeResultInvalid, fmt.Sprintf(
		"The program must print one JSON object with text and images, and nothing else: %v. The output begins with %s.",
		err, strconv.QuoteToASCII(string(raw[:min(len(raw), maxQuoted)]))))
}

// images checks and reads the images of a result. One that can't be used makes the result useless: the text may speak of it.
func (p *program) images(list []image, i *tool.Invocation) ([]tool.Block, error) {
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
		data, err := p.image(one, i.Workspace)
		if err == nil {
			err = threadlog.CheckImage(one.MediaType, data)
		}
		if err != nil {
			return nil, fmt.Errorf("images[%d]: %w", n, err)
		}
		out = append(out, tool.Block{MediaType: one.MediaType, Data: data})
	}
	return out, nil
}

func (p *program) image(one image, workspace string) ([]byte, error) {
	switch {
	case (one.Base64 == nil) == (one.Path == nil):
		return nil, errors.New("exactly one of base64 and path must be given")
	case one.Base64 != nil:
		data, err := base64.StdEncoding.DecodeString(*one.Base64)
		if err != nil {
			return nil, fmt.Errorf("base64: %w", err)
		}
		return data, nil
	}
	return readImage(p.source.fence(workspace), *one.Path)
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
