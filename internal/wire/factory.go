package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/crystalkernel/crystal/points/model"
)

// Factory makes clients for the protocols of one [Codec]. It is safe for use by several goroutines.
type Factory struct {
	Protocols []string
	BaseURL   string // used when a request names none
	Lines     bool   // answers are JSON objects on a line each, instead of server-sent events
	Codec     func(r model.ClientRequest) (Codec, error)
	Transport http.RoundTripper // nil: one that all factories share
}

var _ model.ClientFactory = (*Factory)(nil)

// CanCreate reports whether protocol is one of the factory's.
func (f *Factory) CanCreate(protocol string) bool { return slices.Contains(f.Protocols, protocol) }

// Create makes a client. It connects to nothing.
func (f *Factory) Create(_ context.Context, r model.ClientRequest) (model.Client, error) {
	base := r.BaseURL
	if base == "" {
		base = f.BaseURL
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("wire: base URL of provider %q: not an absolute http or https URL", r.Provider)
	}
	codec, err := f.Codec(r)
	if err != nil {
		return nil, fmt.Errorf("wire: client of provider %q: %w", r.Provider, err)
	}
	c := &Client{
		codec: codec, settings: func() model.ClientRequest { return r }, base: u, lines: f.Lines,
		accept: "text/event-stream",
		http:   &http.Client{Transport: f.Transport, CheckRedirect: sameHost},
	}
	if f.Lines {
		c.accept = "application/x-ndjson"
	}
	if f.Transport == nil {
		c.http.Transport = shared
	}
	return c, nil
}

// CreateMultimodal makes the same client as Create: every built-in protocol carries images.
func (f *Factory) CreateMultimodal(ctx context.Context, r model.ClientRequest) (model.Client, error) {
	return f.Create(ctx, r)
}

// shared is the connection pool of all clients. It waits for headers as long as the client's own limit says, and leaves
// encodings to this package, which counts the bytes as they come.
var shared = &http.Transport{
	Proxy:                 http.ProxyFromEnvironment,
	DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
	ForceAttemptHTTP2:     true,
	MaxIdleConns:          32,
	IdleConnTimeout:       90 * time.Second,
	TLSHandshakeTimeout:   15 * time.Second,
	ExpectContinueTimeout: time.Second,
	DisableCompression:    true,
}

// sameHost follows a redirect that keeps the method, the host and the safety of the connection. Any other is not
// followed: the answer that redirects becomes the error.
func sameHost(q *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) >= 5 {
		return errors.New("more than five redirects")
	}
	if q.Method != first.Method || !strings.EqualFold(q.URL.Host, first.URL.Host) ||
		first.URL.Scheme == "https" && q.URL.Scheme != "https" {
		return http.ErrUseLastResponse
	}
	return nil
}
