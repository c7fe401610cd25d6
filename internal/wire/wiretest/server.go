package wiretest

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// Answer is one answer of a [Server].
type Answer struct {
	Status int // 0: 200
	Header http.Header
	Body   io.Reader // read until its end; nil: empty
	Hold   bool      // the connection stays open after the body
	Silent bool      // not even headers come
}

// Server answers requests in the order of its answers; the last one is repeated. It implements http.RoundTripper and is
// safe for use by several goroutines.
type Server struct {
	mu      sync.Mutex
	answer  func(n int) Answer
	bodies  [][]byte
	headers []http.Header
	urls    []string
	forget  bool // bodies are not kept: for benchmarks
}

// Serve returns a server that gives answer(0), answer(1) and so on.
func Serve(answer func(n int) Answer) *Server { return &Server{answer: answer} }

// Bodies returns the bodies of the requests so far.
func (s *Server) Bodies() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies
}

// Header returns the header of request n.
func (s *Server) Header(n int) http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.headers[n]
}

// URL returns the address of request n.
func (s *Server) URL(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.urls[n]
}

// RoundTrip takes a request and answers it.
func (s *Server) RoundTrip(q *http.Request) (*http.Response, error) {
	var body []byte
	var err error
	if s.forget {
		_, err = io.Copy(io.Discard, q.Body)
	} else {
		body, err = io.ReadAll(q.Body)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	n := len(s.bodies)
	if !s.forget {
		s.bodies = append(s.bodies, body)
		s.headers = append(s.headers, q.Header.Clone())
		s.urls = append(s.urls, q.URL.String())
	}
	s.mu.Unlock()
	a := s.answer(n)
	if a.Silent {
		<-q.Context().Done()
		return nil, q.Context().Err()
	}
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	if a.Header == nil {
		a.Header = http.Header{}
	}
	if a.Body == nil {
		a.Body = http.NoBody
	}
	return &http.Response{
		StatusCode: a.Status, Status: http.StatusText(a.Status), Header: a.Header, Request: q, ProtoMajor: 1, ProtoMinor: 1,
		Body: &answerBody{ctx: q.Context(), r: a.Body, hold: a.Hold},
	}, nil
}

type answerBody struct {
	ctx  context.Context
	r    io.Reader
	hold bool
}

func (b *answerBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.r.Read(p)
	if err == io.EOF && b.hold && n == 0 {
		<-b.ctx.Done()
		return 0, b.ctx.Err()
	}
	if err == io.EOF && n > 0 {
		err = nil
	}
	return n, err
}

func (b *answerBody) Close() error { return nil }

// Pieces returns a reader that gives at most size bytes per read.
func Pieces(r io.Reader, size int) io.Reader { return &pieces{r, func() int { return size }} }

// Cut returns a reader that gives at most size() bytes per read.
func Cut(r io.Reader, size func() int) io.Reader { return &pieces{r, size} }

type pieces struct {
	r    io.Reader
	size func() int
}

func (c *pieces) Read(p []byte) (int, error) {
	if n := c.size(); n < len(p) {
		p = p[:n]
	}
	return c.r.Read(p)
}
