package wire

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// bodyKind is how the bytes of an answer are to be read.
type bodyKind uint8

const (
	eventsBody bodyKind = iota
	linesBody
	wholeBody
	htmlBody
	emptyBody
)

// decompress undoes the content encoding while the bytes come in.
func decompress(h http.Header, r io.Reader) (io.Reader, error) {
	switch coding := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding"))); coding {
	case "", "identity":
		return r, nil
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(r)
		if errors.Is(err, gzip.ErrHeader) {
			return nil, &InvalidError{Reason: "the answer is not compressed as its header says"}
		}
		return z, err
	case "deflate":
		return inflate(r)
	default:
		return nil, &InvalidError{Reason: fmt.Sprintf("the content encoding %q is unknown", coding)}
	}
}

// inflate reads deflate with and without the zlib frame: servers send both under one name.
func inflate(r io.Reader) (io.Reader, error) {
	var head [2]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	all := io.MultiReader(bytes.NewReader(head[:n]), r)
	if head[0]&0x0F == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(all)
	}
	return flate.NewReader(all), nil
}

// kindOf tells how a body is to be read. What the content type says is doubted where the first byte that is not white
// space says otherwise: proxies drop and change the header, and no event stream begins with an opening bracket. The
// reader that is returned holds the bytes that were looked at.
func kindOf(h http.Header, r io.Reader, lines bool) (bodyKind, io.Reader, error) {
	first, r, err := peek(r)
	if err != nil {
		return 0, nil, err
	}
	contentType := strings.ToLower(h.Get("Content-Type"))
	switch {
	case first == 0:
		return emptyBody, r, nil
	case first == '<' || strings.Contains(contentType, "html"):
		return htmlBody, r, nil
	case (first == '{' || first == '[') && !lines:
		return wholeBody, r, nil
	case lines && (first == '{' || !strings.Contains(contentType, "event-stream")):
		return linesBody, r, nil
	}
	return eventsBody, r, nil
}

// isJSON reports whether a body is declared to be one JSON value.
func isJSON(h http.Header) bool {
	return strings.Contains(strings.ToLower(h.Get("Content-Type")), "application/json")
}

// peek returns the first byte that is neither white space nor part of a byte order mark, 0 when there is none.
func peek(r io.Reader) (byte, io.Reader, error) {
	var head []byte
	buf := make([]byte, 512)
	for {
		n, err := r.Read(buf)
		head = append(head, buf[:n]...)
		if text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n"); len(text) > 0 {
			if c := text[0]; c != 0xEF || len(head) > 2 || err != nil {
				return c, io.MultiReader(bytes.NewReader(head), &failing{r, err}), nil
			}
		}
		switch {
		case err == io.EOF:
			return 0, bytes.NewReader(nil), nil
		case err != nil:
			return 0, nil, err
		case len(head) > 1<<20:
			return 0, nil, &InvalidError{Reason: "the answer begins with more than 1 MiB of white space", Final: true}
		}
	}
}

// failing gives an error that came beside the last bytes of r at its own turn.
type failing struct {
	r   io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.r.Read(p)
}
